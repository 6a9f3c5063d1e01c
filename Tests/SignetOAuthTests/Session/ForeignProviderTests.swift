import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

/// Answers of OpenID providers other than AM, and answers of OpenAM with a page.
@Suite("Sessions and tokens at other OpenID providers")
struct ForeignProviderTests {
    private static let idToken = "e30.e30.e30"

    // MARK: The end of a session

    /// A page at the end-session address, and true when it may ask the user for something.
    static let pages: [(page: String, asks: Bool)] = [
        ("<!doctype html><title>Sign out</title><p>You are logged out</p>", false),
        ("<html><head><script src=a.js></script><style>form {}</style></head><body>You are logged out</body></html>", false),
        ("<!-- <form> --><p>Bye", false), ("You are logged out", false),
        ("<p>Log out?</p><form method=post><input type=submit></form>", true), ("<FORM>", true), ("<p>Bye<button>Yes", true),
        ("<meta http-equiv=\"Refresh\" content=\"1;url=/next\"><p>Wait", true), ("<iframe src=/front></iframe><p>Bye", true),
        ("<div id=root></div><script>ask()</script><noscript>Enable scripts</noscript>", true),
    ]

    @Test("K1: A page at the end of a session that asks nothing is an outcome of its own", arguments: pages)
    func distinguishesPages(page: String, asks: Bool) async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: Self.idToken),
            .set { $0.faults["endsession"] = .status(200, ["Content-Type: text/html"], page) }
        ) { (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            #expect((report.openIDSession.address != nil) == asks && (report.openIDSession == .showedPage) == !asks)
            // The page may also be that of another server, so the end isn't certain.
            #expect(!report.isComplete && report.tokens == .done)
        }
    }

    // MARK: No revocation endpoint

    private static let withoutRevocation = TokenSourceFixture.Addresses.from {
        var endpoints = $0.endpoints()
        endpoints.revoke = nil
        return endpoints
    }

    @Test(
        "K4: Tokens that a server can't revoke are reported with the time until which they are valid", arguments: [true, false])
    func reportsMissingRevocation(hasRefreshToken: Bool) async throws {
        let token = TokenSourceFixture.old(left: 3600, refreshToken: hasRefreshToken ? "refresh-old" : nil, session: nil)
        try await TokenSourceFixture.with(session: nil, token: token, endpoints: Self.withoutRevocation) {
            (fixture: TokenSourceFixture) async throws in
            let report = await fixture.tokens.logOut()
            guard case .notOffered(let rest) = report.tokens else {
                Issue.record("\(report.tokens)")
                return
            }
            #expect(rest.accessTokenEnd == token.expiresAt && rest.hasRefreshToken == hasRefreshToken)
            #expect(report.local == .done && !report.isComplete)
            #expect(try await fixture.store.token() == nil)
        }
        let expired = TokenSourceFixture.old(refreshToken: nil, session: nil)
        try await TokenSourceFixture.with(session: nil, token: expired, endpoints: Self.withoutRevocation) {
            (fixture: TokenSourceFixture) async throws in
            #expect(await fixture.tokens.logOut().isComplete)
        }
    }

    @Test("K4: A new login and a revocation succeed where the server can't revoke the earlier tokens")
    func keepsLoginWithoutRevocation() async throws {
        let token = TokenSourceFixture.old(left: 3600)
        try await TokenSourceFixture.with(token: token, endpoints: Self.withoutRevocation) {
            (fixture: TokenSourceFixture) async throws in
            let report = try await fixture.tokens.adopt(SSOToken(value: Secret("sso-2".utf8)))
            guard case .notOffered = report.tokens else {
                Issue.record("\(report.tokens)")
                return
            }
            #expect(report.session == .done && fixture.tokens.replaced == report)
        }
        try await TokenSourceFixture.with(token: token, endpoints: Self.withoutRevocation) {
            (fixture: TokenSourceFixture) async throws in
            guard case .notOffered(let rest) = try await fixture.tokens.revoke() else {
                Issue.record("the tokens are said to be revoked")
                return
            }
            #expect(rest.hasRefreshToken)
            #expect(try await fixture.store.token() == nil)
            #expect(try await fixture.tokens.revoke() == .notNeeded)
        }
    }

    // MARK: Userinfo

    /// A `WWW-Authenticate` field with an empty body, and the name and the explanation that are read from it.
    static let challenges: [(field: String, name: String?, explanation: String?)] = [
        (
            #"Bearer realm="staff", error="invalid_token", error_description="Token verification failed""#, "invalid_token",
            "Token verification failed"
        ),
        (#"Basic realm="x", bearer error=insufficient_scope"#, "insufficient_scope", nil),
        (#"Bearer realm="staff""#, "invalid_token", "the server refused the access token without a reason"),
        (#"Basic realm="proxy""#, nil, nil),
    ]

    @Test("K5: A refusal of the access token is read from WWW-Authenticate", arguments: challenges)
    func readsChallenge(field: String, name: String?, explanation: String?) async throws {
        try await TokenSourceFixture.with(.set { $0.faults["userinfo"] = .status(401, ["WWW-Authenticate: \(field)"], "") }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            guard error?.code == .refused, case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.name == name && refusal.status == 401)
            // A response without a reason is told by its address.
            #expect(refusal.explanation == (name == nil ? "\(fixture.provider.url)/userinfo" : explanation))
            #expect((refusal.code == .unreadable) == (name == nil))
            // The token was renewed once.
            #expect(fixture.provider.count("userinfo") == 2)
        }
    }

    @Test("K5: Signed userinfo is verified with the server's keys")
    func verifiesSignedUserInfo() async throws {
        try await TokenSourceFixture.with { (fixture: TokenSourceFixture) async throws in
            _ = try await fixture.tokens.token()
            let provider = fixture.provider
            let claims: [String: JSONValue] = [
                "iss": .string(provider.url), "aud": .array([.string("app")]), "sub": .string("alice"), "name": .string("Alice"),
            ]
            let types = ["application/jwt", "Application/JWT; charset=utf-8"]
            for (type, body) in zip(types, [provider.signed(claims), provider.signed(claims) + "\n"]) {
                provider.change { $0.faults["userinfo"] = .status(200, ["Content-Type: \(type)"], body) }
                let info = try await fixture.tokens.userInfo()
                #expect(info.name == "Alice" && info.subject == "alice")
            }
            // The issuer and the audience may be missing (OpenID Connect Core section 5.3.2).
            let sparse = provider.signed(["sub": .string("alice")])
            provider.change { $0.faults["userinfo"] = .status(200, ["Content-Type: application/jwt"], sparse) }
            #expect(try await fixture.tokens.userInfo().subject == "alice")
        }
    }

    /// A change of the claims, the algorithm in the header, whether another key signs, and the word for the fault.
    static let forgeries: [(claims: [String: JSONValue], algorithm: String, isForeignKey: Bool, word: String)] = [
        ([:], "none", false, "algorithm"), ([:], "HS256", false, "algorithm"), ([:], "ES256", true, "signature"),
        ([:], "RS256", false, "signature"), (["iss": .string("https://other.example")], "ES256", false, "issuer"),
        (["iss": .integer(1)], "ES256", false, "issuer"), (["aud": .string("other")], "ES256", false, "audience"),
        (["aud": .array([])], "ES256", false, "audience"), (["sub": .string("bob")], "ES256", false, "subject"),
        (["sub": .null], "ES256", false, "subject"), (["exp": .integer(1)], "ES256", false, "expired"),
        (["iat": .integer(99_999_999_999)], "ES256", false, "notYetValid"),
    ]

    @Test("K5: Signed userinfo with a wrong signature, issuer, audience or subject is refused", arguments: forgeries)
    func refusesForgedUserInfo(
        claims: [String: JSONValue], algorithm: String, isForeignKey: Bool, word: String
    ) async throws {
        try await TokenSourceFixture.with { (fixture: TokenSourceFixture) async throws in
            _ = try await fixture.tokens.token()
            let right: [String: JSONValue] = [
                "iss": .string(fixture.provider.url), "aud": .string("app"), "sub": .string("alice"),
            ]
            let body = fixture.provider.signed(
                right.merging(claims) { $1 }, algorithm: algorithm, by: isForeignKey ? P256.Signing.PrivateKey() : nil)
            fixture.provider.change { $0.faults["userinfo"] = .status(200, ["Content-Type: application/jwt"], body) }
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            #expect(error?.code == .idTokenRefused && error?.description.contains(word) == true, "\(String(describing: error))")
        }
    }

    @Test(
        "K5: Content that isn't a signed token is refused as such",
        arguments: ["", "{\"sub\":\"alice\"}", "a.b", "e30.e30.", "a.b.c.d.e", "<html>"])
    func refusesUnsignedUserInfo(body: String) async throws {
        try await TokenSourceFixture.with { (fixture: TokenSourceFixture) async throws in
            _ = try await fixture.tokens.token()
            fixture.provider.change { $0.faults["userinfo"] = .status(200, ["Content-Type: application/jwt"], body) }
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            #expect(error?.code == .idTokenRefused)
        }
    }

    // MARK: Pages of the authorization endpoint

    @Test("C11: OpenAM's page for an unknown redirect address is read, and the session and the tokens stay")
    func readsAuthorizePage() async throws {
        let page = """
            <html><head><title>OAuth2 Error Page</title></head><body>Loading...<script>
            pageData = { realm : "\\/", error: { description: "The redirection URI provided does not match a pre-registered value.", \
            message: "redirect_uri_mismatch" } }
            </script></body></html>
            """
        try await TokenSourceFixture.with(.set { $0.faults["authorize"] = .status(400, ["Content-Type: text/html"], page) }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            guard error?.code == .refused, case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.name == "redirect_uri_mismatch" && refusal.status == 400 && !refusal.isRetryable)
            #expect(refusal.explanation == "The redirection URI provided does not match a pre-registered value.")
            #expect(try await fixture.store.session() == TokenSourceFixture.session)
        }
    }

    // MARK: A browser that doesn't come back

    @Test("C12: A browser login that times out names the redirect address to register", arguments: [true, false])
    func namesRedirectAddress(isFixed: Bool) async throws {
        let port = try ReservedPort()
        let redirectURI = isFixed ? "http://127.0.0.1:\(port.number)/callback" : "http://127.0.0.1/callback"
        let client = OAuthClient(clientID: "app", redirectURI: redirectURI, scopes: ["read"])
        try await TokenSourceFixture.with(session: nil, client: client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens, timeout: .milliseconds(50)) { _ in }
            let error = await outcome { try await login.logIn() }.tokenError
            let words = error?.description ?? ""
            #expect(error?.code == .cancelled)
            #expect(words.contains("register http://127.0.0.1:") && words.contains("for the client app"))
            #expect(!words.contains("not the answer"))
            #expect(words.contains(redirectURI) == isFixed && words.contains("fixed") == !isFixed)
        }
    }

    @Test("C12: A login with a fixed port in the redirect address sends that address with both requests")
    func usesFixedPort() async throws {
        let port = try ReservedPort()
        let redirectURI = "http://127.0.0.1:\(port.number)/callback"
        let client = OAuthClient(clientID: "app", redirectURI: redirectURI, scopes: ["openid", "read"])
        try await TokenSourceFixture.with(session: nil, client: client) { (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let query = FormCoding.decode(address.split(separator: "?")[1])
                #expect(query["redirect_uri"] == redirectURI)
                let response = try await fixture.transport.send(
                    HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": "sso-1"]))
                _ = try await fixture.transport.send(HTTPRequest("GET", try #require(response.headers["Location"])))
            }
            #expect(try await login.logIn().text.hasPrefix("access-"))
            let sent = FormCoding.decode(try #require(fixture.provider.now.bodies["token"]?.last))
            #expect(sent["redirect_uri"] == redirectURI)
        }
    }
}
