import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("Nonces and clocks of servers in proofs of possession (RFC 9449)")
struct DPoPNonceTests {
    private static let host = "op.example.test"
    private static let apiHost = "api.example.test"

    /// Returns a source with a bound token that is valid for an hour.
    private func loggedIn(_ provider: BoundProvider) async throws -> TokenSource {
        let store = try SessionStore.memory()
        try await store.save(try provider.issued(left: 3600))
        return try await provider.source(store: store)
    }

    private func api(_ provider: BoundProvider, _ tokens: TokenSource) throws -> AuthorizedTransport {
        AuthorizedTransport(provider.transport, tokens: tokens, origins: [try Endpoint(BoundProvider.api)])
    }

    private func refusal(_ error: TokenError?) -> OAuthError.Code? {
        if case .server(let error) = error?.cause { error.code } else { nil }
    }

    @Test("A token endpoint that asks for a nonce gets one more request, with another proof that has the nonce")
    func retriesWithNonceOfTokenEndpoint() async throws {
        let provider = BoundProvider { $0.nonces = [Self.host: "nonce-a"] }
        let tokens = try await provider.source()
        let token = try await tokens.token()
        let sent = (provider.now.requests["/token"] ?? []).compactMap { $0.headers["DPoP"] }.compactMap { try? DPoPProof($0) }
        #expect(sent.map(\.nonce) == [nil, "nonce-a"] && Set(sent.map(\.id)).count == 2 && provider.count("/authorize") == 1)
        #expect(token.binding?.nonces == [BoundProvider.base: "nonce-a"])
    }

    @Test("The stored nonce is in the first proof of the next process")
    func sendsStoredNonce() async throws {
        let provider = BoundProvider { $0.nonces = [Self.host: "nonce-a"] }
        let first = try await provider.source()
        _ = try await first.token()
        provider.clock.advance(by: 3600)
        let next = try await provider.source(store: first.store)
        _ = try await next.token()
        #expect(provider.count("/token") == 3 && provider.now.proofs["/token"]?.last?.nonce == "nonce-a")
    }

    @Test("A nonce in any response replaces the known one of the same server only")
    func takesNonceOfSuccess() async throws {
        let provider = BoundProvider()
        let tokens = try await loggedIn(provider)
        let transport = try api(provider, tokens)
        provider.change {
            $0.answers["/orders"] = HTTPResponse(status: 200, headers: ["DPoP-Nonce": "nonce-b"])
            $0.answers["/userinfo"] = BoundProvider.json(200, ["sub": .string("mira")], headers: ["DPoP-Nonce": "nonce-c"])
        }
        _ = try await transport.send(HTTPRequest("GET", BoundProvider.api))
        _ = try await tokens.userInfo()
        provider.change { $0.answers = [:] }
        _ = try await transport.send(HTTPRequest("GET", BoundProvider.api))
        _ = try await tokens.userInfo()
        #expect(provider.now.proofs["/orders"]?.last?.nonce == "nonce-b")
        #expect(provider.now.proofs["/userinfo"]?.last?.nonce == "nonce-c")
    }

    @Test(
        "A token endpoint that asks for a nonce again, or names none, gets no third request, and nothing is removed",
        arguments: [true, false])
    func endsNonceLoopAtTokenEndpoint(isHidden: Bool) async throws {
        let provider = BoundProvider {
            ($0.nonces, $0.changesNonces, $0.hidesNonces) = ([Self.host: "nonce-a"], !isHidden, isHidden)
        }
        let store = try SessionStore.memory()
        let old = try provider.issued()
        try await store.save(old)
        let tokens = try await provider.source(store: store)
        let error = await outcome { try await tokens.token() }.tokenError
        let stored = try await store.token()
        #expect(error?.code == .refused && refusal(error) == .useDPoPNonce && provider.count("/token") == (isHidden ? 1 : 2))
        #expect(stored == old)
    }

    @Test("A resource that asks for a nonce gets one more request with the same token")
    func retriesWithNonceOfResource() async throws {
        let provider = BoundProvider { $0.nonces = [Self.apiHost: "nonce-a"] }
        let tokens = try await loggedIn(provider)
        let response = try await api(provider, tokens).send(HTTPRequest("POST", BoundProvider.api + "?page=2", body: [1]))
        let proof = try #require(provider.now.proofs["/orders"]?.last)
        #expect(response.status == 200 && provider.count("/orders") == 2 && provider.count("/token") == 0)
        #expect(proof.nonce == "nonce-a")
    }

    @Test("A resource that asks for a nonce again gets no third request, and the token is not renewed for it")
    func endsNonceLoopAtResource() async throws {
        let provider = BoundProvider { ($0.nonces, $0.changesNonces) = ([Self.apiHost: "nonce-a"], true) }
        let tokens = try await loggedIn(provider)
        let response = try await api(provider, tokens).send(HTTPRequest("GET", BoundProvider.api))
        #expect(response.status == 401 && provider.count("/orders") == 2 && provider.count("/token") == 0)
        provider.change { $0.nonces = [Self.host: "nonce-a"] }
        let error = await outcome { try await tokens.userInfo() }.tokenError
        #expect(refusal(error) == .useDPoPNonce && provider.count("/userinfo") == 2 && provider.count("/token") == 0)
    }

    @Test("A bound token that a resource refuses is renewed once, and the second request has a proof for the new token")
    func renewsRefusedToken() async throws {
        let provider = BoundProvider()
        let tokens = try await loggedIn(provider)
        provider.change { $0.accessTokens["access-old"] = nil }
        let response = try await api(provider, tokens).send(HTTPRequest("GET", BoundProvider.api))
        #expect(response.status == 200 && provider.count("/orders") == 2 && provider.count("/token") == 1)
        provider.change { $0.accessTokens = [:] }
        let error = await outcome { try await tokens.userInfo() }.tokenError
        #expect(error == nil && provider.count("/token") == 2)
    }

    /// The values of the field that are not a nonce (RFC 9449 section 8.1).
    private static let noNonces = ["", "a b", "a\"b", "a\\b", "ü", String(repeating: "n", count: 1025)]

    @Test("A field value that is not a nonce is ignored", arguments: noNonces)
    func ignoresInvalidNonce(text: String) async throws {
        let provider = BoundProvider()
        let tokens = try await loggedIn(provider)
        let transport = try api(provider, tokens)
        provider.change { $0.answers["/orders"] = HTTPResponse(status: 200, headers: ["DPoP-Nonce": text]) }
        _ = try await transport.send(HTTPRequest("GET", BoundProvider.api))
        provider.change { $0.answers = [:] }
        _ = try await transport.send(HTTPRequest("GET", BoundProvider.api))
        let proof = try #require(provider.now.proofs["/orders"]?.last)
        #expect(proof.nonce == nil)
    }

    @Test(
        "A proof that the server refuses for its time is sent once more, by the clock of the server", arguments: [-7200.0, 7200])
    func correctsTime(offset: TimeInterval) async throws {
        let provider = BoundProvider { $0.offset = offset }
        // Nothing that the client requests before shows the server's time.
        let store = try SessionStore.memory()
        try await store.save(try provider.issued())
        let tokens = try await provider.source(store: store)
        _ = try await tokens.token()
        _ = try await tokens.refresh()
        let times = provider.now.proofs["/token"]?.map { $0.issuedAt.timeIntervalSince(provider.clock.now).rounded() } ?? []
        let areRight = times.allSatisfy { abs($0 - offset) <= 1 }
        #expect(provider.count("/token") == 3 && times.count == 2 && areRight)
    }

    @Test("A response before the first proof shows the server's time, so no proof is refused")
    func knowsTimeBefore() async throws {
        let provider = BoundProvider { $0.offset = 7200 }
        _ = try await provider.source().token()
        #expect(provider.count("/authorize") == 1 && provider.count("/token") == 1)
    }

    @Test(
        "A refused proof is not sent again when the server's time is that of the proof, or is unknown", arguments: [true, false])
    func doesNotRepeatRefusedProof(sendsDate: Bool) async throws {
        let provider = BoundProvider {
            $0.sendsDate = sendsDate
            $0.answers["/token"] = BoundProvider.refusal("invalid_dpop_proof")
        }
        let store = try SessionStore.memory()
        let old = try provider.issued()
        try await store.save(old)
        let tokens = try await provider.source(store: store)
        let error = await outcome { try await tokens.token() }.tokenError
        let stored = try await store.token()
        #expect(refusal(error) == .invalidDPoPProof && provider.count("/token") == 1 && stored == old)
    }

    @Test("A request with a wrong time and without a nonce is sent at most three times")
    func combinesReasons() async throws {
        let provider = BoundProvider { ($0.offset, $0.nonces) = (7200, [Self.host: "nonce-a"]) }
        let store = try SessionStore.memory()
        try await store.save(try provider.issued())
        let token = try await provider.source(store: store).token()
        #expect(token.isBound && provider.count("/token") == 3)
    }

    @Test("A proof for another program's request names the method, the address without its query, the token and a given nonce")
    func makesProofForOtherProgram() async throws {
        let provider = BoundProvider()
        let tokens = try await loggedIn(provider)
        let token = try await tokens.token()
        let made = try await tokens.proof("PUT", "HTTPS://API.example.test:443/orders?a=b#c", with: token, nonce: "nonce-z")
        let proof = try DPoPProof(try #require(made))
        let request = try #require(DPoPRequest(method: "PUT", url: BoundProvider.api, accessToken: token.value))
        try proof.check(for: request, at: provider.clock.now)
        #expect(proof.nonce == "nonce-z" && proof.thumbprint == provider.now.accessTokens["access-old"])
        let error = await outcome { try await tokens.proof("GET", "not an address", with: token) }.tokenError
        #expect(error?.code == .notConfigured)
    }
}
