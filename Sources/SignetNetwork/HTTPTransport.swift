/// How requests travel. A transport follows no redirects, keeps no cookies and adds no headers of its own but those that
/// HTTP itself needs: the protocols above decide.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole response.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Sends a request and hands over the content of a successful (2xx) response piece by piece, as it comes. Returns the
    /// response when it has ended; its body is empty if it was handed over, and complete if the status was no success.
    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse
}
