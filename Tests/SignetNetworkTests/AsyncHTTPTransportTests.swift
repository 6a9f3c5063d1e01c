import SignetNetwork
import SignetTesting
import Testing

@Suite("A transport")
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

    @Test("that is let go of ends its connections, also when nobody closed it")
    func forgotten() async throws {
        let (server, ended) = try server()
        func ask() async throws {
            _ = try await AsyncHTTPTransport().send(HTTPRequest("GET", "http://127.0.0.1:\(server.port)/"))
        }
        try await ask()
        let hasEnded = try await eventually { ended.count == 1 }
        #expect(hasEnded)
    }

    @Test("that was closed has ended its connections, sends nothing any more, and may be closed again")
    func closed() async throws {
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
