import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

/// Vaults that released versions of `signet` wrote (`scripts/freeze-formats`).
@Suite("A vault of a released version")
struct ReleasedVaultTests {
    /// The releases with a folder in `Fixtures`.
    ///
    /// The folders `v1` and `v2` are named by the format instead.
    static let versions = ReleasedVersion.all(in: "SignetStorageTests")

    @Test("The vault of the first release is frozen")
    func firstVaultIsFrozen() {
        #expect(Self.versions.contains("0.1.0"))
    }

    @Test("A released vault opens with all its records, and can be written to", arguments: versions)
    func opensReleasedVault(version: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = try FrozenFormatTests.copy(of: version, to: temporary.file("vault"))
            try Self.expectContents(of: directory.openVault())
            try directory.openVault().put([1], RecordKey(.item, "new"))
            let vault = try directory.openVault()
            try vault.remove(RecordKey(.item, "new"))
            try Self.expectContents(of: vault)
            try vault.verifyRecords()
        }
    }

    @Test("A vault of a newer format is refused, and no byte of its directory changes", arguments: versions)
    func refusesNewerVault(version: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = try FrozenFormatTests.copy(of: version, to: temporary.file("vault"))
            try Self.makeNewer(directory)
            let before = try Self.files(of: directory)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .newerFormat }
            #expect { try directory.openVault(acceptingRollback: true) } throws: { ($0 as? StoreError)?.code == .newerFormat }
            #expect { try directory.header() } throws: { ($0 as? StoreError)?.code == .newerFormat }
            #expect { try directory.createVault(.keyFile) } throws: { ($0 as? StoreError)?.code == .exists }
            #expect(try Self.files(of: directory) == before)
        }
    }

    /// Expects what `scripts/freeze-formats` has stored.
    private static func expectContents(of vault: Vault) throws {
        for (issuer, name) in [("Harbor Bank", "mira"), ("Zwölf", "noa"), ("Signet", "demo")] {
            let bytes = try vault.get(RecordKey(.account, issuer, name))
            let account = try JSON.value(of: try #require(bytes))
            #expect(account["id"]?["issuer"]?.string == issuer && account["id"]?["accountName"]?.string == name)
        }
        let mechanisms = try vault.all(.mechanism).count
        let (messages, items) = (try vault.all(.notification).count, try vault.all(.item).count)
        #expect(mechanisms == 3 && messages == 1 && items == 4)
        let (damaged, quarantined) = (try vault.damagedRecords(), try vault.all(.quarantined))
        #expect(damaged.isEmpty && quarantined.isEmpty)
    }

    /// Gives the header of a vault the format that a later version would write.
    private static func makeNewer(_ directory: VaultDirectory) throws {
        let format = try directory.header().format
        let store = try directory.openRecords()
        let header = try store.get(.vaultHeader)
        let text = String(decoding: try #require(header), as: UTF8.self)
        let newer = text.replacing("\"format\":\(format)", with: "\"format\":\(VaultHeader.currentFormat + 1)")
        #expect(newer != text)
        try store.put(Array(newer.utf8), .vaultHeader)
        try store.checkpoint()
        try store.close()
    }

    private static func files(of directory: VaultDirectory) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            files[name] = try Data(contentsOf: URL(filePath: "\(directory.path)/\(name)"))
        }
        return files
    }
}
