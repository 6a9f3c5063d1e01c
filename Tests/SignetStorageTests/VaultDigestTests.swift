import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

/// Attacks of a user who can write the store, but has no key and no whole older copy.
@Suite("Single records that were put back or removed")
struct VaultDigestTests {
    private let key = RecordKey(.mechanism, "counter")

    private func isRolledBack(_ error: any Error) -> Bool { (error as? StoreError)?.code == .rolledBack }

    /// A vault of five records, the last of which was written twice, and its store as it was before.
    private struct Sample {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault: Vault
        let old: [RecordKey: [UInt8]]

        init(_ key: RecordKey) throws {
            vault = try Vault.create(in: store, protector: protector)
            for number in 0..<4 { try vault.put([UInt8(number)], RecordKey(.account, String(number))) }
            try vault.put([1], key)
            old = try store.dump()
            try vault.put([2], key)
        }

        func open() throws -> Vault { try Vault.open(store, protectors: [protector]) }

        /// The stored records of a kind, in the order of their names.
        func stored(_ kind: RecordKind) throws -> [RecordKey] {
            try store.dump().keys.filter { $0.kind == kind }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        }
    }

    /// The changes that need no key.
    enum Attack: CaseIterable {
        case putBack, remove, removeAll, swap, copy, putBackRemoved, duplicateUnderOtherKind

        /// The error: records in the place of others do not open, as damaged ones.
        var expected: StoreError.Code { self == .swap ? .corrupt : .rolledBack }
    }

    private func apply(_ attack: Attack, to sample: Sample) throws {
        let mechanism = try #require(try sample.stored(.mechanism).first)
        let accounts = try sample.stored(.account)
        switch attack {
        case .putBack: try sample.store.put(try #require(sample.old[mechanism]), mechanism)
        case .remove: try sample.store.remove(accounts[0])
        case .removeAll: for account in accounts { try sample.store.remove(account) }
        case .swap:
            let bytes = try accounts.prefix(2).map { try sample.store.get($0) ?? [] }
            try sample.store.put(bytes[1], accounts[0])
            try sample.store.put(bytes[0], accounts[1])
        case .copy: try sample.store.put(try #require(try sample.store.get(accounts[0])), RecordKey(.account, name: [7]))
        case .putBackRemoved:
            try sample.vault.remove(key)
            try sample.store.put(try #require(sample.old[mechanism]), mechanism)
        case .duplicateUnderOtherKind:
            try sample.store.put(try #require(try sample.store.get(accounts[0])), RecordKey(.item, name: accounts[0].name))
        }
    }

    @Test("A record put back, removed, moved or added is noticed at open, and nothing is changed", arguments: Attack.allCases)
    func noticesChangedRecords(attack: Attack) throws {
        let sample = try Sample(key)
        try apply(attack, to: sample)
        let before = try sample.store.dump()
        #expect { try sample.open() } throws: { ($0 as? StoreError)?.code == attack.expected }
        #expect { try sample.vault.verifyRecords() } throws: { ($0 as? StoreError)?.code == attack.expected }
        #expect(try sample.store.dump() == before)
    }

    @Test("Damage at the beginning of a record is damage, and not an older copy", arguments: [0, 2, 3, 5, 9, 19])
    func reportsDamagedBeginning(index: Int) throws {
        let sample = try Sample(key)
        let account = try sample.stored(.account)[0]
        var bytes = try #require(try sample.store.get(account))
        bytes[index] ^= 1
        try sample.store.put(bytes, account)
        let before = try sample.store.dump()
        #expect { try sample.open() } throws: {
            ($0 as? StoreError)?.code == .corrupt && "\($0)".contains("1 of its 5 records are damaged")
        }
        #expect { try sample.vault.rotateKey { _ in sample.protector } } throws: { ($0 as? StoreError)?.code == .corrupt }
        #expect(try sample.store.dump() == before)
        // A record of an older copy does not hide behind the damage.
        let mechanism = try #require(try sample.stored(.mechanism).first)
        try sample.store.put(try #require(sample.old[mechanism]), mechanism)
        #expect { try sample.open() } throws: { ($0 as? StoreError)?.code == .corrupt }
    }

    @Test("The user can go on with the records that are there", arguments: Attack.allCases)
    func acceptsRecords(attack: Attack) throws {
        let sample = try Sample(key)
        try apply(attack, to: sample)
        let accepted = try Vault.open(sample.store, protectors: [sample.protector], acceptingRollback: true)
        try accepted.put([9], key)
        #expect(try sample.open().get(key) == [9])
        try sample.open().verifyRecords()
    }

    @Test("A process that has the vault open does not write over a record of its own that was put back")
    func noticesPutBackWhileOpen() throws {
        let sample = try Sample(key)
        try apply(.putBack, to: sample)
        #expect { try sample.vault.put([3], key) } throws: { isRolledBack($0) }
        let other = RecordKey(.account, "0")
        try sample.vault.put([7], other)
        #expect { try sample.open() } throws: { isRolledBack($0) }
    }

    @Test(
        "A process that has the vault open writes no counter over a mechanism of another process that was put back",
        arguments: [true, false])
    func noticesForeignMechanismPutBackWhileOpen(otherWrites: Bool) throws {
        let sample = try Sample(key)
        // This process has not sealed the mechanism itself.
        let open = try sample.open()
        if otherWrites { try sample.vault.put([3], key) }
        let before = try sample.store.dump()
        try apply(.putBack, to: sample)
        let put = try sample.store.dump()
        #expect { try open.put([2, 1], key) } throws: { isRolledBack($0) }
        #expect(try sample.store.dump() == put)
        for (name, bytes) in before { try sample.store.put(bytes, name) }
        for number in 4..<7 { try open.put([UInt8(number)], key) }
        #expect(try sample.open().get(key) == [6])
    }

    @Test("A mechanism that was verified at open is written at the same cost, however many there are")
    func writesVerifiedMechanismAtConstantCost() throws {
        let (inner, protector) = (MemoryStore(), InMemoryKeyProtector())
        try Vault.create(in: inner, protector: protector).write { (records: any RecordWriter) throws(StoreError) in
            for number in 0..<300 { try records.put([1], RecordKey(.mechanism, String(number))) }
        }
        let store = FaultyStore(inner)
        let vault = try Vault.open(store, protectors: [protector])
        store.reset()
        for number in 0..<3 { try vault.put([2], RecordKey(.mechanism, String(number))) }
        #expect(!store.calls.map(\.operation).contains(.records))
    }

    @Test("A rotation does not vouch for a record that was put back while the vault is open")
    func rotationNoticesPutBack() throws {
        let sample = try Sample(key)
        try apply(.putBack, to: sample)
        let before = try sample.store.dump()
        #expect { try sample.vault.rotateKey { _ in sample.protector } } throws: { isRolledBack($0) }
        #expect(try sample.store.dump() == before)
    }

    @Test("The stored header is the JSON of its members, sorted, after any number of writes")
    func storesHeaderAsSortedJSON() throws {
        let sample = try Sample(key)
        for number in 0..<100 {
            try sample.vault.put([UInt8(number)], key)
            let bytes = try #require(try sample.store.get(.vaultHeader))
            #expect(bytes == JSON.encode(try JSON.value(of: bytes)))
            #expect(bytes == JSON.encode(sample.vault.header))
        }
    }

    @Test("A large vault is read at once, and verified at the first write, by a change of its slots and on request")
    func verifiesLargeVaultAtFirstWrite() throws {
        let sample = try Sample(key)
        var header = sample.vault.header
        var digest = sample.vault.keys.digest(in: try #require(header.records))
        digest += RecordDigest(
            count: UInt64(Vault.recordsVerifiedAtOpen), sum: [UInt8](repeating: 0, count: RecordDigest.length))
        header.records = sample.vault.keys.summary(of: digest, accountsVersion: 0)
        try sample.store.put(header.encoded(provedBy: sample.vault.keys).bytes, .vaultHeader)
        let large = try sample.open()
        #expect(try large.get(key) == [2])
        #expect { try large.put([3], key) } throws: { isRolledBack($0) }
        #expect { try large.addSlot(InMemoryKeyProtector("other")) } throws: { isRolledBack($0) }
        #expect { try large.recordBackup(at: 1) } throws: { isRolledBack($0) }
        #expect { try large.verifyRecords() } throws: { isRolledBack($0) }
    }

    @Test("A header is written as the encoding of its members")
    func writesEncodingOfHeader() throws {
        let sample = try Sample(key)
        try sample.vault.recordBackup(at: 1)
        let written = try #require(try sample.store.get(.vaultHeader))
        #expect(written == JSON.encode(sample.vault.header))
    }

    @Test("A write costs the same number of calls, however many records there are")
    func writesAtConstantCost() throws {
        var calls: [[StoreCall.Operation]] = []
        for count in [1, 500] {
            let store = FaultyStore(MemoryStore())
            let vault = try Vault.create(in: store, protector: InMemoryKeyProtector())
            try vault.write { (records: any RecordWriter) throws(StoreError) in
                for number in 0..<count { try records.put([1], RecordKey(.item, String(number))) }
            }
            store.reset()
            try vault.put([2], RecordKey(.item, "0"))
            try vault.remove(RecordKey(.item, "0"))
            calls.append(store.calls.map(\.operation))
        }
        #expect(calls[0] == calls[1])
        #expect(!calls[0].contains(.records))
    }

    @Test("Processes that write in turn keep the digest, also past a rotation and a quarantine")
    func keepsDigestAcrossProcesses() throws {
        let sample = try Sample(key)
        let vaults = try (0..<3).map { _ in try sample.open() }
        for number in 0..<60 {
            let vault = vaults[number % 3]
            try vault.write { (records: any RecordWriter) throws(StoreError) in
                try records.put([UInt8(number)], RecordKey(.item, String(number % 7)))
                try records.put([UInt8(number)], RecordKey(.item, String(number % 7)))
                try records.remove(RecordKey(.item, String(number % 5)))
                if number % 9 == 0 { try records.setAside(RecordKey(.account, String(number % 4))) }
            }
            try sample.open().verifyRecords()
        }
        try vaults[0].rotateKey { _ in sample.protector }
        try sample.open().put([1], key)
        try sample.open().verifyRecords()
    }

    @Test("A transaction that fails keeps the digest")
    func failedTransactionKeepsDigest() throws {
        let store = FaultyStore(MemoryStore())
        let protector = InMemoryKeyProtector()
        let vault = try Vault.create(in: store, protector: protector)
        try vault.put([1], key)
        store.inject(StoreFault(.full, at: .commit))
        #expect(throws: StoreError.self) { try vault.put([2], key) }
        #expect(throws: StoreError.self) { try vault.remove(key) }
        store.reset()
        #expect(try Vault.open(store, protectors: [protector]).get(key) == [1])
        try vault.put([3], key)
        try Vault.open(store, protectors: [protector]).verifyRecords()
    }

    @Test("The version of the accounts grows with each change of an account or of the set of mechanisms, and only then")
    func countsAccountChanges() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        func version() throws -> UInt64? { try Vault.header(of: store).records?.accountsVersion }
        let account = RecordKey(.account, "a")
        var expected: UInt64 = 0
        let changes: [(changes: Bool, (any RecordWriter) throws(StoreError) -> Void)] = [
            (true, { records throws(StoreError) in try records.put([1], account) }),
            (true, { records throws(StoreError) in try records.put([2], account) }),
            (true, { [key] records throws(StoreError) in try records.put([1], key) }),
            (false, { [key] records throws(StoreError) in try records.put([2], key) }),
            (false, { records throws(StoreError) in try records.put([2], RecordKey(.notification, "n")) }),
            (false, { records throws(StoreError) in try records.remove(RecordKey(.mechanism, "none")) }),
            (true, { [key] records throws(StoreError) in try records.setAside(key) }),
            (true, { records throws(StoreError) in try records.remove(account) }),
        ]
        for (changesAccounts, change) in changes {
            try vault.write(change)
            expected += changesAccounts ? 1 : 0
            #expect(try version() == expected)
        }
    }

    @Test("Two headers of the same records have different sums, so that they do not reveal which records changed")
    func masksDigest() throws {
        let sample = try Sample(key)
        let first = try #require(sample.vault.header.records)
        try sample.vault.recordBackup(at: 1)
        let second = try #require(sample.vault.header.records)
        #expect(first.sum != second.sum && first.nonce != second.nonce)
        #expect(sample.vault.keys.digest(in: first) == sample.vault.keys.digest(in: second))
    }

    @Test("Digests are added and subtracted modulo 2^256")
    func digestArithmetic() {
        var random = SystemRandomNumberGenerator()
        func digest() -> RecordDigest {
            RecordDigest(count: 1, sum: (0..<32).map { _ in Bool.random(using: &random) ? 0xFF : UInt8.random(in: 0...255) })
        }
        var one = RecordDigest(count: 1, sum: [UInt8](repeating: 0, count: 31) + [1])
        one += RecordDigest(count: 1, sum: [UInt8](repeating: 0xFF, count: 32))
        #expect(one.sum == [UInt8](repeating: 0, count: 32) && one.count == 2)
        for _ in 0..<1_000 {
            let (first, second, third) = (digest(), digest(), digest())
            #expect(RecordDigest(count: 1, sum: first.sum) == first)
            var (forward, backward) = (first, third)
            for other in [second, third] { forward += other }
            for other in [second, first] { backward += other }
            #expect(forward == backward)
            for other in [first, second, third] { forward -= other }
            #expect(forward == RecordDigest())
        }
    }
}

@Suite("A vault of format 1")
struct VaultUpgradeTests {
    private let key = RecordKey(.mechanism, "counter")

    /// Makes a vault with a record, and gives it the header that version 1 wrote.
    private func versionOne() throws -> (MemoryStore, InMemoryKeyProtector) {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        try store.put(vault.header.asVersionOne.encoded(provedBy: vault.keys).bytes, .vaultHeader)
        return (store, protector)
    }

    @Test("A vault of format 1 is read without a write, and upgraded by the first change", arguments: 0..<4)
    func upgradesAtFirstWrite(change: Int) throws {
        let (store, protector) = try versionOne()
        let before = try store.dump()
        let vault = try Vault.open(store, protectors: [protector])
        #expect(vault.header.format == 1)
        #expect(try vault.get(key) == nil)
        try vault.verifyRecords()
        #expect(try store.dump() == before)
        switch change {
        case 0: try vault.put([1], key)
        case 1: try vault.remove(key)
        case 2: try vault.recordBackup(at: 1)
        default: try vault.rotateKey { _ in protector }
        }
        #expect(try Vault.header(of: store).format == 2)
        try Vault.open(store, protectors: [protector]).verifyRecords()
    }

    @Test("A failed first write leaves the vault in format 1")
    func failedUpgradeKeepsFormat() throws {
        let (inner, protector) = try versionOne()
        let store = FaultyStore(inner)
        let before = try inner.dump()
        let vault = try Vault.open(store, protectors: [protector])
        store.inject(StoreFault(.full, at: .commit))
        #expect(throws: StoreError.self) { try vault.put([1], key) }
        #expect(try inner.dump() == before)
    }

    @Test("A header of format 1 put back after the upgrade is noticed at open, at a write and at a rotation")
    func noticesOlderHeader() throws {
        let (store, protector) = try versionOne()
        let old = try #require(try store.get(.vaultHeader))
        let open = try Vault.open(store, protectors: [protector])
        let other = try Vault.open(store, protectors: [protector])
        try other.put([1], key)
        // Without the epoch, which would tell too.
        protector.forgetEpochs()
        try store.put(old, .vaultHeader)
        let rolledBack: (any Error) -> Bool = { ($0 as? StoreError)?.code == .rolledBack }
        #expect { try Vault.open(store, protectors: [protector]) } throws: { rolledBack($0) }
        #expect { try open.put([2], RecordKey(.item, "x")) } throws: { rolledBack($0) }
        #expect { try open.rotateKey { _ in protector } } throws: { rolledBack($0) }
        #expect { try other.put([2], RecordKey(.item, "x")) } throws: { rolledBack($0) }
        #expect(try store.get(.vaultHeader) == old)
        let accepted = try Vault.open(store, protectors: [protector], acceptingRollback: true)
        #expect(try accepted.get(key) == [1])
        #expect(try Vault.open(store, protectors: [protector]).header.format == 2)
    }

    @Test("A header is refused when its format and its members do not go together", arguments: [true, false])
    func refusesMixedHeader(isNewer: Bool) throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        var header = vault.header
        if isNewer { header.records = nil } else { header.format = 1 }
        try store.put(header.encoded(provedBy: vault.keys).bytes, .vaultHeader)
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
    }
}

extension VaultHeader {
    /// The header as version 1 would have written it.
    fileprivate var asVersionOne: VaultHeader {
        var header = self
        header.format = 1
        header.records = nil
        return header
    }
}
