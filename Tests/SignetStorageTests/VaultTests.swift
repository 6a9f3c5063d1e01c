import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("A vault")
struct VaultTests {
    private let key = RecordKey(.account, "Harbor Bank", "mira")
    private let content = Array("the secret of Harbor Bank".utf8)

    private func withVault(_ body: (VaultDirectory) async throws -> Void) async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            _ = try directory.createVault(.keyFile)
            try await body(directory)
        }
    }

    @Test("A vault opens again with everything in it")
    func reopensVault() async throws {
        try await withVault { directory in
            try directory.openVault().put(content, key)
            #expect(try directory.openVault().get(key) == content)
        }
    }

    @Test("The files of a vault contain no identity and no content")
    func sealsIdentityAndContent() async throws {
        try await withVault { directory in
            try directory.openVault().put(content, key)
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                let bytes = try Data(contentsOf: URL(filePath: "\(directory.path)/\(name)"))
                for text in ["Harbor", "mira", "secret"] {
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) was found in \(name)")
                }
            }
        }
    }

    @Test("Creating a vault a second time fails and changes nothing")
    func refusesSecondCreationOfVault() async throws {
        try await withVault { directory in
            try directory.openVault().put(content, key)
            #expect(throws: StoreError.self) { try directory.createVault(.keyFile) }
            #expect(try directory.openVault().get(key) == content)
        }
    }

    @Test("Of twenty tasks that create a vault at the same time one succeeds")
    func createsVaultOnceConcurrently() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let made = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { (try? directory.createVault(.keyFile)) != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(made == 1)
            #expect(throws: Never.self) { try directory.openVault() }
        }
    }

    @Test("A vault can be created where an earlier attempt was killed half-way")
    func createsVaultAfterCrash() async throws {
        try await TemporaryDirectory.with { temporary in
            let directory = VaultDirectory(path: temporary.path)
            try Data("half".utf8).write(to: URL(filePath: directory.recordsPath + ".new"))
            _ = try KeyFile.create(path: directory.keyPath)
            try directory.createVault(.keyFile).put(content, key)
            #expect(try directory.openVault().get(key) == content)
        }
    }

    @Test("Opening a missing vault reports that there is none, and creates nothing")
    func reportsMissingVaultAtOpening() async throws {
        try await TemporaryDirectory.with { temporary in
            for path in [temporary.file("nowhere"), temporary.path] {
                #expect { try VaultDirectory(path: path).openVault() } throws: { ($0 as? StoreError)?.code == .noVault }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
            #expect(names.isEmpty)
        }
    }

    @Test("A vault without its key is unavailable, with another key is mismatched, and is left unchanged")
    func reportsLostKey() async throws {
        try await withVault { directory in
            try directory.openVault().put(content, key)
            let kept = directory.keyPath + ".kept"
            try FileManager.default.moveItem(atPath: directory.keyPath, toPath: kept)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .keyUnavailable }
            _ = try KeyFile.create(path: directory.keyPath)
            #expect { try directory.openVault() } throws: { ($0 as? StoreError)?.code == .keyMismatch }
            try FileManager.default.removeItem(atPath: directory.keyPath)
            try FileManager.default.moveItem(atPath: kept, toPath: directory.keyPath)
            #expect(try directory.openVault().get(key) == content)
        }
    }

    @Test("A vault refuses a record with any byte changed, and never takes it for absent")
    func refusesTamperedRecord() throws {
        let (vault, inner) = try vaultInMemory()
        try vault.put(content, key)
        let account = inner.dump().first { $0.key.kind == .account }
        let (name, sealed) = try #require(account)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            try inner.put(changed, name)
            #expect { try vault.get(key) } throws: { Self.isRefusal($0) }
            #expect { try vault.all(.account) } throws: { Self.isRefusal($0) }
        }
        for length in 0..<sealed.count {
            try inner.put(Array(sealed[..<length]), name)
            #expect { try vault.get(key) } throws: { Self.isRefusal($0) }
        }
    }

    /// Returns true for a refusal.
    ///
    /// A changed key number or version is trusted only to name the missing one.
    private static func isRefusal(_ error: any Error) -> Bool {
        [.corrupt, .keyMismatch, .newerFormat].contains((error as? StoreError)?.code)
    }

    @Test("A vault refuses a record that was moved to another name or another kind")
    func refusesSwappedRecord() throws {
        let (vault, inner) = try vaultInMemory()
        try vault.put([1], RecordKey(.account, "mine"))
        try vault.put([2], RecordKey(.account, "theirs"))
        let records = inner.dump().filter { $0.key.kind == .account }
        let (first, second) = (records[0], records[1])
        try inner.put(second.value, first.key)
        try inner.put(first.value, second.key)
        for owner in ["mine", "theirs"] {
            #expect { try vault.get(RecordKey(.account, owner)) } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
        try inner.put(first.value, RecordKey(.mechanism, name: first.key.name))
        #expect { try vault.all(.mechanism) } throws: { ($0 as? StoreError)?.code == .corrupt }
    }

    @Test("A vault of a newer format is refused and left unchanged")
    func refusesNewerFormat() throws {
        let (_, inner) = try vaultInMemory()
        let headerRecord = inner.dump().first { $0.key.kind == .vault }
        let (name, header) = try #require(headerRecord)
        let newer = String(decoding: header, as: UTF8.self).replacingOccurrences(of: "\"format\":2", with: "\"format\":3")
        try #require(newer.contains("\"format\":3"))
        try inner.put(Array(newer.utf8), name)
        #expect { try Vault.open(inner, protectors: []) } throws: { ($0 as? StoreError)?.code == .newerFormat }
        #expect(try inner.get(name) == Array(newer.utf8))
    }

    @Test("A vault that no protector can open names the protector that sealed it")
    func namesUnknownProtector() throws {
        let (_, inner) = try vaultInMemory()
        #expect { try Vault.open(inner, protectors: []) } throws: { error in
            (error as? StoreError)?.code == .keyUnavailable && "\(error)".contains("keyfile")
        }
    }

    private func vaultInMemory() throws -> (Vault, DumpableStore) {
        let inner = DumpableStore()
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        return (try Vault.create(in: inner, protector: KeyFile.create(path: directory.file("key"))), inner)
    }
}

/// A memory store whose content a test can inspect.
final class DumpableStore: RecordStore {
    private let inner = MemoryStore()
    private let names = NameList()

    func dump() -> [(key: RecordKey, value: [UInt8])] {
        names.all.compactMap { name in ((try? inner.get(name)) ?? nil).map { (name, $0) } }
    }

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try inner.read(body)
    }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try body(RecordingWriter(records: records, names: names))
        }
    }

    private struct RecordingWriter: RecordWriter {
        let records: any RecordWriter
        let names: NameList
        func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? { try records.record(key) }
        func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
            try records.records(kind, after: name, limit: limit)
        }
        func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
            names.add(key)
            try records.put(bytes, key)
        }
        func remove(_ key: RecordKey) throws(StoreError) { try records.remove(key) }
    }
}
