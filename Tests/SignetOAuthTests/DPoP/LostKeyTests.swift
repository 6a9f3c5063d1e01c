import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("The key of bound tokens that is lost or missing")
struct LostKeyTests {
    /// The ways in which a key can be lost.
    enum Loss: String, Sendable, CaseIterable {
        /// The stored reference is not what was written.
        case damaged
        /// A storage of the app has dropped the key.
        case dropped

        func apply(to token: inout AccessToken) {
            switch self {
            case .damaged: token.binding = TokenBinding(key: Secret("no reference".utf8))
            case .dropped: token.binding = nil
            }
        }
    }

    private func stored(
        _ loss: Loss, in provider: BoundProvider, left: TimeInterval, session: SSOToken? = nil
    ) async throws -> (store: SessionStore, token: AccessToken) {
        let store = try SessionStore.memory()
        if let session { try await store.save(session) }
        var token = try provider.issued(left: left, session: session)
        loss.apply(to: &token)
        try await store.save(token)
        return (store, token)
    }

    @Test("Without a session, a lost key requires a login and names the reason, and nothing is removed", arguments: Loss.allCases)
    func requiresLogin(loss: Loss) async throws {
        let provider = BoundProvider()
        let (store, old) = try await stored(loss, in: provider, left: -10)
        let tokens = try await provider.source(store: store)
        for _ in 0..<2 {
            let error = await outcome { try await tokens.token() }.tokenError
            #expect(error?.code == .loginRequired && error?.isRetryable == false)
            #expect(error?.description.contains("key") == true)
        }
        let record = try await store.record()
        #expect(record == old && provider.now.requests.isEmpty && provider.now.revoked.isEmpty)
    }

    @Test("With a session, tokens with another key replace those of a lost key, which are revoked", arguments: Loss.allCases)
    func replacesTokensOfSession(loss: Loss) async throws {
        let provider = BoundProvider()
        let (store, old) = try await stored(loss, in: provider, left: -10, session: SSOToken(value: Secret("sso-1".utf8)))
        let tokens = try await provider.source(store: store)
        let new = try await tokens.token()
        let record = try await store.record()
        #expect(new.value != old.value && new.binding != nil && record == new)
        #expect(provider.now.revoked == ["refresh-old"])
    }

    @Test("A valid token whose key is lost is never sent: the request reports the reason", arguments: Loss.allCases)
    func sendsNothingWithoutKey(loss: Loss) async throws {
        let provider = BoundProvider()
        let (store, old) = try await stored(loss, in: provider, left: 3600)
        let tokens = try await provider.source(store: store)
        let api = AuthorizedTransport(provider.transport, tokens: tokens, origins: [try Endpoint(BoundProvider.api)])
        let sent = await outcome { try await api.send(HTTPRequest("GET", BoundProvider.api)) }.tokenError
        let asked = await outcome { try await tokens.userInfo() }.tokenError
        let proved = await outcome { try await tokens.proof("GET", BoundProvider.api, with: old) }.tokenError
        for error in [sent, asked, proved] { #expect(error?.code == .loginRequired && error?.cause != nil) }
        let record = try await store.record()
        #expect(provider.now.requests.isEmpty && record == old)
    }

    @Test("A valid token whose key is lost is replaced with the session, and the request is sent with the new one")
    func sendsWithNewKey() async throws {
        let provider = BoundProvider()
        let (store, _) = try await stored(
            .damaged, in: provider, left: 3600, session: SSOToken(value: Secret("sso-1".utf8)))
        let tokens = try await provider.source(store: store)
        let api = AuthorizedTransport(provider.transport, tokens: tokens, origins: [try Endpoint(BoundProvider.api)])
        let response = try await api.send(HTTPRequest("GET", BoundProvider.api))
        #expect(response.status == 200 && provider.count("/orders") == 1 && provider.count("/token") == 1)
    }

    @Test("A public client whose key is lost revokes its tokens without a proof at a logout")
    func logsOutWithoutKey() async throws {
        let provider = BoundProvider { $0.answers["/revoke"] = BoundProvider.refusal("invalid_client", status: 401) }
        let (store, _) = try await stored(.damaged, in: provider, left: 3600)
        let tokens = try await provider.source(store: store)
        let report = await tokens.logOut()
        let headers = provider.now.requests["/revoke"]?.map { $0.headers["Authorization"] }
        #expect(report.local == .done && headers == [nil])
        guard case .failed = report.tokens else {
            Issue.record("\(report)")
            return
        }
    }

    @Test("A store that fails to save the refreshed tokens keeps the old ones with their key")
    func keepsOldKeyWhenStoreFails() async throws {
        let provider = BoundProvider()
        let storage = RefusingStorage()
        let store = try SessionStore(
            tokens: storage, session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>())
        var old = try provider.issued()
        old.isRotated = false
        try await store.save(old)
        storage.refuses.turnOn()
        let tokens = try await provider.source(store: store)
        let error = await outcome { try await tokens.token() }.tokenError
        storage.refuses.turnOff()
        let kept = try await store.token()
        #expect(error?.code == .storage && kept?.binding?.key == old.binding?.key && kept?.value == old.value)
    }

    #if os(Linux)
    @Test("With dpop: hardware and no TPM, no token is requested", arguments: [true, false])
    func bindingRequiresHardware(byRefresh: Bool) async throws {
        let provider = BoundProvider()
        let store = try SessionStore.memory()
        let session = SSOToken(value: Secret("sso-1".utf8))
        try await store.save(session)
        if byRefresh { try await store.save(try provider.issued(isBound: false, session: session)) }
        let keys = SigningKeyProvider(HardwareKeys(tcti: "device:/dev/signet-has-no-such-tpm"))
        let tokens = try await provider.source(BoundProvider.client(.hardware), store: store, keys: keys)
        let error = await outcome { try await tokens.token() }.tokenError
        #expect(error?.code == .storage && provider.count("/token") == 0 && provider.count("/authorize") == 0)
        let invitation = try await DeviceLogin(tokens).begin()
        let login = await outcome { try await DeviceLogin(tokens) { _ in }.finish(invitation) }.tokenError
        #expect(login?.code == .storage && provider.count("/token") == 0)
    }

    @Test("With dpop: best and no TPM, the key is in software")
    func fallsBackToSoftware() async throws {
        let provider = BoundProvider()
        let keys = SigningKeyProvider(HardwareKeys(tcti: "device:/dev/signet-has-no-such-tpm"))
        let token = try await provider.source(BoundProvider.client(.best), keys: keys).token()
        let key = try keys.open(try #require(token.binding).key)
        #expect(key.level == .software)
    }
    #endif
}
