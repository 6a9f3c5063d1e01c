// Only PingOrchestrate: the test compiles only if one import is enough.
import PingOrchestrate
import Testing

@Suite("An app that imports PingOrchestrate only")
struct ExportTests {
    @Test("An app gives a request the address of a type of Foundation")
    func changesRequestWithPingOrchestrateOnly() throws {
        let request = Request()
        request.url(URLRequest(url: try #require(URL(string: "https://am.example.test/am"))))
        #expect(request.urlRequest.url?.path == "/am")
    }
}
