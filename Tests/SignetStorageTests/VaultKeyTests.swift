import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetStorage

@Suite("The key slots of a vault")
struct VaultSlotTests {
    private let key = RecordKey(.account, "Harbor Bank", "mira")

    private func code(_ error: any Error) -> StoreError.Code? { (error as? StoreError)?.code }

    @Test("Any one key slot opens the vault, and the vault shows which one did")
    func anySlotOpensVault() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        let vault = try Vault.create(in: store, protector: tpm)
        try vault.put([1], key)
        let added = try vault.addSlot(phrase)
        #expect(added.number == 2)
        for protector in [tpm, phrase] {
            let opened = try Vault.open(store, protectors: [protector])
            #expect(opened.openedBy.protector == protector.name)
            #expect(try opened.get(key) == [1])
            #expect(opened.header.slots.map(\.protector) == ["tpm", "passphrase"])
        }
    }

    @Test("Key slots are tried in the order of the protectors, past those that cannot or do not open")
    func triesSlotsInOrder() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        _ = try Vault.create(in: store, protector: tpm).addSlot(phrase)
        #expect(try Vault.open(store, protectors: [phrase, tpm]).openedBy.protector == "passphrase")
        tpm.failure = StoreError(.keyUnavailable, "open vault", "no TPM is here")
        #expect(try Vault.open(store, protectors: [tpm, phrase]).openedBy.protector == "passphrase")
        phrase.forget()
        #expect { try Vault.open(store, protectors: [tpm, phrase]) } throws: { error in
            code(error) == .keyUnavailable && "\(error)".contains("no TPM is here") && "\(error)".contains("passphrase")
        }
        tpm.failure = nil
        tpm.forget()
        #expect { try Vault.open(store, protectors: [tpm, phrase]) } throws: { code($0) == .keyMismatch }
        #expect { try Vault.open(store, protectors: []) } throws: { error in
            code(error) == .keyUnavailable && "\(error)".contains("tpm, passphrase")
        }
    }

    @Test("A vault can have two passphrase slots, and each passphrase opens its own")
    func supportsTwoPassphraseSlots() throws {
        let store = MemoryStore()
        let (mine, yours) = (InMemoryKeyProtector("passphrase"), InMemoryKeyProtector("passphrase"))
        _ = try Vault.create(in: store, protector: mine).addSlot(yours)
        #expect(try Vault.open(store, protectors: [mine]).openedBy.number == 1)
        #expect(try Vault.open(store, protectors: [yours]).openedBy.number == 2)
    }

    @Test("Key slots can be removed, except the last one")
    func removesSlotsButLast() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        let vault = try Vault.create(in: store, protector: tpm)
        #expect(throws: StoreError.self) { try vault.removeSlot(1) }
        _ = try vault.addSlot(phrase)
        #expect(throws: StoreError.self) { try vault.removeSlot(7) }
        try vault.removeSlot(1)
        #expect { try Vault.open(store, protectors: [tpm]) } throws: { code($0) == .keyUnavailable }
        #expect(try Vault.open(store, protectors: [phrase]).header.slots.map(\.number) == [2])
        #expect(try vault.addSlot(tpm).number == 3)
    }

    @Test("After a key slot is replaced the old passphrase does not open the vault")
    func replacesSlot() throws {
        let store = MemoryStore()
        let (old, new) = (InMemoryKeyProtector("passphrase"), InMemoryKeyProtector("passphrase"))
        let vault = try Vault.create(in: store, protector: old)
        try vault.put([1], key)
        #expect(try vault.replaceSlot(1, with: new).number == 2)
        #expect { try Vault.open(store, protectors: [old]) } throws: { code($0) == .keyMismatch }
        #expect(try Vault.open(store, protectors: [new]).get(key) == [1])
        #expect(throws: StoreError.self) { try vault.replaceSlot(1, with: new) }
    }

    @Test("Key slots stay unchanged when a key protector fails")
    func keepsSlotsOnFailure() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        let vault = try Vault.create(in: store, protector: tpm)
        phrase.failure = StoreError(.keyUnavailable, "wrap", "given up")
        let before = vault.header
        #expect(throws: StoreError.self) { try vault.addSlot(phrase) }
        #expect(throws: StoreError.self) { try vault.replaceSlot(1, with: phrase) }
        #expect(vault.header == before)
        #expect(try Vault.header(of: store) == before)
    }

    @Test("A key slot added by one process is seen and kept by another that has the vault open")
    func sharesSlotsBetweenProcesses() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        let first = try Vault.create(in: store, protector: tpm)
        let second = try Vault.open(store, protectors: [tpm])
        _ = try first.addSlot(phrase)
        try second.put([1], key)
        try second.recordBackup(at: 1_735_689_600)
        #expect(try Vault.open(store, protectors: [phrase]).header.lastBackup == 1_735_689_600)
        #expect(second.header.slots.count == 2)
    }

    @Test("A vault requests its key from the protector once, however much is read and written")
    func requestsKeyOnce() throws {
        let store = MemoryStore()
        let tpm = InMemoryKeyProtector("tpm")
        _ = try Vault.create(in: store, protector: tpm)
        let vault = try Vault.open(store, protectors: [tpm])
        for number in 0..<200 {
            let key = RecordKey(.account, String(number))
            try vault.put([UInt8(number)], key)
            #expect(try vault.get(key) == [UInt8(number)])
        }
        #expect(tpm.unwrapped == 1)
    }
}

@Suite("The rotation of a vault's key")
struct VaultRotationTests {
    private func filled(_ store: any RecordStore, _ protector: any KeyProtector, records: Int = 600) throws -> Vault {
        let vault = try Vault.create(in: store, protector: protector)
        try vault.write { (writer: any RecordWriter) throws(StoreError) in
            for number in 0..<records { try writer.put(Array("content \(number)".utf8), RecordKey(.account, String(number))) }
            try writer.put([7], RecordKey(.item, "other kind"))
        }
        return vault
    }

    private func expectAll(in vault: Vault, records: Int = 600) throws {
        for number in 0..<records {
            #expect(try vault.get(RecordKey(.account, String(number))) == Array("content \(number)".utf8))
        }
        #expect(try vault.get(RecordKey(.item, "other kind")) == [7])
        #expect(try vault.all(.account).count == records)
        #expect(try vault.damagedRecords().isEmpty)
    }

    @Test("A key rotation seals every record again, and keeps contents, names and the vault's id")
    func rotationKeepsRecords() throws {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault = try filled(store, protector)
        let before = try store.dump()
        let header = vault.header
        try vault.rotateKey { _ in protector }
        let after = try store.dump()
        #expect(before.keys == after.keys)
        let unchanged = before.filter { after[$0.key] == $0.value }
        #expect(unchanged.isEmpty)
        #expect(vault.header.id == header.id)
        #expect(vault.header.epoch > header.epoch)
        try expectAll(in: vault)
        try expectAll(in: Vault.open(store, protectors: [protector]))
    }

    @Test("A key rotation wraps the new key for every slot, and refuses to omit one")
    func rotationWrapsEverySlot() throws {
        let store = MemoryStore()
        let (tpm, phrase) = (InMemoryKeyProtector("tpm"), InMemoryKeyProtector("passphrase"))
        let vault = try filled(store, tpm, records: 3)
        _ = try vault.addSlot(phrase)
        let before = try store.dump()
        #expect(throws: StoreError.self) { try vault.rotateKey { _ in tpm } }
        let failure = StoreError(.keyUnavailable, "wrap", "given up")
        phrase.failure = failure
        #expect(throws: failure) { try vault.rotateKey { $0.protector == "tpm" ? tpm : phrase } }
        #expect(try store.dump() == before)
        phrase.failure = nil
        try vault.rotateKey { $0.protector == "tpm" ? tpm : phrase }
        for protector in [tpm, phrase] { try expectAll(in: Vault.open(store, protectors: [protector]), records: 3) }
        #expect(vault.header.slots.map(\.number) == [1, 2])
    }

    @Test("A key rotation makes earlier slots useless")
    func rotationInvalidatesOldSlots() throws {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault = try filled(store, protector, records: 1)
        let old = vault.header.slots
        try vault.rotateKey { _ in protector }
        var forged = vault.header
        forged.slots = old
        try store.put(JSON.encode(forged), .vaultHeader)
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
    }

    @Test("After a rotation by another process the old key neither reads nor writes")
    func rotationInvalidatesOpenVaults() throws {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault = try filled(store, protector, records: 3)
        let stale = try Vault.open(store, protectors: [protector])
        try vault.rotateKey { _ in protector }
        let key = RecordKey(.account, "0")
        #expect { try stale.get(key) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
        #expect { try stale.put([1], key) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
        #expect { try stale.addSlot(protector) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
        #expect(try stale.get(RecordKey(.account, "never there")) == nil)
        try expectAll(in: vault, records: 3)
    }

    @Test("A key rotation quarantines a record that does not open")
    func rotationQuarantinesDamagedRecord() throws {
        let store = MemoryStore()
        let protector = InMemoryKeyProtector()
        let vault = try filled(store, protector, records: 5)
        let account = try store.dump().first { $0.key.kind == .account }
        let (name, bytes) = try #require(account)
        let damaged = Array(bytes.dropLast())
        try store.put(damaged, name)
        #expect(try vault.damagedRecords().map(\.kind) == [.account])
        try vault.rotateKey { _ in protector }
        #expect(try vault.damagedRecords().isEmpty)
        let quarantined = try store.dump().filter { $0.key.kind == .quarantined }
        #expect(quarantined.map(\.value) == [damaged])
        #expect(try vault.all(.account).count == 4)
    }

    @Test("During a key rotation a hundred concurrent readers and writers see only written values")
    func rotationAllowsConcurrentUse() async throws {
        try await TemporaryDirectory.with { directory in
            let store = try SQLiteStore(path: directory.file("store"), creating: true)
            let protector = InMemoryKeyProtector()
            let vault = try filled(store, protector, records: 50)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<100 {
                    group.addTask {
                        let key = RecordKey(.account, String(caller % 50))
                        #expect(try vault.get(key) == Array("content \(caller % 50)".utf8))
                        try vault.put(Array("content \(caller % 50)".utf8), key)
                        if caller % 25 == 0 { try vault.rotateKey { _ in protector } }
                    }
                }
                try await group.waitForAll()
            }
            try expectAll(in: vault, records: 50)
            try expectAll(in: Vault.open(store, protectors: [protector]), records: 50)
        }
    }
}

extension MemoryStore {
    /// All records as they are stored.
    func dump() throws(StoreError) -> [RecordKey: [UInt8]] {
        try read { (records: any RecordReader) throws(StoreError) in
            var all: [RecordKey: [UInt8]] = [:]
            for kind in RecordKind.allCases {
                try records.forEachRecord(of: kind) { (record) throws(StoreError) in
                    all[RecordKey(kind, name: record.name)] = try record.content.get()
                }
            }
            return all
        }
    }
}
