import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

#if os(Linux)
@Suite("A vault on a read-only file system", .enabled(if: SmallDisk.isPossible, "a small tmpfs cannot be mounted here"))
struct ReadOnlyVaultTests {
    private let key = RecordKey(.account, "Harbor Bank", "mira")

    /// Makes a vault whose last change is in the log beside its file, copies the files with these suffixes to a new file system,
    /// the first one up to a length, and runs `body` once that is read-only.
    private func withReadOnlyVault(
        _ suffixes: [String], isClosed: Bool = false, length: Int? = nil,
        _ body: (VaultDirectory) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { temporary in
            let source = VaultDirectory(path: temporary.file("source"))
            let vault = try source.createVault(.keyFile)
            try vault.put([1], key)
            let store = try #require(vault.store as? SQLiteStore)
            try store.checkpoint()
            try vault.put([2], key)
            if isClosed { try store.close() }
            try await SmallDisk.with(temporary.file("disk"), kilobytes: 512) { disk in
                let directory = VaultDirectory(path: disk.path)
                for suffix in suffixes {
                    var bytes = try Data(contentsOf: URL(filePath: source.recordsPath + suffix))
                    if suffix.isEmpty, let length { bytes = bytes.prefix(length) }
                    try PrivateFile.create(directory.recordsPath + suffix, containing: Array(bytes))
                }
                try PrivateFile.create(directory.keyPath, containing: PrivateFile.contents(of: source.keyPath, limit: 32))
                try disk.makeReadOnly()
                let before = try FileManager.default.contentsOfDirectory(atPath: disk.path).sorted()
                try await body(directory)
                let after = try FileManager.default.contentsOfDirectory(atPath: disk.path).sorted()
                #expect(after == before)
            }
            withExtendedLifetime(vault) {}
        }
    }

    @Test("A vault that was closed can be read, and a write is denied")
    func readsClosedVault() async throws {
        try await withReadOnlyVault([""], isClosed: true) { directory in
            let vault = try directory.openVault()
            #expect(try vault.get(key) == [2])
            #expect(try vault.damagedRecords().isEmpty)
            try vault.verifyRecords()
            #expect { try vault.put([3], key) } throws: { ($0 as? StoreError)?.code == .denied }
            #expect(try vault.get(key) == [2])
            #expect(try directory.header().id == vault.header.id)
        }
    }

    @Test("A vault with its last change in the log is read with that change, when the index of the log is there")
    func readsVaultWithLog() async throws {
        try await withReadOnlyVault(["", "-wal", "-shm"]) { directory in
            let value = try directory.openVault().get(key)
            #expect(value == [2])
        }
    }

    @Test("A vault whose log cannot be read is refused with that reason, and never read without its last change")
    func refusesUnreadableLog() async throws {
        try await withReadOnlyVault(["", "-wal"]) { directory in
            #expect { try directory.openVault() } throws: {
                ($0 as? StoreError)?.code == .denied && "\($0)".contains("vault.sqlite-wal")
            }
        }
    }

    @Test("A damaged file is reported as damaged", arguments: [0, 60, 5_000])
    func reportsDamagedVaultFile(length: Int) async throws {
        try await withReadOnlyVault([""], isClosed: true, length: length) { directory in
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
    }
}
#endif
