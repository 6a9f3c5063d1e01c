// Only PingDeviceClient: the test compiles only if one import is enough.
import PingDeviceClient
import Testing

@Suite("An app that imports PingDeviceClient only")
struct ExportTests {
    @Test("An app configures the client with the defaults of the SDK, and the description has no session")
    func configuresDeviceClientWithOneImport() {
        let client = HttpClient()
        client.timeoutIntervalForRequest = 15
        let config = DeviceClientConfig(serverUrl: "https://am.example.test/am", ssoToken: "session-1", httpClient: client)
        #expect(config.realm == "root" && config.cookieName == "iPlanetDirectoryPro" && config.ssoToken == "session-1")
        #expect(config.httpClient.timeoutIntervalForRequest == TimeInterval(15))
        var dumped = ""
        dump(config, to: &dumped)
        #expect(!"\(config) \(String(reflecting: config)) \(dumped)".contains("session-1"))
    }
}
