import SignetCore
import SignetOAuth
import TestSupport
import Testing

/// The modules of `oidcc-client-basic-certification-test-plan` and `oidcc-client-formpost-basic-certification-test-plan`.
///
/// Both plans have the same modules; in the second one the answer of the authorization endpoint is a form that the browser posts.
/// Both register the client for `client_secret_basic`.
@Suite("The Basic plan and the Form Post plan for relying parties")
struct BasicPlanTests {
    typealias ResponseMode = RelyingParty.ResponseMode

    /// Runs `body` with a client that authenticates with `client_secret_basic`, as the plans do.
    private func with(
        _ module: ProviderCase, _ mode: ResponseMode, hasEarlierLogin: Bool = false,
        _ body: (RelyingParty) async throws -> Void
    ) async throws {
        let deviation = RelyingParty.Deviation {
            $0.authentication = .basic(RelyingParty.secret)
            module.deviation.apply(&$0)
        }
        let client = RelyingParty.client(mode, authentication: .clientSecretBasic(Secret(RelyingParty.secret.utf8)))
        try await RelyingParty.with(deviation, client: client, hasEarlierLogin: hasEarlierLogin, body)
    }

    /// Keys without IDs: three RSA keys, of which the last one signs, and keys of other kinds.
    private static let keysWithoutIDs = [
        PublishedKey(ProviderKey.shared[0], nil), PublishedKey(ProviderKey.p256, nil), PublishedKey(ProviderKey.shared[1], nil),
        PublishedKey(ProviderKey.ed25519, nil), PublishedKey(ProviderKey.shared[2], nil),
    ]

    private static let accepted: [ProviderCase] = [
        ProviderCase("oidcc-client-test", .accepted) { _ in },
        ProviderCase("oidcc-client-test-kid-absent-single-jwks", .accepted) {
            $0.keys = [PublishedKey(ProviderKey.shared[0], nil)]
        },
        ProviderCase("oidcc-client-test-kid-absent-multiple-jwks", .accepted) {
            $0.keys = keysWithoutIDs
            $0.signingKey = 4
        },
        .metadata(
            "id_token_signing_alg_values_supported", .array([.string("RS256")]), .accepted, "oidcc-client-test-idtoken-sig-rs256"),
        ProviderCase("oidcc-client-test-scope-userinfo-claims", .accepted) { _ in },
        ProviderCase("oidcc-client-test-client-secret-basic", .accepted) { _ in },
    ]

    @Test(
        "A login at a provider that behaves well gives tokens and the claims of the scopes", arguments: accepted,
        ResponseMode.allCases)
    func logsInAtConformingProvider(module: ProviderCase, mode: ResponseMode) async throws {
        try await with(module, mode) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            #expect(try await party.store.token() == token && token.idToken != nil)
            let info = try await party.tokens.userInfo()
            #expect(info.subject == "alice" && info.name == "Alice" && info.email == "alice@example.test")
            #expect(info.phoneNumber == "+1 555 0100" && info.claims["address"]?["country"]?.string == "AT")
            let requests = party.provider.now.authorizations
            #expect(requests.count == 1 && requests.first?["response_mode"] == (mode == .formPost ? "form_post" : nil))
            party.expectNoFaults()
        }
    }

    private static let refused: [ProviderCase] = [
        .claim("iss", .string("\(ScriptedProvider.issuer)x"), .idToken(.issuer), "oidcc-client-test-invalid-iss"),
        .claim("sub", nil, .idToken(.subject), "oidcc-client-test-missing-sub"),
        .claim("aud", .string("\(ScriptedProvider.clientID)x"), .idToken(.audience), "oidcc-client-test-invalid-aud"),
        .claim("iat", nil, .idToken(.issuedAt), "oidcc-client-test-missing-iat"),
        ProviderCase("oidcc-client-test-idtoken-sig-none", .idToken(.algorithm)) {
            $0.header = { $0["alg"] = .string("none") }
            $0.signature = { _ in [] }
        },
        ProviderCase("oidcc-client-test-invalid-sig-rs256", .idToken(.signature)) {
            $0.signature = { ProviderKey.shared[0].signature(of: $0, algorithm: "RS256").map { ~$0 } }
        },
        ProviderCase("oidcc-client-test-nonce-invalid", .idToken(.nonce)) {
            $0.claims = { $0["nonce"] = .string(($0["nonce"]?.string ?? "") + "x") }
        },
    ]

    @Test(
        "A refused ID token leaves nothing behind: no tokens, no userinfo request, and the earlier login stays",
        arguments: refused, ResponseMode.allCases)
    func refusesIDTokenOfModule(module: ProviderCase, mode: ResponseMode) async throws {
        for hasEarlierLogin in [false, true] {
            try await with(module, mode, hasEarlierLogin: hasEarlierLogin) { (party: RelyingParty) async throws in
                let before = try await party.store.token()
                module.check(await outcome { try await party.logIn() })
                try await party.expectNothingTaken(since: before)
                #expect(party.provider.count("token") == 1 && party.provider.count("userinfo") == 0)
                #expect(party.provider.now.revoked == ["refresh-2-x"])
                party.expectNoFaults()
            }
        }
    }

    @Test("Userinfo about another person is refused, and the login stays", arguments: ResponseMode.allCases)
    func refusesUserInfoOfAnotherPerson(mode: ResponseMode) async throws {
        let module = ProviderCase.userInfo(
            "sub", .string("aliceinvalid"), .failed(.idTokenRefused, "subject"), "oidcc-client-test-userinfo-invalid-sub")
        try await with(module, mode) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            module.check(await outcome { try await party.tokens.userInfo() })
            #expect(try await party.store.token() == token && party.provider.count("userinfo") == 1)
            party.expectNoFaults()
        }
    }

    /// The authentication of the client, and the one that the provider requires.
    static let methods: [(client: ClientAuthentication, provider: ScriptedProvider.Authentication, isAccepted: Bool)] = [
        (.none, .none, true),
        (.clientSecretBasic(Secret(RelyingParty.secret.utf8)), .basic(RelyingParty.secret), true),
        (.clientSecretPost(Secret(RelyingParty.secret.utf8)), .post(RelyingParty.secret), true),
        (.none, .basic(RelyingParty.secret), false), (.clientSecretPost(Secret("wrong".utf8)), .post(RelyingParty.secret), false),
        (.clientSecretBasic(Secret("wrong".utf8)), .basic(RelyingParty.secret), false),
    ]

    @Test("The client authenticates in the registered way, at each request with a grant or a token", arguments: methods)
    func authenticatesAsRegistered(
        client: ClientAuthentication, provider: ScriptedProvider.Authentication, isAccepted: Bool
    ) async throws {
        let deviation = RelyingParty.Deviation { $0.authentication = provider }
        try await RelyingParty.with(deviation, client: RelyingParty.client(authentication: client)) {
            (party: RelyingParty) async throws in
            let result = await outcome { try await party.logIn() }
            guard isAccepted else {
                #expect(result.tokenError?.serverError?.code == .invalidClient)
                #expect(result.tokenError?.description.contains(RelyingParty.secret) == false)
                #expect(try await party.store.token() == nil)
                return
            }
            _ = try result.get()
            _ = try await party.tokens.refresh()
            try await party.tokens.revoke()
            #expect(party.provider.now.revoked.count == 1 && party.provider.count("token") == 2)
            party.expectNoFaults()
        }
    }
}
