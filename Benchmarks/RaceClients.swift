import AsyncHTTPClient
import SignetCore
import SignetNetwork

/// The HTTP clients of a comparison: the transport of the SDK, and a bare client.
enum RaceClients {
    /// Runs `body` with both, and closes them afterwards.
    static func with<R: Sendable>(_ body: (AsyncHTTPTransport, HTTPClient) async throws -> R) async throws -> R {
        let transport = AsyncHTTPTransport()
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let result = await Result(of: { try await body(transport, client) })
        await transport.close()
        try await client.shutdown()
        return try result.get()
    }
}
