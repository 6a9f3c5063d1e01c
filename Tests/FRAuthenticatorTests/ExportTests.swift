// Only FRAuthenticator: the test compiles only if one import is enough.
import FRAuthenticator
import Testing

@Suite("An app that imports FRAuthenticator only")
struct ExportTests {
    /// Adds a header with the action of a request.
    private struct Marking: FRARequestInterceptor {
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            var request = request
            request.headers.set("X-Action", action.name)
            return request
        }
    }

    @Test("An app sets its interceptor before the start")
    func setsInterceptor() throws {
        try FRAProcess.$current.withValue(FRAProcess()) { try FRAClient.setInterceptors(interceptors: [Marking()]) }
    }

    @Test("An app's interceptor reads the action and changes the request")
    func interceptsRequestWithFRAuthenticatorOnly() async throws {
        let marked = try await Marking().intercept(HTTPRequest("POST", "https://am.example.test"), for: .pushRegister)
        #expect(marked.headers["X-Action"] == "PUSH_REGISTER")
    }

    @Test("An app passes the data of a device token, a type of Foundation")
    func passesDeviceToken() {
        let token = FRAProcess.$current.withValue(FRAProcess()) {
            FRAPushHandler.shared.application("app", didRegisterForRemoteNotificationsWithDeviceToken: Data([0xAB, 0x01]))
            return FRAPushHandler.shared.deviceToken
        }
        #expect(token == "AB01")
    }
}
