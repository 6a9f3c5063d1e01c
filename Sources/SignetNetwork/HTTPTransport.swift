/// How requests travel. A transport follows no redirects, keeps no cookies and adds no headers of its own but those that
/// HTTP itself needs: the protocols above decide.
public protocol HTTPTransport: Sendable {
    /// Whether ``HTTPRequest/pins`` are kept: decided before a byte of the request leaves, on top of the usual checks of the
    /// certificate. False unless a transport says otherwise.
    var canPin: Bool { get }

    /// Sends a request and waits for the whole response.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Sends a request and hands over the content of a successful (2xx) response piece by piece, as it comes. Returns the
    /// response when it has ended; its body is empty if it was handed over, and complete if the status was no success.
    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse
}

extension HTTPTransport {
    /// False: who cannot promise it must not be taken at its word.
    public var canPin: Bool { false }

    /// Sends a request, unless it insists on keys that this transport would not look at.
    /// - Throws: ``TransportError/Code/cannotPin``, and what ``send(_:)`` throws.
    public func deliver(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard request.pins.isEmpty || canPin else {
            throw TransportError(
                .cannotPin, host: TransportError.host(of: request.url),
                "this transport cannot check the server's key: use one that can, or take the pins out of the profile")
        }
        return try await send(request)
    }
}
