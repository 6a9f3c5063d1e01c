// Only PingJourney: the test compiles only if one import is enough.
import PingJourney
import Testing

@Suite("An app that imports PingJourney only")
struct ExportTests {
    @Test("An app gives a request the address of a type of Foundation")
    func changesRequestWithPingJourneyOnly() throws {
        let request = Request()
        request.url(URLRequest(url: try #require(URL(string: "https://am.example.test/am"))))
        #expect(request.urlRequest.url?.path == "/am")
    }
}
