import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The modules of the plans about logout: RP-Initiated Logout and Back-Channel Logout.
@Suite("OpenID provider: logout", .timeLimit(.minutes(5)))
struct OpenIDLogoutTests {
    private static let state = "logout~state &=?/-_.!*'()"

    /// Opens the address for a logout in the browser of the client.
    private func endSession(_ client: OpenIDRelyingParty, _ parameters: [String: String]) async throws -> WebAnswer {
        let endpoint = try client.provider.endpoint("end_session_endpoint")
        let query = TestServer.form(parameters.mapValues { Optional($0) })
        return try await client.browser.open(query.isEmpty ? endpoint : "\(endpoint)?\(query)")
    }

    /// The parameters of a usual logout.
    private func parameters(_ tokens: OpenIDRelyingParty.Tokens) -> [String: String] {
        ["id_token_hint": tokens.id, "post_logout_redirect_uri": ProviderUnderTest.postLogoutURI, "state": Self.state]
    }

    /// Checks that a request without a page gets no code any more.
    private func checkLoggedOut(_ client: OpenIDRelyingParty) async throws {
        let error = try client.error(try await client.authorize(["prompt": "none"]))
        #expect(OpenIDLoginTests.needsPage.contains(error))
    }

    /// Checks that the session of the user continues.
    private func checkLoggedIn(_ client: OpenIDRelyingParty) async throws {
        _ = try client.code(try await client.authorize(["prompt": "none"]))
    }

    /// Checks the parameters of the redirect to the client after a logout.
    private func checkReturn(_ answer: WebAnswer, state: String?) throws {
        #expect((300..<400).contains(answer.status), "\(answer.status) \(answer.text)")
        let location = try #require(answer.headers["Location"])
        let address = String(location.prefix { $0 != "?" })
        #expect(address == ProviderUnderTest.postLogoutURI)
        var expected: [String: String] = [:]
        if let state { expected["state"] = state }
        #expect(FormCoding.query(of: location) == expected)
    }

    /// Checks a page on which the browser stays, and which tells an error.
    private func checkErrorPage(_ answer: WebAnswer, _ words: String) {
        #expect(answer.status == 400 && answer.isPage && answer.headers["Location"] == nil && answer.form == nil)
        #expect(answer.words.contains(words))
    }

    /// Checks the page after a logout that leads nowhere.
    private func checkSignedOutPage(_ answer: WebAnswer) {
        #expect(answer.status == 200 && answer.isPage && answer.headers["Location"] == nil)
        #expect(answer.heading == "You have signed out")
        #expect(answer.words.contains("Your session has ended."))
    }

    // MARK: RP-Initiated Logout

    @Test("A logout leads the browser back to the client, with the state if there is one", arguments: [true, false])
    func logOutLeadsBackToClient(hasState: Bool) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            var request = parameters(try await client.logIn())
            if !hasState { request["state"] = nil }
            try checkReturn(try await endSession(client, request), state: hasState ? Self.state : nil)
            try await checkLoggedOut(client)
        }
    }

    @Test(
        "A logout with an unregistered address gets a page with the error, and the session continues",
        arguments: [
            "https://localhost.emobix.co.uk:8443/test/a/signet/bad_post_logout_redirect_uri",
            "https://localhost.emobix.co.uk:8443/test/a/signet/post_logout_redirect?foo=bar",
        ])
    func unregisteredLogOutAddressGetsPage(address: String) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            var request = parameters(try await client.logIn())
            request["post_logout_redirect_uri"] = address
            let answer = try await endSession(client, request)
            checkErrorPage(answer, "The post logout redirection URI provided does not match a pre-registered value.")
            try await checkLoggedIn(client)
        }
    }

    @Test(
        "A logout with an unsigned id_token or one of the client's own gets a page with the error, and the session continues",
        arguments: ["none", "HS256"])
    func invalidLogOutHintGetsPage(algorithm: String) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            let tokens = try await client.logIn()
            var request = parameters(tokens)
            if algorithm == "none" {
                let header = Base64.encode(Array(#"{"alg": "none"}"#.utf8), as: .url)
                let payload = tokens.id.split(separator: ".")[1]
                request["id_token_hint"] = "\(header).\(payload)."
            } else {
                let now = Int64(provider.clock.now.timeIntervalSince1970)
                let claims: [String: JSONValue] = [
                    "iss": .string(client.client.id), "sub": "mira", "aud": provider.metadata["issuer"] ?? .null,
                    "nonce": "n", "iat": .integer(now), "exp": .integer(now + 300),
                ]
                let secret = try #require(client.client.secret)
                request["id_token_hint"] = CompactJWS.sign(JSON.encode(JSONValue.object(claims)), with: secret)
            }
            checkErrorPage(try await endSession(client, request), "The id_token_hint is not one of this client in this realm")
            try await checkLoggedIn(client)
        }
    }

    @Test("A logout with an address and without an id_token asks the user, and never leads to the address")
    func logOutWithoutHintNeverRedirects() async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            var request = parameters(try await client.logIn())
            request["id_token_hint"] = nil
            let question = try await endSession(client, request)
            #expect(question.status == 200 && question.isPage && question.heading == "Sign out?")
            #expect(question.words.contains("You are signed in as mira."))
            #expect(!question.text.contains(ProviderUnderTest.postLogoutURI))
            try await checkLoggedIn(client)
            checkSignedOutPage(try await client.browser.submit(try #require(question.form)))
            try await checkLoggedOut(client)
        }
    }

    @Test(
        "A logout without an id_token and without an address asks the user, ends the session, and says so",
        arguments: [[:], ["state": state]])
    func logOutWithoutHintAsksAndEndsSession(request: [String: String]) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            _ = try await client.logIn()
            let question = try await endSession(client, request)
            #expect(question.status == 200 && question.isPage && question.heading == "Sign out?")
            #expect(question.words.contains("You are signed in as mira."))
            checkSignedOutPage(try await client.browser.submit(try #require(question.form)))
            try await checkLoggedOut(client)
        }
    }

    @Test("A logout with an id_token and without an address ends the session and says so on a page")
    func logOutWithHintAloneShowsPage() async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider)
            var request = parameters(try await client.logIn())
            request["post_logout_redirect_uri"] = nil
            checkSignedOutPage(try await endSession(client, request))
            try await checkLoggedOut(client)
        }
    }

    #if os(Linux)
    // MARK: Back-Channel Logout

    /// The address of a client for logout tokens, on a port of this machine; it accepts each request.
    private struct LogoutReceiver: Sendable {
        private let server: RawServer
        private let requests: AsyncStream<RawConnection.Request>

        init() throws {
            let (requests, continuation) = AsyncStream.makeStream(of: RawConnection.Request.self)
            self.requests = requests
            server = try RawServer { connection in
                guard let request = connection.request() else { return }
                continuation.yield(request)
                connection.answer("200 OK", headers: ["Cache-Control: no-store"])
            }
        }

        var url: String { "http://127.0.0.1:\(server.port)/test/a/signet/backchannel_logout" }

        /// Waits for the next request.
        func next() async throws -> RawConnection.Request {
            let request = await requests.first { _ in true }
            return try #require(request)
        }
    }

    @Test("A logout sends the client a logout token about the session, and leads the browser back to the client")
    func logoutTokenReachesClient() async throws {
        let receiver = try LogoutReceiver()
        let configure = { (configuration: inout ServerConfiguration) in
            for index in configuration.clients.indices where configuration.clients[index].id == "signet-backchannel" {
                configuration.clients[index].backchannelLogoutURI = receiver.url
            }
        }
        try await ProviderUnderTest.run(configure) { provider in
            let client = try OpenIDRelyingParty(provider, "signet-backchannel")
            #expect(client.client.backchannelLogoutSessionRequired)
            let tokens = try await client.logIn()
            try checkReturn(try await endSession(client, parameters(tokens)), state: Self.state)

            let request = try await receiver.next()
            #expect(request.line == "POST /test/a/signet/backchannel_logout HTTP/1.1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            let form = FormCoding.decode(request.body)
            #expect(Set(form.keys) == ["logout_token"])
            let (header, claims) = try await provider.verified(try #require(form["logout_token"]))
            #expect(header["typ"] == "logout+jwt")
            try checkLogoutToken(claims, of: client, tokens)
            try await checkLoggedOut(client)
        }
    }

    /// Checks the claims of a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4).
    private func checkLogoutToken(
        _ claims: [String: JSONValue], of client: OpenIDRelyingParty, _ tokens: OpenIDRelyingParty.Tokens
    ) throws {
        let now = Int64(client.provider.clock.now.timeIntervalSince1970)
        #expect(claims["iss"] == client.provider.metadata["issuer"])
        #expect(claims["aud"] == .string(client.client.id))
        #expect(claims["iat"] == .integer(now) && claims["exp"] == .integer(now + 120))
        #expect(claims["jti"]?.string?.isEmpty == false && claims["nonce"] == nil)
        #expect(claims["events"] == .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]))
        #expect(claims["sub"] == tokens.claims["sub"])
        #expect(claims["sid"] != nil && claims["sid"] == tokens.claims["sid"])
    }
    #endif
}
