/// Sends HTTP requests.
///
/// A transport doesn't follow redirects, keeps no cookies and adds only the headers that HTTP itself requires: the protocols
/// above it decide these matters.
public protocol HTTPTransport: Sendable {
    /// A Boolean value that indicates whether the transport enforces ``HTTPRequest/pins``. Such a transport checks the key before
    /// it sends a byte of the request, in addition to the usual checks of the certificate. The default is false.
    var canPin: Bool { get }

    /// Sends a request and waits for the whole response.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Sends a request and passes the content of a successful (2xx) response to `receive` in pieces, as they arrive. Returns the
    /// response when it has ended. Its body is empty if the status was 2xx, and complete otherwise.
    func stream(_ request: HTTPRequest, receive: ContentReceiver) async throws -> HTTPResponse
}

/// A function that receives the content of a response piece by piece, and may suspend.
///
/// An app's own transport names this type in ``HTTPTransport/stream(_:receive:)``: then it compiles in each language mode, with and
/// without the feature `NonisolatedNonsendingByDefault`, which changes the meaning of a function type that is written out.
public typealias ContentReceiver = @concurrent @Sendable (_ piece: [UInt8]) async throws -> Void

extension HTTPTransport {
    /// The default, false: a transport must declare that it checks pins.
    public var canPin: Bool { false }

    /// Sends a request, unless it has pins that this transport cannot check.
    /// - Throws: ``TransportError/Code/cannotPin``, and the errors of ``send(_:)``.
    public func deliver(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try checkPins(of: request)
        return try await send(request)
    }

    /// Checks that this transport can check the pins of a request.
    /// - Throws: ``TransportError/Code/cannotPin`` when the request has pins that this transport cannot check.
    package func checkPins(of request: HTTPRequest) throws(TransportError) {
        guard request.pins.isEmpty || canPin else {
            throw TransportError(
                .cannotPin, host: TransportError.host(of: request.url),
                "this transport cannot check the server's key: use one that can, or take the pins out of the profile")
        }
    }
}
