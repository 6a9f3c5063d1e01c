import SignetCore
public import SignetNetwork

/// A transport that answers with scripted responses and records the requests.
///
/// Use it for responses that no real server gives on demand, and a real server for all other tests.
public final class ScriptedTransport: HTTPTransport {
    private let answer: @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse
    private let log = Mutex<[HTTPRequest]>([])
    /// A Boolean value that indicates whether the transport claims to check the keys of servers.
    public let canPin: Bool

    /// Creates a transport that answers each request with the result or the error of `answer`.
    /// - Parameters:
    ///   - canPin: True when the transport claims to check the keys of servers. It never checks one.
    ///   - answer: The closure that returns the response to a request.
    public init(
        canPin: Bool = false, _ answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse
    ) {
        self.canPin = canPin
        self.answer = answer
    }

    /// The requests so far, in order.
    public var requests: [HTTPRequest] { log.withLock { $0 } }

    /// Returns the scripted response.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        log.withLock { $0.append(request) }
        return try await answer(request)
    }

    /// Returns the scripted response, and passes the body of a successful one in one piece.
    public func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        var response = try await send(request)
        if (200..<300).contains(response.status) {
            try await receive(response.body)
            response.body = []
        }
        return response
    }
}
