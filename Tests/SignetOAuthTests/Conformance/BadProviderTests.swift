import SignetCore
import SignetOAuth
import TestSupport
import Testing

/// Providers with one deviation each, beyond the modules of the conformance plans.
@Suite("Providers that deviate from the specifications")
struct BadProviderTests {
    private static let refusedIDTokens: [ProviderCase] = [
        BadIDTokens.parties, BadIDTokens.times, BadIDTokens.forms, BadSignatures.refused,
    ].flatMap(\.self)
    private static let acceptedDeviations: [ProviderCase] = [
        BadSignatures.accepted, BadResponses.acceptedTokens, BadResponses.acceptedAnswers, BadResponses.acceptedUserInfo,
    ].flatMap(\.self)

    @Test(
        "A login with a refused ID token leaves nothing behind but a revocation, and keeps an earlier login",
        arguments: refusedIDTokens)
    func refusesIDTokenOfBadProvider(deviation: ProviderCase) async throws {
        try await refuse(deviation) { party in
            #expect(party.provider.now.revoked == ["refresh-2-x"])
            // Addresses in the token, such as that of `jku`, are never requested.
            let paths = Set(party.provider.now.received.map(\.path))
            #expect(paths == [".well-known/openid-configuration", "jwks", "token", "revoke"])
            party.expectNoFaults()
        }
    }

    @Test("A refused signature tells whether the provider has a usable key for the ID token")
    func tellsMissingKey() async throws {
        let own = ProviderKey.shared[0]
        let short = ProviderKey.short ?? own
        let missing = #"the server has no usable key for RS256 with the ID "k1""#
        let cases: [(deviation: RelyingParty.Deviation, explanation: String?)] = [
            (RelyingParty.Deviation { $0.keys = [PublishedKey(own, "k1", ["use": .string("enc")])] }, missing),
            (RelyingParty.Deviation { $0.keys = [PublishedKey(own, "k1", ["alg": .string("RS512")])] }, missing),
            (RelyingParty.Deviation { $0.keys = [PublishedKey(short, "k1")] }, missing),
            (RelyingParty.Deviation { $0.keySetText = { _ in #"{"keys":[]}"# } }, missing),
            (
                RelyingParty.Deviation { $0.header = { $0["kid"] = .string("k\u{1B}[2J") } },
                #"the server has no usable key for RS256 with the ID "k[2J""#
            ),
            (
                RelyingParty.Deviation {
                    $0.header = { $0["kid"] = nil }
                    $0.keys = [PublishedKey(ProviderKey.p256, "k1")]
                    $0.signature = { own.signature(of: $0, algorithm: "RS256") }
                }, "the server has no usable key for RS256"
            ),
            (RelyingParty.Deviation { $0.signature = { _ in [UInt8](repeating: 0, count: 256) } }, nil),
        ]
        for (deviation, explanation) in cases {
            try await RelyingParty.with(deviation) { (party: RelyingParty) async throws in
                let error = await outcome { try await party.logIn() }.tokenError
                #expect(error == TokenError(.idTokenRefused, .idToken(IDTokenError(.signature, explanation: explanation))))
            }
        }
    }

    @Test("A response of the token endpoint that can't be used stores nothing", arguments: BadResponses.tokens)
    func refusesTokenResponse(deviation: ProviderCase) async throws {
        try await refuse(deviation) { party in
            #expect(party.provider.count("token") == 1 && party.provider.count("userinfo") == 0)
        }
    }

    @Test("An answer of the authorization endpoint that is refused uses no code", arguments: BadResponses.answers)
    func refusesAnswerOfBadProvider(deviation: ProviderCase) async throws {
        try await refuse(deviation) { party in
            #expect(party.provider.count("token") == 0 && party.provider.count("userinfo") == 0)
        }
    }

    /// Logs in at a provider with a deviation that the client refuses, with and without an earlier login.
    /// - Parameters:
    ///   - deviation: The deviation and the error.
    ///   - check: Checks the requests that the client has made.
    /// - Throws: The error of the provider or of `check`.
    private func refuse(_ deviation: ProviderCase, _ check: (RelyingParty) async throws -> Void) async throws {
        for hasEarlierLogin in [false, true] {
            try await RelyingParty.with(deviation.deviation, hasEarlierLogin: hasEarlierLogin) {
                (party: RelyingParty) async throws in
                let before = try await party.store.token()
                deviation.check(await outcome { try await party.logIn() })
                try await party.expectNothingTaken(since: before)
                try await check(party)
            }
        }
    }

    @Test(
        "A login goes on waiting after an answer that is not the one to it, and says at its end that one came",
        arguments: BadResponses.foreignAnswers, RelyingParty.ResponseMode.allCases)
    func ignoresForeignAnswer(deviation: ProviderCase, mode: RelyingParty.ResponseMode) async throws {
        try await RelyingParty.with(deviation.deviation, client: RelyingParty.client(mode), hasEarlierLogin: true) {
            (party: RelyingParty) async throws in
            let before = try await party.store.token()
            deviation.check(await outcome { try await party.logIn(isAbandoned: true) })
            try await party.expectNothingTaken(since: before)
            #expect(party.provider.count("token") == 0)
            #expect(party.browserStatuses == [400])
        }
    }

    @Test("Userinfo that is refused shows no claims, and the login stays", arguments: BadResponses.userInfo)
    func refusesUserInfoOfBadProvider(deviation: ProviderCase) async throws {
        try await RelyingParty.with(deviation.deviation) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            deviation.check(await outcome { try await party.tokens.userInfo() })
            #expect(try await party.store.token() == token && party.provider.now.revoked.isEmpty)
            #expect(party.provider.count("userinfo") == 1)
        }
    }

    @Test("A discovery document that is refused begins no login", arguments: BadResponses.metadata)
    func refusesDiscoveryOfBadProvider(deviation: ProviderCase) async throws {
        try await refuse(deviation) { party in
            #expect(party.provider.now.received.map(\.path) == [".well-known/openid-configuration"])
            #expect(party.provider.now.authorizations.isEmpty)
        }
    }

    @Test("A refresh whose tokens can't be used ends the login", arguments: BadResponses.refreshes)
    func refusesUnusableRefresh(deviation: ProviderCase) async throws {
        let change = RelyingParty.Deviation {
            $0.deviatesAtRefresh = true
            deviation.deviation.apply(&$0)
        }
        try await RelyingParty.with(change) { (party: RelyingParty) async throws in
            _ = try await party.logIn()
            for _ in 0..<2 { deviation.check(await outcome { try await party.tokens.refresh() }) }
            try await party.expectNothingTaken(since: nil)
            // The used refresh token is not sent again.
            #expect(party.provider.count("token") == 2)
        }
    }

    @Test(
        "A login that asked for a recent or a certain authentication requires that the ID token confirms it",
        arguments: [
            ("max_age", "600", nil, nil, IDTokenError.Code.authenticationTime),
            ("max_age", "600", 3600, nil, .authenticationTime),
            ("max_age", "600", 60, nil, nil), ("acr_values", "mfa", 60, nil, .authenticationContext),
            ("acr_values", "mfa", 60, "pwd", .authenticationContext), ("acr_values", "pwd mfa", 60, "mfa", nil),
        ] as [(String, String, Int64?, String?, IDTokenError.Code?)])
    func requiresRequestedAuthentication(
        parameter: String, value: String, age: Int64?, context: String?, refusal: IDTokenError.Code?
    ) async throws {
        let deviation = RelyingParty.Deviation {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims["auth_time"] = age.map { .integer(now - $0) }
                claims["acr"] = context.map { .string($0) }
            }
        }
        try await RelyingParty.with(deviation, client: RelyingParty.client(parameters: [parameter: value])) {
            (party: RelyingParty) async throws in
            let result = await outcome { try await party.logIn() }
            #expect(party.provider.now.authorizations.first?[parameter] == value)
            #expect(result.tokenError?.idTokenError == refusal, "\(result)")
            if refusal != nil { try await party.expectNothingTaken(since: nil) }
        }
    }

    // MARK: Accepted on purpose

    @Test(
        "A deviation that the specifications allow, or that real servers have, is accepted",
        arguments: acceptedDeviations)
    func acceptsHarmlessDeviation(deviation: ProviderCase) async throws {
        try await RelyingParty.with(deviation.deviation) { (party: RelyingParty) async throws in
            let login = await outcome { try await party.logIn() }
            deviation.check(login)
            let (stored, received) = (try await party.store.token(), try? login.get())
            #expect(stored == received && stored != nil)
            let info = await outcome { try await party.tokens.userInfo() }
            deviation.check(info)
            let subject = try? info.get().subject
            #expect(subject == "alice" && party.provider.now.revoked.isEmpty)
            party.expectNoFaults()
        }
    }

    @Test("Another audience is accepted when the client trusts it, and another algorithm is refused when it expects one")
    func honorsSettingsForIDTokens() async throws {
        let deviation = RelyingParty.Deviation {
            $0.claims = { claims in
                claims["aud"] = .array([.string(ScriptedProvider.clientID), .string("other")])
                claims["azp"] = .string(ScriptedProvider.clientID)
            }
        }
        var client = RelyingParty.client()
        client.trustedAudiences = ["other"]
        try await RelyingParty.with(deviation, client: client) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            #expect(try await party.store.token() == token)
        }
        client.idTokenSignedResponseAlg = "PS256"
        try await RelyingParty.with(deviation, client: client) { (party: RelyingParty) async throws in
            let error = await outcome { try await party.logIn() }.tokenError
            #expect(error?.code == .idTokenRefused && error?.idTokenError == .algorithm)
            try await party.expectNothingTaken(since: nil)
        }
    }

    @Test("A provider that adds no acr is accepted when the client does not require one")
    func acceptsProviderWithoutACR() async throws {
        var client = RelyingParty.client(parameters: ["acr_values": "mfa"])
        client.requiresACR = false
        try await RelyingParty.with(client: client) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            #expect(try await party.store.token() == token)
            party.expectNoFaults()
        }
    }

    @Test("The tokens of a refused login are not stored when the provider has no revocation endpoint")
    func refusesLoginWithoutRevocation() async throws {
        let deviation = RelyingParty.Deviation {
            $0.metadata = { $0["revocation_endpoint"] = nil }
            $0.claims = { $0["iss"] = nil }
        }
        try await RelyingParty.with(deviation) { (party: RelyingParty) async throws in
            let error = await outcome { try await party.logIn() }.tokenError
            #expect(error?.code == .idTokenRefused && error?.idTokenError == .issuer)
            try await party.expectNothingTaken(since: nil)
            #expect(party.provider.count("revoke") == 0)
        }
    }
}
