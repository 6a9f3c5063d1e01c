import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("The HTTP transport")
struct AsyncHTTPTransportTests {
    /// A server that counts the connections that its clients have ended.
    private func server() throws -> (RawServer, ended: Counter) {
        let ended = Counter()
        let server = try RawServer { connection in
            while connection.request() != nil { connection.answer("200 OK") }
            ended.add()
        }
        return (server, ended)
    }

    @Test("A transport that is released without being closed ends its connections")
    func releasedTransportEndsConnections() async throws {
        let (server, ended) = try server()
        func ask() async throws {
            _ = try await AsyncHTTPTransport().send(HTTPRequest("GET", "http://127.0.0.1:\(server.port)/"))
        }
        try await ask()
        let hasEnded = try await eventually { ended.count == 1 }
        #expect(hasEnded)
    }

    @Test("A closed transport has ended its connections, refuses requests, and may be closed again")
    func closedTransportRefusesRequests() async throws {
        let (server, ended) = try server()
        let transport = AsyncHTTPTransport()
        let request = HTTPRequest("GET", "http://127.0.0.1:\(server.port)/")
        #expect(try await transport.send(request).status == 200)
        await transport.close()
        let hasEnded = try await eventually { ended.count == 1 }
        #expect(hasEnded)
        await #expect {
            _ = try await transport.send(request)
        } throws: {
            ($0 as? TransportError)?.code == .cancelled
        }
        await transport.close()
    }
}
