/// A transport that refuses every request, for work that needs no server, such as one-time codes.
package struct NoTransport: HTTPTransport {
    private let reason: String

    /// Creates the transport.
    /// - Parameter reason: The reason in the error of each request.
    package init(reason: String = "no request is expected here") {
        self.reason = reason
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.invalidRequest, host: "-", reason)
    }

    package func stream(_ request: HTTPRequest, receive: ContentReceiver) async throws -> HTTPResponse {
        try await send(request)
    }
}
