public import SignetNetwork
import Synchronization

/// A transport that answers from a script and remembers what it was asked. For answers that no real server gives on demand;
/// for everything else use a real server.
public final class ScriptedTransport: HTTPTransport {
    private let answer: @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse
    private let log = Mutex<[HTTPRequest]>([])
    /// Whether it says that it would look at a server's key.
    public let canPin: Bool

    /// A transport that answers each request with what `answer` returns or throws.
    /// - Parameters:
    ///   - canPin: Whether it says that it would look at a server's key; it has none to look at.
    ///   - answer: Makes the answer to a request.
    public init(
        canPin: Bool = false, _ answer: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse
    ) {
        self.canPin = canPin
        self.answer = answer
    }

    /// The requests so far, in order.
    public var requests: [HTTPRequest] { log.withLock { $0 } }

    /// Answers from the script.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        log.withLock { $0.append(request) }
        return try await answer(request)
    }

    /// Answers from the script, a successful body in one piece.
    public func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        var response = try await send(request)
        if (200..<300).contains(response.status) {
            try await receive(response.body)
            response.body = []
        }
        return response
    }
}
