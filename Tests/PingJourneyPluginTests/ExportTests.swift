// Only PingJourneyPlugin: the test compiles only if one import is enough.
import PingJourneyPlugin
import Testing

@Suite("An app that imports PingJourneyPlugin only")
struct ExportTests {
    @Test("An app gives a request the address of a type of Foundation")
    func changesRequestWithPingJourneyPluginOnly() throws {
        let request = Request()
        request.url(URLRequest(url: try #require(URL(string: "https://am.example.test/am"))))
        #expect(request.urlRequest.url?.path == "/am")
    }
}
