import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// Features of OpenID Connect of which the SDK has one end and the server the other.
@Suite("The SDK as a client of the development server")
struct ClientAtServerTests {
    private static let password = "correct horse"

    /// A browser without scripts, in which a user is logged in.
    private struct LoggedInBrowser: Sendable {
        let session: String
        let transport: AsyncHTTPTransport

        init(_ server: TestServer.Live) async throws {
            let journey = Journey(try ServerProfile(url: server.url), transport: server.transport)
            let page = Browser(journey: journey, user: "demo", password: ClientAtServerTests.password)
            guard case .loggedIn(let token) = try await page.begin("Login") else { throw DemoFailure("not logged in") }
            (session, transport) = (token.value.text, server.transport)
        }

        func open(_ address: String) async throws -> HTTPResponse {
            try await transport.send(
                HTTPRequest(
                    "GET", address, headers: ["Accept": "text/html", "Cookie": "iPlanetDirectoryPro=\(session)"]))
        }

        /// Opens a page and presses the button of its form, which has hidden fields only.
        func submitForm(at address: String) async throws -> HTTPResponse {
            let answer = try await open(address)
            let page = String(decoding: answer.body, as: UTF8.self)
            let form = try #require(page.firstMatch(of: /<form method="post" action="([^"]*)"/))
            let fields = page.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map { input in
                (name: CharacterReferences.decode(input.1), value: CharacterReferences.decode(input.2))
            }
            return try await transport.send(
                HTTPRequest(
                    "POST", CharacterReferences.decode(form.1),
                    headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Array(FormCoding.encode(fields).utf8)))
        }
    }

    /// Runs `body` with a server whose client `app` has a service with a back-channel logout address.
    private func withServer(
        _ body: (_ server: TestServer.Live, _ profile: ServerProfile, _ service: BackChannelService) async throws -> Void
    ) async throws {
        let service = try BackChannelService()
        var registered = RegisteredClient(id: "app", redirectURIs: ["http://127.0.0.1/callback"])
        registered.postLogoutRedirectURIs = ["http://127.0.0.1/bye"]
        registered.backchannelLogoutURI = service.address
        registered.backchannelLogoutSessionRequired = true
        var configuration = ServerConfiguration()
        configuration.users = [User(name: "demo", password: Secret(Self.password.utf8))]
        configuration.clients = [registered]
        try await TestServer.live(configuration) { server in
            var profile = try ServerProfile(url: server.url)
            profile.client = OAuthClient(
                clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid"],
                signOutRedirectURI: "http://127.0.0.1/bye", authorizationParameters: ["response_mode": "form_post"])
            service.use(
                try LogoutTokenVerifier(profile, memory: ProcessLogoutTokenMemory(), transport: server.transport))
            try await body(server, profile, service)
        }
    }

    @Test("The SDK logs in with the posted answer and out in the browser, and the server ends the session at the app's service")
    func logsInAndOutAtServer() async throws {
        try await withServer { server, profile, service in
            let tokens = try TokenSource(profile, store: SessionStore.memory(), transport: server.transport)
            let browser = try await LoggedInBrowser(server)
            let token = try await BrowserLogin(tokens) { address in
                let end = try await browser.submitForm(at: address)
                #expect(end.status == 200)
            }.logIn()
            let idToken = try #require(token.idToken)
            let claims = try #require(SignedToken(idToken.text)).claims
            let session = try #require(claims["sid"]?.string)
            #expect(claims["sub"]?.string == "demo")
            service.change { $0.sessions = [session: "demo", "another": "demo"] }

            let report = await BrowserLogOut(tokens) { address in
                let answer = try await browser.open(address)
                let back = try #require(answer.headers["Location"])
                let end = try await browser.open(back)
                #expect(end.status == 200)
            }.logOut()
            #expect(report.openIDSession == .done && report.isComplete)

            // The server logs a logout token after the answer of the service.
            let delivery = try await server.devServer.waitForEntry(
                matching: RequestLogFilter { $0.kind = .logout }, within: TestTimeout.default)
            #expect(delivery.logout?.status == 200 && delivery.logout?.attempt == 1)
            let state = service.now
            let ended = state.ended.map(\.sessionID)
            #expect(ended == [session] && state.errors.isEmpty)
            #expect(state.sessions == ["another": "demo"])
        }
    }
}
