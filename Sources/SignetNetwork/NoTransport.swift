/// A transport that rejects every request, for work that needs no server, such as one-time codes.
package struct NoTransport: HTTPTransport {
    /// Creates the transport.
    package init() {}

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.invalidRequest, host: "-", "no request is expected here")
    }

    package func stream(_ request: HTTPRequest, receive: ContentReceiver) async throws -> HTTPResponse {
        try await send(request)
    }
}
