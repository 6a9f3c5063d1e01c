import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// The headers that every answer of a CREST resource carries.
enum JSONReply {
    /// An answer with a JSON body.
    /// - Parameter version: the version of the resource, where one was negotiated.
    static func make(
        _ status: HTTPResponse.Status, _ body: some Encodable, headers: HTTPFields = [:], version: APIVersion? = nil
    ) throws -> Response {
        let bytes = try JSON.encode(body)
        var fields = headers
        fields[.contentType] = "application/json; charset=UTF-8"
        fields[.cacheControl] = "no-cache, no-store"
        fields[.contentLength] = String(bytes.count)
        if let version { fields.set("Content-API-Version", "resource=\(version)") }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func make(_ refusal: APIError, version: APIVersion?) throws -> Response {
        try make(refusal.status, refusal.body, headers: refusal.headers, version: version)
    }
}

extension HTTPFields {
    /// Sets a field that the HTTP types have no name for.
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
