#if os(Linux)
import Foundation
import SignetCore
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Several processes over one vault, with tokens that are bound to a key")
struct BoundProcessTests {
    private struct VaultFixture {
        let directory: String
        let store: SessionStore
        let provider: TestProvider

        func start(_ command: String) throws -> TestProcess {
            try TestProcess(Programs.built("TokenWorker"), [command, directory, provider.url], input: .open)
        }

        /// Runs workers, and returns the different lines that they print.
        func run(_ command: String, count: Int = 4) async throws -> Set<String> {
            let workers = try (0..<count).map { _ in try start(command) }
            for worker in workers { worker.closeInput() }
            var texts: [String] = []
            for worker in workers {
                let end = await worker.end()
                #expect(end.status == 0, "\(end.output)\(end.errors)")
                texts += end.output.split(separator: "\n").map(String.init)
            }
            #expect(texts.count == count * 25)
            return Set(texts)
        }

        /// The thumbprints of the keys in the proofs that the token endpoint got.
        var thumbprints: Set<String> { Set(provider.now.proofs.compactMap { try? DPoPProof($0).thumbprint }) }
    }

    private func with<R>(
        _ token: AccessToken?, session: SSOToken? = nil, delay: TimeInterval = 0, _ body: (VaultFixture) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let vault = VaultDirectory(path: directory.file("vault"))
            _ = try vault.createVault(.keyFile)
            let keychain = VaultProvider { () throws(StoreError) in try vault.openVault(timeout: 60) }
            let store = try SessionStore.keychain(account: "test", in: keychain, lockFile: "\(vault.path)/session.lock")
            if let session { try await store.save(session) }
            if let token { try await store.save(token) }
            let provider = try TestProvider {
                TokenSourceFixture.addOldToken(&$0)
                $0.isBinding = true
                $0.delay = delay
            }
            return try await body(VaultFixture(directory: vault.path, store: store, provider: provider))
        }
    }

    /// Returns an expired token that is bound to a new key.
    private func old(session: SSOToken? = nil, isRotated: Bool? = nil) throws -> AccessToken {
        let token = TokenSourceFixture.old(session: session, isRotated: isRotated)
        var bound = AccessToken(
            value: token.value, tokenType: "DPoP", scope: token.scope, issuedAt: token.issuedAt, expiresAt: token.expiresAt,
            refreshToken: token.refreshToken)
        (bound.session, bound.isRotated) = (token.session, isRotated)
        bound.binding = TokenBinding(key: try SigningKeyProvider().create(.software).reference)
        return bound
    }

    @Test("A hundred tasks in four processes that refresh a bound token cause one request, with one key")
    func boundProcessesRefreshOnce() async throws {
        let token = try old()
        try await with(token, delay: 0.3) { fixture in
            let texts = try await fixture.run("ask-bound")
            let found = try await fixture.store.token()
            let stored = try #require(found)
            let key = try SigningKeyProvider().open(try #require(token.binding).key)
            #expect(texts == [stored.authorization] && stored.binding?.key == token.binding?.key)
            #expect(fixture.provider.count("token") == 1 && fixture.thumbprints == [key.publicKey.thumbprint])
        }
    }

    @Test("A hundred tasks in four processes without a token create one key")
    func boundProcessesCreateOneKey() async throws {
        try await with(nil, session: TokenSourceFixture.session, delay: 0.3) { fixture in
            let texts = try await fixture.run("ask-bound")
            #expect(texts.count == 1 && fixture.provider.count("token") == 1 && fixture.thumbprints.count == 1)
        }
    }

    @Test("A hundred tasks in four processes of a service cause one request, with one key")
    func serviceProcessesAskOnce() async throws {
        try await with(nil, delay: 0.3) { fixture in
            let texts = try await fixture.run("ask-service")
            #expect(texts.count == 1 && fixture.provider.count("token") == 1 && fixture.thumbprints.count == 1)
        }
    }

    @Test("After a kill before the refreshed token is saved, the key is still there and the next start uses it")
    func keepsKeyAfterKill() async throws {
        let token = try old(isRotated: false)
        try await with(token) { fixture in
            fixture.provider.change { $0.isRotating = false }
            let worker = try fixture.start("stall-bound")
            worker.closeInput()
            try await worker.waitForOutput { output, _ in output.contains("saving") }
            worker.signal(SIGKILL)
            let killed = await worker.end()
            let kept = try await fixture.store.token()
            #expect(killed.status == -SIGKILL && kept?.binding?.key == token.binding?.key && kept?.value == token.value)
            let texts = try await fixture.run("ask-bound", count: 1)
            #expect(texts.count == 1 && fixture.provider.count("token") == 2 && fixture.thumbprints.count == 1)
        }
    }

    @Test("After a kill before the first tokens are saved, no key is left, and the next start creates another one")
    func leavesNoKeyAfterKill() async throws {
        try await with(nil, session: TokenSourceFixture.session) { fixture in
            let worker = try fixture.start("stall-bound")
            worker.closeInput()
            try await worker.waitForOutput { output, _ in output.contains("saving") }
            worker.signal(SIGKILL)
            _ = await worker.end()
            let left = try await fixture.store.record()
            let texts = try await fixture.run("ask-bound", count: 1)
            #expect(left == nil && texts.count == 1 && fixture.thumbprints.count == 2)
        }
    }
}
#endif
