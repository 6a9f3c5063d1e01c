#if os(Linux)
import Foundation
import SignetCore
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing
import TestSupport

@Suite("Several processes over one vault")
struct ProcessTests {
    private struct VaultFixture {
        let directory: String
        let vault: VaultDirectory
        let store: SessionStore
        let provider: TestProvider

        func start(_ command: String) throws -> TestProcess {
            try TestProcess(Programs.built("TokenWorker"), [command, directory, provider.url], input: .open)
        }
    }

    private func with<R>(
        session: SSOToken? = TokenSourceFixture.session, token: AccessToken? = nil, _ change: TokenSourceFixture.Change,
        _ body: (VaultFixture) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let vault = VaultDirectory(path: directory.file("vault"))
            _ = try vault.createVault(.keyFile)
            let keychain = VaultProvider { () throws(StoreError) in try vault.openVault(timeout: 60) }
            let store = try SessionStore.keychain(account: "test", in: keychain, lockFile: "\(vault.path)/session.lock")
            if let session { try await store.save(session) }
            if let token { try await store.save(token) }
            return try await body(
                VaultFixture(directory: vault.path, vault: vault, store: store, provider: try TestProvider(change.body)))
        }
    }

    @Test(
        "A hundred tasks in four processes that ask for an expired token at once cause one refresh",
        arguments: [true, false], [3600, 30])
    func processesRefreshOnce(hasToken: Bool, lifetime: Int) async throws {
        try await with(
            token: hasToken ? TokenSourceFixture.old() : nil,
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.delay = 0.3
                $0.lifetime = lifetime
            }
        ) { fixture in
            let workers = try (0..<4).map { _ in try fixture.start("ask") }
            for worker in workers { worker.closeInput() }
            var texts: [String] = []
            for worker in workers {
                let end = await worker.end()
                #expect(end.status == 0, "\(end.output)\(end.errors)")
                texts += end.output.split(separator: "\n").map(String.init)
            }
            #expect(texts.count == 100 && Set(texts).count == 1)
            #expect(fixture.provider.count("token") == 1 && fixture.provider.now.reuses == 0)
            #expect(fixture.provider.count("authorize") == (hasToken ? 0 : 1))
            #expect(try await fixture.store.token().map(\.authorization) == texts.first)
        }
    }

    /// Kills a worker after the server has responded and before the token is stored.
    private func killBeforeSaving(_ fixture: VaultFixture) async throws {
        let worker = try fixture.start("stall")
        worker.closeInput()
        try await worker.waitForOutput { output, _ in output.contains("saving") }
        #expect(fixture.provider.count("token") == 1)
        worker.signal(SIGKILL)
        #expect(await worker.end().status == -SIGKILL)
    }

    @Test("After a kill before the refreshed token is saved, the next start gets new tokens from the session")
    func recoversFromKillWithSession() async throws {
        try await with(token: TokenSourceFixture.old(), .set { TokenSourceFixture.addOldToken(&$0) }) { fixture in
            try await killBeforeSaving(fixture)
            let next = try fixture.start("ask")
            next.closeInput()
            let end = await next.end()
            #expect(end.status == 0, "\(end.output)\(end.errors)")
            #expect(fixture.provider.now.reuses == 0 && fixture.provider.count("authorize") == 1)
        }
    }

    @Test("After a kill before saving, a refresh token without rotation is used again if there is no session")
    func recoversFromKillWithoutRotation() async throws {
        try await with(
            session: nil, token: TokenSourceFixture.old(session: nil, isRotated: false),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.isRotating = false
            }
        ) { fixture in
            try await killBeforeSaving(fixture)
            let next = try fixture.start("ask")
            next.closeInput()
            #expect(await next.end().status == 0)
            #expect(fixture.provider.count("token") == 2)
        }
    }

    @Test("After a kill before saving, a rotated refresh token without a session leads to a required login")
    func reportsLoginAfterKillWithRotation() async throws {
        try await with(session: nil, token: TokenSourceFixture.old(session: nil), .set { TokenSourceFixture.addOldToken(&$0) }) {
            fixture in
            try await killBeforeSaving(fixture)
            let next = try fixture.start("ask")
            next.closeInput()
            let end = await next.end()
            #expect(end.status == 1 && end.output.contains("loginRequired"), "\(end.status) \(end.output)\(end.errors)")
            #expect(try await fixture.store.token() == nil)
        }
    }
}
#endif
