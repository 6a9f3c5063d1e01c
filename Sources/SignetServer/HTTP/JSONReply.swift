import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// Builds the responses of CREST resources, with the headers that they all have.
enum JSONReply {
    /// Builds a response with a JSON body.
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - body: The value to encode.
    ///   - headers: The headers in addition to those of the body.
    ///   - version: The version of the resource, if one was negotiated.
    /// - Returns: A response that must not be cached.
    /// - Throws: `EncodingError` when the body cannot be encoded.
    static func make(
        _ status: HTTPResponse.Status, _ body: some Encodable, headers: HTTPFields = [:], version: APIVersion? = nil
    ) throws -> Response {
        var fields = headers
        fields[.cacheControl] = "no-cache, no-store"
        if let version { fields.set("Content-API-Version", "resource=\(version)") }
        return Response(try JSON.encode(body), type: "application/json; charset=UTF-8", status, headers: fields)
    }

    static func make(_ refusal: APIError, version: APIVersion?) throws -> Response {
        try make(refusal.status, refusal.body, headers: refusal.headers, version: version)
    }
}

extension Response {
    /// Creates a response with a body of a known length, which Hummingbird declares in `Content-Length`.
    init(_ bytes: [UInt8], type: String, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = type
        self.init(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension HTTPFields {
    /// Sets a field that the HTTP types define no constant for.
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
