import Crypto
import Foundation
import SignetCore
import SignetStorage
import SignetTesting

/// A new data key for ten thousand records, beside what cannot be avoided: to open and to seal each, and to write all of them in
/// one transaction.
enum VaultRows {
    private static let records = 10_000

    static func measure() async throws -> [Row] {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let vault = try vault(in: directory)
        let bare = try BareRecords(path: directory.path + "/bare", count: records, size: vault.sealedSize)
        var race = Race(
            ours: .calls("Vault.rotateKey") { _ in
                try vault.vault.rotateKey { _ in vault.key }
                return 1
            },
            reference: .calls("AES.GCM open and seal, one transaction") { _ in try bare.resealAll() })
        race.rounds = 7
        return [Row("rotation of 10,000 records", try await race.run(), .atMost(1.5))]
    }

    private static func vault(in directory: TemporaryDirectory) throws -> (vault: Vault, key: KeyFile, sealedSize: Int) {
        let vaultDirectory = VaultDirectory(path: directory.path + "/vault")
        let vault = try vaultDirectory.createVault(.keyFile)
        let content = [UInt8](repeating: 7, count: 1024)
        try vault.write { (writer: any RecordWriter) throws(StoreError) in
            for number in 0..<records { try writer.put(content, RecordKey(.item, String(number))) }
        }
        return (vault, KeyFile(path: vaultDirectory.keyPath), content.count)
    }
}

/// As many records of the same size, sealed with nothing but AES-GCM, in a store of the same kind.
private final class BareRecords {
    private let store: SQLiteStore
    private var key = SymmetricKey(size: .bits256)

    init(path: String, count: Int, size: Int) throws {
        store = try SQLiteStore(path: path, creating: true)
        let content = [UInt8](repeating: 7, count: size)
        let key = key
        try store.write { (writer: any RecordWriter) throws(StoreError) in
            for number in 0..<count {
                let name = Array(SHA256.hash(data: Data(String(number).utf8)).prefix(16))
                try writer.put(Self.sealed(content, key), RecordKey(.item, name: name))
            }
        }
    }

    func resealAll() throws -> Int {
        let (old, new) = (key, SymmetricKey(size: .bits256))
        let count = try store.write { (writer: any RecordWriter) throws(StoreError) in
            var count = 0
            try writer.forEachRecord(of: .item) { (record) throws(StoreError) in
                let bytes = try Self.opened(try record.content.get(), old)
                try writer.put(Self.sealed(bytes, new), RecordKey(.item, name: record.name))
                count += 1
            }
            return count
        }
        key = new
        return count
    }

    private static func sealed(_ bytes: [UInt8], _ key: SymmetricKey) throws(StoreError) -> [UInt8] {
        guard let combined = try? AES.GCM.seal(bytes, using: key).combined else {
            throw StoreError(.failed, "seal", "AES-GCM failed")
        }
        return Array(combined)
    }

    private static func opened(_ bytes: [UInt8], _ key: SymmetricKey) throws(StoreError) -> [UInt8] {
        guard let box = try? AES.GCM.SealedBox(combined: Data(bytes)), let opened = try? AES.GCM.open(box, using: key) else {
            throw StoreError(.corrupt, "open", "AES-GCM failed")
        }
        return Array(opened)
    }
}
