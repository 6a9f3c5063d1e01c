/// The transport of a client, or an SDK, that was given none. It ends its connections when the client goes.
package final class OwnTransport: HTTPTransport {
    private let transport = AsyncHTTPTransport()

    package init() {}

    deinit {
        let transport = transport
        Task.detached { await transport.close() }
    }

    package var canPin: Bool { transport.canPin }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse { try await transport.send(request) }

    package func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse { try await transport.stream(request, receive: receive) }
}
