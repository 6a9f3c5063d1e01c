import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

/// Vaults as released versions wrote them.
///
/// These files are never made again: a user's old vault must still open.
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

    /// Copies the fixture to a private directory, as the vault requires.
    private func copy(of version: String, to path: String) throws -> VaultDirectory {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in ["vault.sqlite", "vault.key"] {
            let bytes = try Data(contentsOf: Self.folder.appending(path: "\(version)/\(name)"))
            #expect(
                FileManager.default.createFile(
                    atPath: "\(path)/\(name)", contents: bytes, attributes: [.posixPermissions: 0o600]))
        }
        return VaultDirectory(path: path)
    }

    @Test("A vault of an earlier version opens with all its records, can be written to and rotated", arguments: ["v1"])
    func opensEarlierVault(version: String) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = try copy(of: version, to: temporary.file("vault"))
            let vault = try directory.openVault()
            for (key, bytes) in Self.contents { #expect(try vault.get(key) == bytes) }
            #expect(vault.header.id == "2D464B00-C923-4B51-981B-CFF7E12936A5")
            #expect(try vault.damagedRecords().isEmpty)
            try vault.rotateKey { _ in KeyFile(path: directory.keyPath) }
            try vault.put([1], RecordKey(.item, "new"))
            let again = try directory.openVault()
            for (key, bytes) in Self.contents { #expect(try again.get(key) == bytes) }
            #expect(try again.get(RecordKey(.item, "new")) == [1])
        }
    }
}
