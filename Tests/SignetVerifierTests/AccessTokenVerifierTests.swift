import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import SignetVerifier
import TestSupport
import Testing

@Suite("The verification of access tokens by the keys of the provider")
struct AccessTokenVerifierTests {
    @Test("A token that is not the provider's access token for the service is refused", arguments: TokenCase.attacks)
    func refusesToken(_ attack: TokenCase) async {
        let fixture = VerifierFixture(policy: attack.policy)
        #expect(await fixture.code(of: attack.token(fixture)) == attack.code)
        // The address of the keys is that of the discovery document, whatever the header of a token names.
        let addresses = Set(fixture.transport.requests.map(\.url))
        #expect(addresses.isSubset(of: [VerifierFixture.discovery, VerifierFixture.jwks]))
    }

    @Test("A valid access token is accepted", arguments: TokenCase.accepted)
    func acceptsToken(_ token: TokenCase) async {
        let fixture = VerifierFixture(policy: token.policy)
        #expect(await fixture.code(of: token.token(fixture)) == nil)
    }

    static let algorithms: [(algorithm: String, key: ProviderKey?)] = [
        ("RS256", ProviderKey.shared.first), ("PS256", ProviderKey.shared.first), ("ES256", .p256), ("EdDSA", .ed25519),
    ]

    @Test("Each algorithm of the default policy is verified", arguments: algorithms)
    func verifiesAlgorithm(algorithm: String, key: ProviderKey?) async throws {
        let key = try #require(key)
        let fixture = VerifierFixture()
        fixture.provider.withLock { $0.keys = [PublishedKey(key, "k1")] }
        #expect(await fixture.code(of: fixture.token(header: ["alg": .string(algorithm)], by: key)) == nil)
        let forged = fixture.token(header: ["alg": .string(algorithm)], claims: ["sub": .string("mallory")], by: .p256)
        if algorithm != "ES256" { #expect(await fixture.code(of: forged) == .signature) }
    }

    @Test("The verified token has the subject, the client, the scopes, the end and all claims")
    func readsClaims() async throws {
        let fixture = VerifierFixture()
        let text = fixture.token(claims: ["department": .string("lab")])
        let token = try await fixture.verifier.verify(VerifierFixture.request("bearer", text))
        #expect(token.issuer == VerifierFixture.issuer && token.subject == "alice" && token.clientID == "app")
        #expect(token.scopes == ["orders", "profile"] && token.keyThumbprint == nil)
        #expect(token.expiresAt == Date(timeIntervalSince1970: Double(VerifierFixture.start + 300)))
        #expect(token.claims["department"] == .string("lab"))
    }

    // MARK: Keys

    @Test("A flood of tokens with unknown key IDs causes one request for keys in 30 seconds")
    func limitsKeyRequestsOfFlood() async {
        let fixture = VerifierFixture()
        #expect(await fixture.code(of: fixture.token()) == nil)
        for number in 0..<20 {
            let forged = fixture.token(
                header: ["kid": .string("x\(number)")], by: .elliptic(P256.Signing.PrivateKey()))
            #expect(await fixture.code(of: forged) == .signature)
        }
        #expect(fixture.requests(to: VerifierFixture.jwks) == 1)
        #expect(await fixture.code(of: fixture.token()) == nil)
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        #expect(await fixture.code(of: fixture.token(header: ["kid": .string("x")])) == .signature)
        #expect(fixture.requests(to: VerifierFixture.jwks) == 2)
    }

    @Test("A token that is signed with a new key is accepted after the keys were requested again")
    func findsNewKey() async {
        let fixture = VerifierFixture()
        #expect(await fixture.code(of: fixture.token()) == nil)
        let next = ProviderKey.elliptic(P256.Signing.PrivateKey())
        fixture.provider.withLock { $0.keys.append(PublishedKey(next, "k2")) }
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        #expect(await fixture.code(of: fixture.token(header: ["kid": .string("k2")], by: next)) == nil)
        #expect(await fixture.code(of: fixture.token()) == nil)
        #expect(fixture.requests(to: VerifierFixture.jwks) == 2)
    }

    @Test("A key that the provider has withdrawn is refused an hour later, and known keys stay while the provider is down")
    func forgetsWithdrawnKey() async throws {
        let fixture = VerifierFixture()
        let later = ["exp": JSONValue.integer(VerifierFixture.start + 100_000)]
        #expect(await fixture.code(of: fixture.token(claims: later)) == nil)
        fixture.clock.advance(by: 3_600)
        fixture.provider.withLock { $0.isDown = true }
        #expect(await fixture.code(of: fixture.token(claims: later)) == nil)
        let hasAsked = try await eventually { fixture.requests(to: VerifierFixture.jwks) == 2 }
        #expect(hasAsked)
        #expect(await fixture.code(of: fixture.token(claims: later)) == nil)
        fixture.provider.withLock { provider in
            provider.isDown = false
            provider.keys = [PublishedKey(.ed25519, "k2")]
        }
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        let isForgotten = try await eventually { await fixture.code(of: fixture.token(claims: later)) == .signature }
        #expect(isForgotten)
    }

    @Test("A token is neither accepted nor refused while the keys are not available")
    func reportsOutage() async throws {
        let fixture = VerifierFixture()
        fixture.provider.withLock { $0.isDown = true }
        let request = VerifierFixture.request("Bearer", fixture.token())
        let found = await fixture.error(of: request)
        let error = try #require(found)
        #expect(error.code == .unavailable && error.isRetryable)
        let response = fixture.verifier.response(to: error, for: request)
        #expect(response.status == 503 && response.headers["WWW-Authenticate"] == nil)
        fixture.provider.withLock { $0.isDown = false }
        fixture.clock.advance(by: TokenIssuer.keyRequestInterval)
        #expect(await fixture.code(of: request) == nil)
    }
}
