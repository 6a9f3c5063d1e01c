import SignetNetwork

/// The transport of a client that was given none. It ends its connections when the client goes.
final class OwnTransport: HTTPTransport {
    private let transport = AsyncHTTPTransport()

    deinit {
        let transport = transport
        Task.detached { await transport.close() }
    }

    var canPin: Bool { transport.canPin }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { try await transport.send(request) }

    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse { try await transport.stream(request, receive: receive) }
}
