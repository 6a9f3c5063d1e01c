import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("A request to a user on another device (CIBA)")
struct BackchannelLoginTests {
    private static let secret = ClientAuthentication.clientSecretPost(Secret("s3cret".utf8))

    private func source(
        _ provider: BoundProvider, _ authentication: ClientAuthentication = Self.secret
    ) async throws -> TokenSource {
        try await provider.source(BoundProvider.client(authentication: authentication), store: SessionStore.memory())
    }

    private func refusal(_ error: TokenError?) -> OAuthError.Code? {
        if case .server(let error) = error?.cause { error.code } else { nil }
    }

    /// Returns a sleep that records the waits, and gives the provider its next answer to a poll before each.
    private func answering(
        _ provider: BoundProvider, _ answers: [HTTPResponse?], _ waits: Mutex<[Duration]>
    ) -> DeviceLogin.Sleep {
        let rest = Mutex(answers)
        return { duration in
            waits.withLock { $0.append(duration) }
            let next = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            provider.change { $0.answers["/token"] = next }
            provider.clock.advance(by: Double(duration.components.seconds))
        }
    }

    @Test("The request names the user, the message, the scope and the time, and the client polls in the server's interval")
    func asksUser() async throws {
        let provider = BoundProvider()
        let tokens = try await source(provider)
        let waits = Mutex<[Duration]>([])
        let pending = BoundProvider.refusal("authorization_pending")
        let slow = BoundProvider.refusal("slow_down")
        let login = BackchannelLogin(tokens, sleep: answering(provider, [pending, slow, nil], waits))
        let request = try await login.begin(user: "mira", message: "Deploy 4711?", expiry: .seconds(90), acrValues: "push")
        let form = try #require(provider.forms("/ciba").first)
        let expected = [
            "client_id": "app", "client_secret": "s3cret", "scope": "read", "login_hint": "mira",
            "binding_message": "Deploy 4711?", "requested_expiry": "90", "acr_values": "push",
        ]
        #expect(form == expected && request.end == provider.clock.now + 90)
        let token = try await login.finish(request)
        let poll = try #require(provider.forms("/token").last)
        #expect(poll["grant_type"] == "urn:openid:params:grant-type:ciba" && poll["auth_req_id"] == "request-1")
        // RFC 8628 section 3.5, to which CIBA refers: five seconds more after slow_down.
        let waited = waits.withLock { $0 }
        #expect(waited == [.seconds(2), .seconds(2), .seconds(7)] && token.isBound)
        let stored = try await tokens.store.token()
        let thumbprints = Set(provider.now.proofs["/token"]?.map(\.thumbprint) ?? [])
        #expect(stored == token && thumbprints.count == 1)
    }

    /// The errors that end the wait.
    static let ends: [(name: String, code: OAuthError.Code)] = [
        ("access_denied", .accessDenied), ("expired_token", .expiredToken), ("invalid_grant", .invalidGrant),
        ("transaction_failed", .other),
    ]

    @Test("A denial, an expiry and any other error end the wait, and nothing is stored", arguments: ends)
    func endsWait(name: String, code: OAuthError.Code) async throws {
        let provider = BoundProvider()
        let tokens = try await source(provider)
        let waits = Mutex<[Duration]>([])
        let login = BackchannelLogin(tokens, sleep: answering(provider, [BoundProvider.refusal(name)], waits))
        let request = try await login.begin(user: "mira")
        let error = await outcome { try await login.finish(request) }.tokenError
        let stored = try await tokens.store.record()
        #expect(error?.code == .refused && refusal(error) == code && stored == nil && provider.count("/token") == 1)
    }

    @Test("A request that is not answered in time ends as expired_token, without another poll")
    func backchannelRequestExpires() async throws {
        let provider = BoundProvider()
        let tokens = try await source(provider)
        let waits = Mutex<[Duration]>([])
        let pending = BoundProvider.refusal("authorization_pending")
        let login = BackchannelLogin(tokens, sleep: answering(provider, Array(repeating: pending, count: 200), waits))
        let request = try await login.begin(user: "mira")
        let error = await outcome { try await login.finish(request) }.tokenError
        #expect(refusal(error) == .expiredToken && provider.count("/token") == 59)
    }

    @Test("A network failure and a busy server are waited out")
    func waitsOutFailures() async throws {
        let provider = BoundProvider()
        let tokens = try await source(provider)
        let waits = Mutex<[Duration]>([])
        let login = BackchannelLogin(
            tokens, sleep: answering(provider, [HTTPResponse(status: 503), HTTPResponse(status: 500), nil], waits))
        let token = try await login.finish(try await login.begin(user: "mira"))
        let waited = waits.withLock { $0 }
        #expect(token.isBound && waited == [.seconds(2), .seconds(4), .seconds(8)])
    }

    @Test("A confirmation stores nothing and revokes its tokens")
    func confirmsOnly() async throws {
        let provider = BoundProvider()
        let tokens = try await source(provider)
        let old = try provider.issued(left: 3600)
        try await tokens.store.save(old)
        let login = BackchannelLogin(tokens) { _ in }
        let claims = try await login.confirm(try await login.begin(user: "mira", message: "Deploy?"))
        let stored = try await tokens.store.token()
        #expect(claims.isEmpty && stored == old && provider.now.revoked.count == 1 && provider.now.revoked != ["refresh-old"])
    }

    /// The answers with which the server refuses to ask.
    static let refusals: [(answer: HTTPResponse, code: OAuthError.Code)] = [
        (BoundProvider.refusal("unknown_user_id"), .unknownUserID),
        (BoundProvider.refusal("invalid_binding_message"), .invalidBindingMessage),
        (BoundProvider.refusal("unauthorized_client"), .unauthorizedClient),
        (BoundProvider.json(200, ["expires_in": .integer(60)]), .unreadable),
    ]

    @Test("A refused request names the reason", arguments: refusals)
    func reportsRefusedBackchannelRequest(answer: HTTPResponse, code: OAuthError.Code) async throws {
        let provider = BoundProvider { $0.answers["/ciba"] = answer }
        let login = BackchannelLogin(try await source(provider)) { _ in }
        let error = await outcome { try await login.begin(user: "mira", message: "x") }.tokenError
        #expect(refusal(error) == code)
    }

    @Test("A public client, and a server without the endpoint, ask no user")
    func refusesPublicClient() async throws {
        let provider = BoundProvider()
        let open = BackchannelLogin(try await source(provider, .none)) { _ in }
        let first = await outcome { try await open.begin(user: "mira") }.tokenError
        #expect(first?.code == .notConfigured && provider.now.requests.isEmpty)
        var endpoints = BoundProvider.endpoints
        endpoints.backchannelAuthentication = nil
        let client = BoundProvider.client(authentication: Self.secret)
        let tokens = try await provider.source(client, store: SessionStore.memory(), endpoints: endpoints)
        let second = await outcome { try await BackchannelLogin(tokens).begin(user: "mira") }.tokenError
        #expect(second?.code == .notConfigured && refusal(second) == .notOffered)
    }

    @Test(
        "A client with a key signs the request for a server that lists its algorithm, as AM requires", arguments: [true, false])
    func signsRequest(isListed: Bool) async throws {
        let base = BoundProvider.base
        var document: [String: JSONValue] = [
            "issuer": .string(base), "authorization_endpoint": .string("\(base)/authorize"),
            "token_endpoint": .string("\(base)/token"), "backchannel_authentication_endpoint": .string("\(base)/ciba"),
        ]
        let member = "backchannel_authentication_request_signing_alg_values_supported"
        document[member] = .array([.string(isListed ? "ES256" : "RS256")])
        let wellKnown = "/.well-known/openid-configuration"
        let provider = BoundProvider { [document] in $0.answers[wellKnown] = BoundProvider.json(200, document) }
        let key = try ClientKey(SigningKeyProvider().create(.software))
        let tokens = try await provider.source(
            BoundProvider.client(authentication: .privateKeyJWT(key)), store: SessionStore.memory(),
            endpoints: OAuthEndpoints(discovery: base + wellKnown))
        _ = try await BackchannelLogin(tokens).begin(user: "mira", message: "Deploy 4711?")
        let form = try #require(provider.forms("/ciba").first)
        #expect((form["request"] != nil) == isListed && (form["login_hint"] == nil) == isListed)
        #expect(form["client_assertion"] != nil)
        guard isListed else { return }
        let token = try #require(SignedToken(form["request"] ?? ""))
        let publicKey = try JSONWebKey(try JSON.value(of: Array(key.publicJWK.utf8)))
        let isSigned = token.isSigned { publicKey.isValid($0, of: $1, .es256) }
        let claims = token.claims
        #expect(isSigned && token.header["kid"]?.string == key.identifier && claims["jti"] != nil && claims["exp"] != nil)
        let expected = [
            "iss": "app", "aud": base, "login_hint": "mira", "binding_message": "Deploy 4711?", "scope": "read",
        ]
        for (name, value) in expected { #expect(claims[name]?.string == value, "\(name)") }
    }
}
