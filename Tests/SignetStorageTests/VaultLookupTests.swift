import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

/// A vault that is opened to find one account: single records are proved by an index, and the others by the digest of all.
@Suite("A vault that is opened for a lookup")
struct VaultLookupTests {
    private static let count = Vault.recordsVerifiedAtLookup + 1
    private static func key(_ number: Int) -> RecordKey { RecordKey(.item, String(number)) }

    private func isRolledBack(_ error: any Error) -> Bool { (error as? StoreError)?.code == .rolledBack }

    /// A vault with many records, one of which was written twice, and the store as it was before.
    private struct Sample {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault: Vault
        let old: [RecordKey: [UInt8]]

        init(_ count: Int = VaultLookupTests.count) throws {
            vault = try Vault.create(in: store, protector: protector)
            try vault.write { (records: any RecordWriter) throws(StoreError) in
                for number in 0..<count { try records.put([1], key(number)) }
            }
            old = try store.dump()
            try vault.put([2], key(0))
        }

        func open() throws -> Vault { try Vault.openForLookup(store, protectors: [protector]) }

        /// Puts the first version of a record back.
        func putBack(_ number: Int) throws {
            let hidden = vault.keys.hiddenName(key(number))
            try store.put(try #require(old[hidden]), hidden)
        }

        /// Trusts a record as it is in the store.
        func trust(_ number: Int, in vault: Vault) throws {
            let sealed = try #require(try store.get(vault.keys.hiddenName(key(number))))
            try vault.read { (records: any RecordReader) throws(StoreError) in
                (records as? any LookupReader)?.trust(key(number), mark: Array(VaultKeys.nonce(of: sealed)))
            }
        }
    }

    @Test("With few records it is verified at once")
    func verifiesSmallVaultAtOnce() throws {
        let sample = try Sample(Self.count - 1)
        #expect(try !sample.open().isVerificationDue)
        try sample.putBack(0)
        #expect { try sample.open() } throws: { isRolledBack($0) }
    }

    @Test(
        "A record that an index has proved is read without the others, and any other one verifies the vault", arguments: [0, 1])
    func readsProvedRecordAlone(number: Int) throws {
        let sample = try Sample()
        let vault = try sample.open()
        try sample.trust(number, in: vault)
        #expect(try vault.get(Self.key(number)) == [number == 0 ? 2 : 1])
        #expect(vault.isVerificationDue)
        #expect(try vault.get(Self.key(2)) == [1])
        #expect(!vault.isVerificationDue)
        #expect(try vault.get(Self.key(number)) == [number == 0 ? 2 : 1])
    }

    /// The calls that verify the vault.
    enum Call: CaseIterable {
        case read, readMissing, readPutBack, list, write, writeNothing, swallow

        func make(in vault: Vault) throws {
            switch self {
            case .read: _ = try vault.get(key(2))
            case .readMissing: _ = try vault.get(key(-1))
            case .readPutBack: _ = try vault.get(key(0))
            case .list:
                _ = try vault.read { (records: any RecordReader) throws(StoreError) in
                    try records.records(.item, after: nil, limit: 1)
                }
            case .write: try vault.put([3], key(3))
            case .writeNothing: try vault.write { (_: any RecordWriter) throws(StoreError) in }
            case .swallow:
                try vault.read { (records: any RecordReader) throws(StoreError) in
                    for number in 2..<4 { _ = try? records.record(key(number)) }
                }
            }
        }
    }

    @Test("A record that was put back is noticed by the first call that needs another record", arguments: Call.allCases)
    func noticesOlderRecord(call: Call) throws {
        let sample = try Sample()
        let vault = try sample.open()
        try sample.trust(0, in: vault)
        try sample.putBack(0)
        let before = try sample.store.dump()
        for _ in 0..<2 { #expect { try call.make(in: vault) } throws: { isRolledBack($0) } }
        #expect(vault.isVerificationDue)
        #expect(try sample.store.dump() == before)
    }

    @Test("A record that was removed is noticed, also when an index has proved it", arguments: [true, false])
    func noticesRemovedRecord(isTrusted: Bool) throws {
        let sample = try Sample()
        let vault = try sample.open()
        if isTrusted { try sample.trust(1, in: vault) }
        try sample.store.remove(vault.keys.hiddenName(Self.key(1)))
        #expect { try vault.get(Self.key(1)) } throws: { isRolledBack($0) }
    }

    @Test("A record that another process has written meanwhile is read after a verification")
    func readsRecordOfOtherProcess() throws {
        let sample = try Sample()
        let vault = try sample.open()
        try sample.trust(1, in: vault)
        try sample.vault.put([7], Self.key(1))
        #expect(try vault.get(Self.key(1)) == [7])
        #expect(!vault.isVerificationDue)
    }

    @Test("A record with the right mark and other content is damage")
    func refusesDamageBehindMark() throws {
        let sample = try Sample()
        let vault = try sample.open()
        try sample.trust(1, in: vault)
        let hidden = vault.keys.hiddenName(Self.key(1))
        var bytes = try #require(try sample.store.get(hidden))
        bytes[bytes.count - 1] ^= 1
        try sample.store.put(bytes, hidden)
        #expect { try vault.get(Self.key(1)) } throws: { ($0 as? StoreError)?.code == .corrupt }
    }

    @Test("The state of the accounts is that of the header, before and after a transaction that changes it")
    func reportsAccountsState() throws {
        let sample = try Sample(1)
        func state(_ vault: Vault) throws -> AccountsState? {
            try vault.read { (records: any RecordReader) throws(StoreError) in
                try (records as? any LookupReader)?.accountsState()
            }
        }
        let before = try #require(try state(sample.vault))
        let account = RecordKey(.account, "a")
        let (old, next, marks) = try sample.vault.write { (records: any RecordWriter) throws(StoreError) in
            let lookups = records as? any LookupWriter
            try records.put([1], account)
            let marks = [try lookups?.mark(of: account), try lookups?.mark(of: Self.key(0)), try lookups?.mark(of: Self.key(-1))]
            return (try lookups?.accountsState(), try lookups?.nextAccountsState(), marks)
        }
        #expect(old == before && next?.version == before.version + 1 && next?.keyID == before.keyID)
        #expect(try state(sample.vault) == next)
        let stored = try [account, Self.key(0)].map { try sample.store.get(sample.vault.keys.hiddenName($0)) ?? [] }
        let nonces: [[UInt8]?] = stored.map { Array($0[8..<20]) } + [nil]
        #expect(marks == nonces)
        try sample.vault.rotateKey { _ in sample.protector }
        let rotated = try state(sample.vault)
        #expect(rotated?.version == next?.version && rotated?.keyID != next?.keyID)
    }

    @Test("The pages of a file are checked with the records, and not when it is opened")
    func postponesCheckOfPages() async throws {
        try await TemporaryDirectory.with(inMemory: true) { temporary in
            let directory = VaultDirectory(path: temporary.file("vault"))
            let vault = try directory.createVault(.keyFile)
            let content = [UInt8](repeating: 7, count: 8_000)
            try vault.write { (records: any RecordWriter) throws(StoreError) in
                for number in 0..<Self.count { try records.put(content, Self.key(number)) }
            }
            try (vault.store as? SQLiteStore)?.close()
            let pages = try Data(contentsOf: URL(filePath: directory.recordsPath)).count / 4_096
            try #require(pages > SQLiteIntegrity.pagesCheckedAtLookup && pages <= SQLiteIntegrity.pagesCheckedAtOpen)
            // Pages of overflow chains, one of which now ends too early.
            let file = try FileHandle(forUpdating: URL(filePath: directory.recordsPath))
            for page in [pages / 2, pages / 2 + 1] {
                try file.seek(toOffset: UInt64(page) * 4_096)
                try file.write(contentsOf: [UInt8](repeating: 0, count: 4))
            }
            try file.close()
            let isCorrupt: (any Error) -> Bool = { ($0 as? StoreError)?.code == .corrupt }
            #expect { try directory.openVault() } throws: { isCorrupt($0) }
            let damaged = try directory.openVaultForLookup()
            #expect(damaged.isVerificationDue)
            #expect { try damaged.get(Self.key(0)) } throws: { isCorrupt($0) }
            #expect { try damaged.put([1], Self.key(0)) } throws: { isCorrupt($0) }
        }
    }
}
