import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("Tokens that are bound to a key (RFC 9449)")
struct DPoPTokenTests {
    @Test("A client with dpop sends the key's thumbprint with the authorization request, and a proof for the token endpoint")
    func bindsTokensToNewKey() async throws {
        let provider = BoundProvider()
        let tokens = try await provider.source()
        let token = try await tokens.token()
        #expect(token.isBound && token.tokenType == "DPoP" && token.authorization == "DPoP \(token.value.text)")
        let proof = try #require(provider.now.proofs["/token"]?.first)
        let query = FormCoding.query(of: try #require(provider.now.requests["/authorize"]?.first).url)
        #expect(query["dpop_jkt"] == proof.thumbprint && proof.nonce == nil)
        // 128 random bits in base64url.
        #expect(proof.id.utf8.count == 22 && proof.issuedAt == provider.clock.now)
        let found = try await tokens.store.token()
        let stored = try #require(found)
        let key = try SigningKeyProvider().open(try #require(stored.binding).key)
        #expect(stored == token && key.publicKey.thumbprint == proof.thumbprint && key.level == .software)
        _ = try await tokens.token()
        #expect(provider.count("/token") == 1)
    }

    @Test("A client without dpop sends no proof and no thumbprint, and its tokens are bearer tokens")
    func sendsNoProofWithoutDPoP() async throws {
        let provider = BoundProvider {
            ($0.requiresProof, $0.tokenType) = (false, "Bearer")
        }
        let tokens = try await provider.source(BoundProvider.client(.none))
        let token = try await tokens.token()
        let hasProof = provider.now.requests.values.joined().contains { $0.headers["DPoP"] != nil }
        let query = FormCoding.query(of: try #require(provider.now.requests["/authorize"]?.first).url)
        #expect(!hasProof && query["dpop_jkt"] == nil && token.binding == nil && token.authorization.hasPrefix("Bearer "))
        let proof = try await tokens.proof("GET", BoundProvider.api, with: token)
        #expect(proof == nil)
    }

    @Test("An additional parameter of the app does not replace the thumbprint of the key")
    func keepsOwnThumbprint() async throws {
        let provider = BoundProvider()
        let client = OAuthClient(
            clientID: "app", redirectURI: "https://app.example.test/cb", scopes: ["read"],
            authorizationParameters: ["dpop_jkt": "another"], dpop: .software)
        _ = try await provider.source(client).token()
        let query = FormCoding.query(of: try #require(provider.now.requests["/authorize"]?.first).url)
        #expect(query["dpop_jkt"] == provider.now.proofs["/token"]?.first?.thumbprint)
    }

    @Test("A refresh proves possession of the stored key, and the new tokens keep it")
    func refreshesWithStoredKey() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        let old = try provider.issued()
        try await store.save(old)
        let new = try await provider.source(store: store).token()
        #expect(new.value != old.value && new.binding?.key == old.binding?.key)
        let stored = try await store.token()
        let thumbprints = provider.now.proofs["/token"]?.map(\.thumbprint)
        #expect(stored == new && thumbprints == [provider.now.accessTokens["access-old"] ?? ""])
    }

    @Test("A hundred tasks that ask for an expired bound token cause one refresh with one key")
    func hundredTasksRefreshOnce() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        try await store.save(try provider.issued())
        let tokens = try await provider.source(store: store)
        let found = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<100 { group.addTask { try await tokens.token() } }
            return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && provider.count("/token") == 1)
        let thumbprints = Set(provider.now.proofs["/token"]?.map(\.thumbprint) ?? [])
        #expect(thumbprints.count == 1)
    }

    @Test("A hundred tasks without a token create one key and send one request")
    func hundredTasksCreateOneKey() async throws {
        let provider = BoundProvider()
        let tokens = try await provider.source()
        let found = try await withThrowingTaskGroup(of: AccessToken.self) { group in
            for _ in 0..<100 { group.addTask { try await tokens.token() } }
            return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && provider.count("/token") == 1 && provider.count("/authorize") == 1)
    }

    @Test("The refresh of a bearer token by a client with dpop binds the new tokens to a key")
    func bindsAtRefresh() async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        try await store.save(try provider.issued(isBound: false))
        let new = try await provider.source(store: store).token()
        let reference = try #require(new.binding).key
        let key = try SigningKeyProvider().open(reference)
        #expect(new.isBound && provider.now.accessTokens[new.value.text] == key.publicKey.thumbprint)
    }

    /// The types with which a server may answer a request with a proof.
    private static let wrongTypes: [String?] = ["Bearer", "bearer", "mac", "", nil]

    @Test("A token of another type than DPoP is refused and revoked, and nothing is stored", arguments: wrongTypes)
    func refusesDowngradeAtLogin(type: String?) async throws {
        let provider = BoundProvider { $0.tokenType = type }
        let tokens = try await provider.source()
        let error = await outcome { try await tokens.token() }.tokenError
        guard case .server(let refusal) = error?.cause else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code == .unusableToken && refusal.explanation?.contains("not DPoP") == true)
        let stored = try await tokens.store.record()
        #expect(provider.now.revoked.count == 1 && stored == nil)
    }

    @Test("A refresh that is answered with a bearer token ends the login, and the bearer token is revoked")
    func refusesDowngradeAtRefresh() async throws {
        let provider = BoundProvider { $0.tokenType = "Bearer" }
        let store = try SessionStore.memory()
        try await store.save(try provider.issued())
        let tokens = try await provider.source(store: store)
        for _ in 0..<2 {
            let error = await outcome { try await tokens.token() }.tokenError
            #expect(error?.code == .loginRequired && error?.description.contains("unusableToken") == true)
        }
        #expect(provider.count("/token") == 1 && provider.now.revoked.count == 1)
    }

    @Test("A bound token that the client did not ask for is refused")
    func refusesUnrequestedType() async throws {
        let provider = BoundProvider { $0.requiresProof = false }
        let error = await outcome { try await provider.source(BoundProvider.client(.none)).token() }.tokenError
        #expect(error?.description.contains("unusableToken") == true)
    }

    @Test("The lower-case type dpop is accepted, and the header has DPoP")
    func acceptsLowerCaseType() async throws {
        let provider = BoundProvider { $0.tokenType = "dpop" }
        let token = try await provider.source().token()
        #expect(token.isBound && token.authorization.hasPrefix("DPoP "))
    }

    @Test("A logout removes the key with the tokens, and the next login has another key")
    func logoutRemovesKey() async throws {
        let provider = BoundProvider()
        let tokens = try await provider.source()
        let first = try await tokens.token()
        _ = await tokens.logOut()
        let record = try await tokens.store.record()
        #expect(record == nil && provider.now.revoked == [first.refreshToken?.text ?? ""])
        try await tokens.store.save(SSOToken(value: Secret("sso-2".utf8)))
        let second = try await tokens.token()
        #expect(second.binding != nil && second.binding?.key != first.binding?.key)
    }

    @Test("A device login binds its tokens, and each poll has a proof of the same key")
    func bindsDeviceLogin() async throws {
        let provider = BoundProvider()
        let tokens = try await provider.source()
        let login = DeviceLogin(tokens) { _ in }
        let invitation = try await login.begin()
        provider.change { $0.answers["/token"] = BoundProvider.refusal("authorization_pending") }
        let polled = Counter()
        let waiting = DeviceLogin(tokens) { _ in
            polled.add()
            if polled.count == 3 { provider.change { $0.answers = [:] } }
        }
        let token = try await waiting.finish(invitation)
        let keys = (provider.now.requests["/token"] ?? []).compactMap { $0.headers["DPoP"] }.compactMap { try? DPoPProof($0) }
        #expect(keys.count == 3 && Set(keys.map(\.thumbprint)).count == 1 && Set(keys.map(\.id)).count == 3)
        #expect(provider.now.accessTokens[token.value.text] == keys.first?.thumbprint)
    }

    @Test("The key is stored in plain JSON only beside its tokens, and never in their description")
    func encodesBinding() throws {
        let provider = BoundProvider()
        var token = try provider.issued()
        token.binding?.nonces = ["https://op.example.test": "nonce-1"]
        let data = try JSONEncoder().encode(token)
        let read = try JSONDecoder().decode(AccessToken.self, from: data)
        #expect(read == token && read.binding?.nonces == token.binding?.nonces)
        let key = Base64.encode(try #require(token.binding).key.bytes, as: .url)
        var dumped = ""
        dump(token, to: &dumped)
        #expect(String(decoding: data, as: UTF8.self).contains(key))
        for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains(key)) }
    }

    @Test("At most 16 nonces are stored with the tokens")
    func limitsStoredNonces() {
        let nonces = Dictionary(uniqueKeysWithValues: (0..<40).map { ("https://\($0).example.test", "nonce-\($0)") })
        #expect(TokenBinding(key: Secret([1]), nonces: nonces).nonces.count == 16)
    }
}
