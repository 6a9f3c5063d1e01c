import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// Builds the responses of CREST resources, with the headers that they all have.
enum JSONReply {
    /// Builds a response with a JSON body.
    /// - Parameter version: The version of the resource, if one was negotiated.
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
    /// Sets a field that the HTTP types define no constant for.
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
