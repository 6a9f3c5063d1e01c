import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

/// Vaults as released versions wrote them.
///
/// These files are never made again: a user's old vault must still open. Version 1 wrote its own; that of format 2 was made by a
/// script in another language, from docs/reference/vault-format.md alone.
@Suite("A vault of an earlier version")
struct FrozenFormatTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// The content of each of these vaults.
    private static let contents: [RecordKey: [UInt8]] = [
        RecordKey(.account, "Harbor Bank", "mira"): Array(#"{"id":"an account"}"#.utf8),
        RecordKey(.mechanism, "7C2B9E1A-0000-4000-8000-000000000001"): Array(#"{"secret":"a mechanism"}"#.utf8),
        RecordKey(.notification, "AUTHENTICATE:1"): Array("ü🚀".utf8),
        RecordKey(.item, "ACCESS_TOKEN_STORAGE"): (0...255).map { UInt8($0) },
        RecordKey(.item, "empty"): [],
    ]

    /// The content that a vault of format 2 has in addition: records of the kinds that are reserved.
    private static let reserved: [RecordKey: [UInt8]] = [
        RecordKey(.group, "0B6F5A1E-0000-4000-8000-000000000001"): Array(#"{"name":"a group"}"#.utf8),
        RecordKey(.icon, "0B6F5A1E-0000-4000-8000-000000000002"): Array(#"{"data":"","type":"image/png"}"#.utf8),
        RecordKey(.tombstone, "account", "Harbor Bank", "noa"): Array(#"{"removedAt":0}"#.utf8),
    ]

    /// A frozen vault.
    struct Frozen: CustomTestStringConvertible {
        let version: String
        let id: String
        let quarantined: [[UInt8]]

        var testDescription: String { version }

        static let all = [
            Frozen(version: "v1", id: "2D464B00-C923-4B51-981B-CFF7E12936A5", quarantined: []),
            Frozen(
                version: "v2", id: "5E0B7D42-3C1A-4F6E-9A57-D1C20B8F4E93", quarantined: [Array("not a record".utf8)]),
        ]

        var contents: [RecordKey: [UInt8]] {
            version == "v1"
                ? FrozenFormatTests.contents : FrozenFormatTests.contents.merging(FrozenFormatTests.reserved) { $1 }
        }
    }

    /// Copies the fixture to a private directory, as the vault requires.
    static func copy(of version: String, to path: String) throws -> VaultDirectory {
        try FrozenFiles.copy(["vault.sqlite", "vault.key"], from: folder.appending(path: version), to: path)
        return VaultDirectory(path: path)
    }

    @Test("A vault of an earlier version opens with all its records, can be written to and rotated", arguments: Frozen.all)
    func opensEarlierVault(frozen: Frozen) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = try Self.copy(of: frozen.version, to: temporary.file("vault"))
            let vault = try directory.openVault()
            for (key, bytes) in frozen.contents { #expect(try vault.get(key) == bytes) }
            #expect(vault.header.id == frozen.id)
            #expect(try vault.damagedRecords().isEmpty)
            #expect(try vault.all(.quarantined) == frozen.quarantined)
            try vault.rotateKey { _ in KeyFile(path: directory.keyPath) }
            try vault.put([1], RecordKey(.item, "new"))
            let again = try directory.openVault()
            for (key, bytes) in frozen.contents { #expect(try again.get(key) == bytes) }
            #expect(try again.get(RecordKey(.item, "new")) == [1])
            try again.verifyRecords()
        }
    }

    @Test("A vault of version 1 is upgraded by its first write, in the same transaction, and keeps its records")
    func upgradesVersionOne() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = try Self.copy(of: "v1", to: temporary.file("vault"))
            #expect(try directory.header().format == 1)
            try directory.openVault().put([1], RecordKey(.item, "new"))
            let upgraded = try directory.header()
            #expect(upgraded.format == 2 && upgraded.records?.count == UInt64(Self.contents.count + 1))
            let vault = try directory.openVault()
            for (key, bytes) in Self.contents { #expect(try vault.get(key) == bytes) }
            try vault.verifyRecords()
        }
    }
}
