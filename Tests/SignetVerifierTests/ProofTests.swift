import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import SignetVerifier
import Testing

@Suite("DPoP proofs of requests to a service")
struct ProofTests {
    @Test("A bound token with a proof for the request is accepted, with the thumbprint of the key")
    func acceptsProof() async throws {
        let fixture = VerifierFixture()
        let token = try fixture.boundToken()
        let request = VerifierFixture.request("DPoP", token, proofs: [try fixture.proof(for: token)])
        let verified = try await fixture.verifier.verify(request)
        let thumbprint = try fixture.clientJWK().thumbprint
        #expect(verified.keyThumbprint == thumbprint)
    }

    @Test("A bound token that is presented as a bearer token is refused, with and without a proof")
    func refusesDowngrade() async throws {
        let fixture = VerifierFixture()
        let token = try fixture.boundToken()
        #expect(await fixture.code(of: token) == .binding)
        let withProof = VerifierFixture.request("Bearer", token, proofs: [try fixture.proof(for: token)])
        #expect(await fixture.code(of: withProof) == .binding)
        let bearerOnly = VerifierFixture(proofs: nil)
        let other = try bearerOnly.boundToken()
        #expect(await bearerOnly.code(of: other) == .binding)
        let unsupported = VerifierFixture.request("DPoP", other, proofs: [try bearerOnly.proof(for: other)])
        #expect(await bearerOnly.code(of: unsupported) == .binding)
    }

    @Test("A token that is not bound to a key is refused with the scheme DPoP, and as a bearer token where DPoP is required")
    func refusesUnboundToken() async throws {
        let fixture = VerifierFixture(proofs: ProofPolicy(baseURL: VerifierFixture.service, isRequired: true))
        let token = fixture.token()
        let request = VerifierFixture.request("DPoP", token, proofs: [try fixture.proof(for: token)])
        #expect(await fixture.code(of: request) == .binding)
        #expect(await fixture.code(of: token) == .binding)
    }

    @Test("A proof that arrives a second time is refused, also at another route")
    func refusesReplay() async throws {
        let fixture = VerifierFixture()
        let token = try fixture.boundToken()
        let request = VerifierFixture.request("DPoP", token, proofs: [try fixture.proof(for: token)])
        #expect(await fixture.code(of: request) == nil)
        #expect(await fixture.code(of: request) == .replayed)
        let elsewhere = try fixture.proof(for: token, url: "\(VerifierFixture.service)/profile")
        #expect(
            await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [elsewhere], path: "/profile")) == .replayed)
        let next = try fixture.proof(for: token, id: "proof-2")
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [next])) == nil)
    }

    /// A proof that is made for another request than the one in which it comes.
    struct ProofCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: AccessTokenError.Code
        let proofs: @Sendable (VerifierFixture, _ token: String) throws -> [String]

        init(
            _ name: String, _ code: AccessTokenError.Code = .proof,
            _ proofs: @escaping @Sendable (VerifierFixture, _ token: String) throws -> [String]
        ) {
            (testDescription, self.code, self.proofs) = (name, code, proofs)
        }
    }

    static let attacks: [ProofCase] = [
        ProofCase("no proof") { _, _ in [] },
        ProofCase("two proofs") { fixture, token in
            [try fixture.proof(for: token), try fixture.proof(for: token, id: "proof-2")]
        },
        ProofCase("a proof for another token") { fixture, _ in [try fixture.proof(for: "other-token")] },
        ProofCase("a proof for another method") { fixture, token in [try fixture.proof(for: token, method: "POST")] },
        ProofCase("a proof for another path") { fixture, token in
            [try fixture.proof(for: token, url: "\(VerifierFixture.service)/admin")]
        },
        ProofCase("a proof for another service") { fixture, token in
            [try fixture.proof(for: token, url: "https://evil.example.test/orders")]
        },
        ProofCase("a proof of another key", .binding) { fixture, token in
            [try fixture.proof(for: token, by: P256.Signing.PrivateKey())]
        },
        ProofCase("the access token as the proof") { _, token in [token] },
        ProofCase("an old proof") { fixture, token in
            let proof = try fixture.proof(for: token)
            fixture.clock.advance(by: 61)
            return [proof]
        },
        ProofCase("a proof of the future") { fixture, token in
            fixture.clock.advance(by: 61)
            let proof = try fixture.proof(for: token)
            fixture.clock.advance(by: -61)
            return [proof]
        },
    ]

    @Test("A proof that does not belong to the request, to the token and to its key is refused", arguments: attacks)
    func verifierRefusesProof(_ attack: ProofCase) async throws {
        let fixture = VerifierFixture()
        let token = try fixture.boundToken()
        let proofs = try attack.proofs(fixture, token)
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: proofs)) == attack.code)
    }

    @Test("The proof is compared with the address that the service has outside, and without the query and a default port")
    func comparesOutsideAddress() async throws {
        let fixture = VerifierFixture(proofs: ProofPolicy(baseURL: "\(VerifierFixture.service)/shop/"))
        let token = try fixture.boundToken()
        let proof = try fixture.proof(for: token, url: "HTTPS://API.example.test:443/shop/orders?page=2")
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [proof])) == nil)
    }

    @Test("A service with nonces refuses a proof without one, and accepts the current nonce and the one before it")
    func requiresNonce() async throws {
        let nonces = ProofNonces(period: .seconds(300))
        let fixture = VerifierFixture(proofs: ProofPolicy(baseURL: VerifierFixture.service, nonces: nonces))
        let later = ["exp": JSONValue.integer(VerifierFixture.start + 10_000)]
        let token = try fixture.boundToken(claims: later)
        let without = VerifierFixture.request("DPoP", token, proofs: [try fixture.proof(for: token)])
        let refusal = await fixture.error(of: without)
        let error = try #require(refusal)
        #expect(error.code == .nonce)
        let response = fixture.verifier.response(to: error, for: without)
        let nonce = try #require(response.headers["DPoP-Nonce"])
        #expect(response.status == 401 && nonce == fixture.verifier.nextNonce)
        // The refused proof was not remembered, and the client makes a new one anyway.
        let with = try fixture.proof(for: token, nonce: nonce)
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [with])) == nil)
        fixture.clock.advance(by: 300)
        #expect(fixture.verifier.nextNonce != nonce)
        let previous = try fixture.proof(for: token, id: "proof-2", nonce: nonce)
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [previous])) == nil)
        fixture.clock.advance(by: 300)
        let old = try fixture.proof(for: token, id: "proof-3", nonce: nonce)
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [old])) == .nonce)
        let forged = try fixture.proof(for: token, id: "proof-4", nonce: "AAAAAAAAAAAAAAAAAAAAAAAA")
        #expect(await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [forged])) == .nonce)
    }

    @Test("A full memory of proofs accepts no proof until one has expired")
    func refusesWhenMemoryIsFull() async throws {
        let proofs = ProofPolicy(baseURL: VerifierFixture.service, memory: ProcessProofMemory(capacity: 1))
        let fixture = VerifierFixture(proofs: proofs)
        let token = try fixture.boundToken()
        func code(_ id: String) async throws -> AccessTokenError.Code? {
            await fixture.code(of: VerifierFixture.request("DPoP", token, proofs: [try fixture.proof(for: token, id: id)]))
        }
        let first = try await code("proof-1")
        let second = try await code("proof-2")
        #expect(first == nil && second == .memoryFull)
        fixture.clock.advance(by: 61)
        let third = try await code("proof-3")
        #expect(third == nil)
    }
}
