import Foundation
import SignetStorage

/// One item of a keychain, in a vault over SQLite: from the cache, and from the vault, each beside the vault's bare record.
enum ItemRows {
    static func measure() async throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "signet-bench-items-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let location = VaultDirectory(path: directory.path(percentEncoded: false))
        let vault = try location.createVault(.keyFile)
        // As the default keychain opens it.
        let keychain = VaultProvider { () throws(StoreError) in try DefaultStore.open(in: location) }
        let stored = KeychainStorage<Session>(account: "session", in: keychain)
        let cached = KeychainStorage<Session>(account: "session", cacheable: true, in: keychain)
        try await stored.save(item: Session())

        let fromCache = Contender.asyncCalls("KeychainStorage.get, cached") { _ in try await length(cached.get()) }
        let fromVault = Contender.asyncCalls("KeychainStorage.get") { _ in try await length(stored.get()) }
        let record = Contender.calls("Vault.read") { _ in
            try vault.read { (records) throws(StoreError) in try records.record(RecordKey(.item, "session")) }?.count ?? 0
        }
        return [
            Row(
                "cached item, beside its record in SQLite", try await Race(ours: fromCache, reference: record).run(), .atMost(0.1)
            ),
            Row("item, beside its record in SQLite", try await Race(ours: fromVault, reference: record).run(), .atMost(3)),
        ]
    }

    private static func length(_ session: Session?) throws -> Int {
        guard let session else { throw BenchError("the item is not there") }
        return session.token.utf8.count
    }

    /// An item of an app, about 1 KiB.
    private struct Session: Codable {
        var token = String(repeating: "AQIC5wM2LY4Sfcw", count: 66)
        var realm = "alpha"
    }
}
