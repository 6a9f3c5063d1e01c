import SignetNetwork

/// A transport of the app, which answers each request itself.
///
/// Its methods are written as the protocol reads, without the names of the protocol's function types.
struct OwnTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        HTTPResponse(status: 200, body: Array("{}".utf8))
    }

    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse { try await send(request) }
}
