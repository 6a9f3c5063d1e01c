import SignetCore
import SignetOAuth
import TestSupport
import Testing

/// The modules of `oidcc-client-config-certification-test-plan`.
///
/// The module about unsigned ID tokens is the one of the Basic plan.
@Suite("The Config plan for relying parties")
struct ConfigPlanTests {
    private static let accepted: [ProviderCase] = [
        ProviderCase("oidcc-client-test-discovery-openid-config", .accepted) { _ in },
        ProviderCase("oidcc-client-test-discovery-jwks-uri-keys", .accepted) { $0.keysPath = "jwks-qhwzvbkrta" },
        ProviderCase("oidcc-client-test-signing-key-rotation-just-before-signing", .accepted) {
            $0.keysBeforeSigning = [PublishedKey(ProviderKey.shared[1], "k2")]
        },
        // The new key may have the ID of the old one.
        ProviderCase("oidcc-client-test-signing-key-rotation-just-before-signing (same ID)", .accepted) {
            $0.keysBeforeSigning = [PublishedKey(ProviderKey.shared[1], "k1")]
        },
    ]

    @Test("The client uses the addresses and the keys that discovery names", arguments: accepted)
    func usesDiscoveredAddresses(module: ProviderCase) async throws {
        try await RelyingParty.with(module.deviation) { (party: RelyingParty) async throws in
            let token = try await party.logIn()
            #expect(try await party.store.token() == token && token.idToken != nil)
            #expect(try await party.tokens.userInfo().subject == "alice")
            let state = party.provider.now
            #expect(state.received.first?.path == ".well-known/openid-configuration")
            #expect(party.provider.count(state.behavior.keysPath) == (state.behavior.keysBeforeSigning == nil ? 1 : 2))
            party.expectNoFaults()
        }
    }

    @Test(
        "The login ends before a browser opens when the issuer is another (oidcc-client-test-discovery-issuer-mismatch)",
        arguments: [true, false],
        [true, false])
    func stopsAtIssuerMismatch(isConfigured: Bool, hasEarlierLogin: Bool) async throws {
        let deviation = RelyingParty.Deviation { $0.metadata = { $0["issuer"] = .string("\(ScriptedProvider.issuer)INVALID") } }
        try await RelyingParty.with(
            deviation, issuer: isConfigured ? ScriptedProvider.issuer : nil, hasEarlierLogin: hasEarlierLogin
        ) { (party: RelyingParty) async throws in
            let before = try await party.store.token()
            let error = await outcome { try await party.logIn() }.tokenError
            #expect(error?.code == .refused && error?.serverError?.code == .issuerMismatch)
            #expect(party.provider.now.authorizations.isEmpty)
            #expect(party.provider.now.received.map(\.path) == [".well-known/openid-configuration"])
            try await party.expectNothingTaken(since: before)
        }
    }

    @Test("A second login fetches the new keys (oidcc-client-test-signing-key-rotation)")
    func fetchesNewKeysAtSecondLogin() async throws {
        try await RelyingParty.with { (party: RelyingParty) async throws in
            let first = try await party.logIn()
            #expect(try await party.tokens.userInfo().subject == "alice")
            party.provider.change { $0.keys = [PublishedKey(ProviderKey.shared[1], "k2")] }
            let second = try await party.logIn()
            #expect(try await party.tokens.userInfo().subject == "alice")
            #expect(try await party.store.token() == second && second != first && party.provider.count("jwks") == 2)
            party.expectNoFaults()
        }
    }
}
