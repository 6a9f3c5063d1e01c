import PingOrchestrate
import PingPush
import SignetTesting
import Testing

@Suite("The HTTP client of Ping's modules")
struct HttpClientTests {
    @Test("A file that imports PingOrchestrate and PingPush has one HttpClient, which reads its settings")
    func sharesHTTPClientBetweenModules() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200, body: Array("{}".utf8)) }
        let client: HttpClient = HttpClient(transport: transport)
        _ = PingAMPushResponder(httpClient: client, logger: nil)
        let request = Request(urlString: "http://am.example.test/step")
        await #expect(throws: (any Error).self) { _ = try await client.sendRequest(request: request) }
        #expect(transport.requests.isEmpty)
        client.plainHTTPHosts = ["am.example.test"]
        client.timeoutIntervalForRequest = 7
        _ = try await client.sendRequest(request: request)
        client.timeoutIntervalForRequest = .infinity
        _ = try await client.sendRequest(request: request)
        #expect(transport.requests.map(\.timeout) == [.seconds(7), .seconds(60)])
    }
}
