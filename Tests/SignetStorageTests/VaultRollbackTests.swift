import SignetCore
import Testing

@testable import SignetStorage

@Suite("An older copy of a vault")
struct VaultRollbackTests {
    private let key = RecordKey(.mechanism, "counter")

    private func isRolledBack(_ error: any Error) -> Bool { (error as? StoreError)?.code == .rolledBack }

    /// Makes a vault with a record, an older copy of its store, and the protector that keeps its epoch.
    private func rolledBack() throws -> (old: MemoryStore, new: MemoryStore, protector: InMemoryKeyProtector) {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        try Vault.open(store, protectors: [protector]).put([1], key)
        let old = try MemoryStore(copying: store)
        try Vault.open(store, protectors: [protector]).put([2], key)
        return (old, store, protector)
    }

    @Test("An older copy of a vault is detected when the epoch is kept outside, and left unchanged")
    func detectsRollback() throws {
        let (old, new, protector) = try rolledBack()
        let before = try old.dump()
        #expect { try Vault.open(old, protectors: [protector]) } throws: { isRolledBack($0) }
        #expect(try old.dump() == before)
        #expect(try Vault.open(new, protectors: [protector]).get(key) == [2])
    }

    @Test("An older copy is opened when the caller accepts it, and is the newest from then on")
    func acceptsRollbackExplicitly() throws {
        let (old, new, protector) = try rolledBack()
        #expect(try Vault.open(old, protectors: [protector], acceptingRollback: true).get(key) == [1])
        #expect(try Vault.open(old, protectors: [protector]).get(key) == [1])
        #expect { try Vault.open(new, protectors: [protector]) } throws: { isRolledBack($0) }
    }

    @Test("Two processes can accept an older copy at the same time without making it old for each other")
    func acceptsRollbackTwice() throws {
        let (old, _, protector) = try rolledBack()
        protector.thereafter = {
            let other = try Vault.open(old, protectors: [protector], acceptingRollback: true)
            try other.put([7], key)
        }
        _ = try Vault.open(old, protectors: [protector], acceptingRollback: true)
        #expect(try Vault.open(old, protectors: [protector]).get(key) == [7])
    }

    @Test("An older copy is not detected when no protector keeps the epoch, as docs/design/threats.md states")
    func missesRollbackWithoutEpoch() throws {
        let (store, protector) = (MemoryStore(), PlainKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let old = try MemoryStore(copying: store)
        try Vault.open(store, protectors: [protector]).put([2], key)
        #expect(try Vault.open(old, protectors: [protector]).get(key) == nil)
    }

    @Test("An older copy with a changed epoch is refused")
    func refusesForgedEpoch() throws {
        let (old, _, protector) = try rolledBack()
        var header = try Vault.header(of: old)
        header.epoch += 10
        try old.put(JSON.encode(header), .vaultHeader)
        #expect { try Vault.open(old, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
    }

    @Test("A vault of a process killed before it stored its epoch is not taken for an older copy")
    func acceptsVaultAfterInterruptedEpoch() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let vault = try Vault.open(store, protectors: [protector])
        protector.failure = StoreError(.keyUnavailable, "remember epoch", "gone")
        #expect(throws: StoreError.self) { try vault.put([1], key) }
        protector.failure = nil
        let again = try Vault.open(store, protectors: [protector])
        #expect(try again.get(key) == [1])
        #expect(try protector.epoch(ofVault: again.header.id) == again.header.epoch)
    }

    @Test("A vault that another process changes while it is being opened is not taken for an older copy")
    func acceptsConcurrentWriteAtOpen() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let other = try Vault.open(store, protectors: [protector])
        protector.meanwhile = { try other.put([1], key) }
        #expect(try Vault.open(store, protectors: [protector]).get(key) == [1])
        #expect(protector.remembered == 2)
    }

    @Test("A writer whose epoch is overtaken before it is stored does not fail, and its record is there")
    func acceptsOvertakenEpoch() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let vaults = try (0..<2).map { _ in try Vault.open(store, protectors: [protector]) }
        protector.meanwhile = { try vaults[1].put([2], RecordKey(.mechanism, "other")) }
        try vaults[0].put([1], key)
        let again = try Vault.open(store, protectors: [protector])
        #expect(try again.get(key) == [1] && again.get(RecordKey(.mechanism, "other")) == [2])
        #expect(try protector.epoch(ofVault: again.header.id) == again.header.epoch)
    }

    @Test("An older copy put in place of an open, unwritten vault is detected too")
    func detectsRollbackWhileOpen() throws {
        let (old, store, protector) = try rolledBack()
        try Vault.open(store, protectors: [protector]).put([3], key)
        let open = try Vault.open(store, protectors: [protector])
        let header = try #require(try old.get(.vaultHeader))
        try store.put(header, .vaultHeader)
        #expect { try open.put([4], key) } throws: { isRolledBack($0) }
    }

    @Test(
        "An older copy from before a rotation or a change of slots, put in place of an open vault, is refused",
        arguments: [true, false])
    func refusesOlderHeaderWhileOpen(rotates: Bool) throws {
        let (store, protector, second) = (MemoryStore(), PlainKeyProtector(), PlainKeyProtector("second"))
        let vault = try Vault.create(in: store, protector: protector)
        try vault.put([1], key)
        _ = try vault.addSlot(second)
        let old = try MemoryStore(copying: store)
        if rotates { try vault.rotateKey { $0.protector == "second" ? second : protector } } else { try vault.removeSlot(2) }
        // The whole older copy, so that the digest agrees too.
        for (name, bytes) in try old.dump() { try store.put(bytes, name) }
        #expect { try vault.put([2], key) } throws: { isRolledBack($0) }
        #expect { try vault.recordBackup(at: 1) } throws: { isRolledBack($0) }
        #expect { try vault.rotateKey { _ in protector } } throws: { isRolledBack($0) }
        #expect { try vault.verifyRecords() } throws: { isRolledBack($0) }
        #expect(try store.dump() == old.dump())
    }

    @Test("When the user cancels at one key protector, no other protector is asked")
    func stopsAfterCancelledProtector() throws {
        let (store, first, second) = (MemoryStore(), InMemoryKeyProtector("first"), InMemoryKeyProtector("second"))
        _ = try Vault.create(in: store, protector: first).addSlot(second)
        first.failure = StoreError(.cancelled, "read passphrase", "given up")
        #expect { try Vault.open(store, protectors: [first, second]) } throws: { ($0 as? StoreError)?.code == .cancelled }
        #expect(second.unwrapped == 0)
        first.failure = StoreError(.keyUnavailable, "read passphrase", "no user is there")
        _ = try Vault.open(store, protectors: [first, second])
    }

    @Test("A transaction that changes nothing writes nothing, also as the first one of an opened vault")
    func writesNothingWithoutChange() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let (before, stored) = (try store.dump(), protector.remembered)
        let vault = try Vault.open(store, protectors: [protector])
        let absent = try vault.write { (records: any RecordWriter) throws(StoreError) in try records.record(key) }
        #expect(absent == nil)
        #expect(try store.dump() == before)
        #expect(protector.remembered == stored)
    }

    @Test("An opened vault stores its epoch once at its first write, and never for reading")
    func storesEpochOnce() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        _ = try Vault.create(in: store, protector: protector)
        let made = protector.remembered
        let vault = try Vault.open(store, protectors: [protector])
        for _ in 0..<50 { _ = try vault.get(key) }
        #expect(protector.remembered == made)
        for number in 0..<50 { try vault.put([UInt8(number)], key) }
        #expect(protector.remembered == made + 1)
    }

    @Test(
        "The first change of an opened vault starts an epoch, whether it writes, removes or quarantines a record",
        arguments: 0..<3)
    func eachChangeStartsEpoch(kind: Int) throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        try Vault.create(in: store, protector: protector).put([1], key)
        let stored = protector.remembered
        let old = try MemoryStore(copying: store)
        try Vault.open(store, protectors: [protector]).write { (records: any RecordWriter) throws(StoreError) in
            switch kind {
            case 0: try records.put([2], key)
            case 1: try records.remove(key)
            default: try records.setAside(key)
            }
        }
        #expect(protector.remembered == stored + 1)
        #expect { try Vault.open(old, protectors: [protector]) } throws: { isRolledBack($0) }
    }

    /// A key protector that keeps no epoch.
    private struct PlainKeyProtector: KeyProtector {
        let name: String
        private let inner = InMemoryKeyProtector()

        init(_ name: String = "plain") { self.name = name }

        func wrap(_ dataKey: Secret, context: [UInt8]) throws(StoreError) -> [UInt8] {
            try inner.wrap(dataKey, context: context)
        }
        func unwrap(_ wrapped: [UInt8], context: [UInt8]) throws(StoreError) -> Secret {
            try inner.unwrap(wrapped, context: context)
        }
    }
}

@Suite("A vault that was tampered with")
struct VaultTamperingTests {
    private let key = RecordKey(.mechanism, "Harbor Bank", "mira")

    @Test("A vault with any bit changed, or truncated at any length, is refused and never taken for absent")
    func refusesEveryChangedBit() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        try vault.put(Array("a secret".utf8), key)
        var (flips, cuts) = (0, 0)
        for (name, bytes) in try store.dump() {
            for bit in 0..<(bytes.count * 8) {
                var changed = bytes
                changed[bit / 8] ^= 1 << (bit % 8)
                try expectRefusal(of: changed, name, store, protector, "bit \(bit) of \(name.kind)")
                flips += 1
            }
            for length in 0..<bytes.count {
                try expectRefusal(of: Array(bytes[..<length]), name, store, protector, "\(length) bytes of \(name.kind)")
                cuts += 1
            }
            try store.put(bytes, name)
        }
        #expect(try Vault.open(store, protectors: [protector]).get(key) == Array("a secret".utf8))
        #expect(flips > 3000 && cuts > 400)
    }

    private func expectRefusal(
        of bytes: [UInt8], _ name: RecordKey, _ store: MemoryStore, _ protector: InMemoryKeyProtector, _ what: String
    ) throws {
        try store.put(bytes, name)
        do {
            let content = try Vault.open(store, protectors: [protector]).get(key)
            Issue.record("\(what): read as \(content.map(String.init(describing:)) ?? "absent")")
        } catch {
            let codes: Set<StoreError.Code> = [.corrupt, .keyMismatch, .newerFormat, .keyUnavailable, .rolledBack]
            #expect(codes.contains(error.code), "\(what): \(error)")
        }
    }

    @Test("A record or a slot of another vault under the same key protector is refused")
    func refusesRecordOfAnotherVault() throws {
        let protector = InMemoryKeyProtector()
        let (first, second) = (MemoryStore(), MemoryStore())
        try Vault.create(in: first, protector: protector).put([1], key)
        try Vault.create(in: second, protector: protector).put([2], key)
        let firstMechanism = try first.dump().first { $0.key.kind == .mechanism }
        let mine = try #require(firstMechanism)
        let secondMechanism = try second.dump().first { $0.key.kind == .mechanism }
        let theirs = try #require(secondMechanism)
        let vault = try Vault.open(first, protectors: [protector])
        try first.put(theirs.value, mine.key)
        #expect { try vault.get(key) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
        #expect { try Vault.open(first, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
        // A slot of another vault does not open this one.
        var header = try Vault.header(of: first)
        header.slots = try Vault.header(of: second).slots
        try first.put(JSON.encode(header), .vaultHeader)
        #expect { try Vault.open(first, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .keyMismatch }
    }

    @Test("A vault with an added header member or slot is refused")
    func refusesChangedHeader() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        var members = vault.header.members
        members["comment"] = .string("hello")
        try store.put(JSON.encode(.object(members)), .vaultHeader)
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
        var header = vault.header
        header.slots.append(header.slots[0])
        try store.put(JSON.encode(header), .vaultHeader)
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
        #expect { try vault.put([1], key) } throws: { ($0 as? StoreError)?.code == .corrupt }
    }

    @Test("A damaged record does not hide others, is reported by kind, and is quarantined at the next write")
    func quarantinesDamagedRecord() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        try vault.put([1], key)
        let (name, damaged) = try Self.damageMechanism(in: store)
        try vault.put([2], RecordKey(.mechanism, "another"))

        #expect { try vault.get(key) } throws: { ($0 as? StoreError)?.code == .corrupt }
        #expect(try vault.damagedRecords().map(\.kind) == [.mechanism])
        #expect(try store.dump()[name] == damaged)
        try vault.put([3], key)
        #expect(try vault.get(key) == [3])
        #expect(try vault.damagedRecords().isEmpty)
        #expect(try vault.all(.quarantined) == [damaged])
        #expect(try Vault.open(store, protectors: [protector]).get(key) == [3])
    }

    /// Flips a bit in the ciphertext of the only mechanism record, and returns its key in the store and its bytes.
    private static func damageMechanism(in store: MemoryStore) throws -> (RecordKey, [UInt8]) {
        let mechanism = try store.dump().first { $0.key.kind == .mechanism }
        var (name, damaged) = try #require(mechanism)
        damaged[damaged.count - 1] ^= 1
        try store.put(damaged, name)
        return (name, damaged)
    }

    @Test("A damaged record that was never read is quarantined at the next write too")
    func quarantinesUnreadRecord() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        try Vault.create(in: store, protector: protector).put([1], key)
        let (_, damaged) = try Self.damageMechanism(in: store)
        let vault = try Vault.open(store, protectors: [protector])
        try vault.put([3], key)
        #expect(try vault.all(.quarantined) == [damaged])
    }

    @Test("Bytes in the place of a record are refused, and quarantined once the user accepts what is there")
    func quarantinesReplacedRecord() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        try Vault.create(in: store, protector: protector).put([1], key)
        let mechanism = try store.dump().first { $0.key.kind == .mechanism }
        let (name, _) = try #require(mechanism)
        try store.put([1, 2, 3], name)
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .corrupt }
        let vault = try Vault.open(store, protectors: [protector], acceptingRollback: true)
        #expect(try vault.damagedRecords().map(\.kind) == [.mechanism])
        try vault.put([3], key)
        #expect(try vault.all(.quarantined) == [[1, 2, 3]])
        #expect(try Vault.open(store, protectors: [protector]).get(key) == [3])
    }

    @Test("A vault is reset only by a call with its own id")
    func resetsByOwnIDOnly() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        try vault.put([1], key)
        protector.forget()
        for wrong in [nil, "", "another"] {
            #expect(throws: StoreError.self) { try Vault.reset(store, confirming: wrong) }
        }
        #expect(try store.dump().count == 2)
        try Vault.reset(store, confirming: vault.header.id)
        #expect(try store.dump().isEmpty)
        #expect { try vault.put([1], key) } throws: { ($0 as? StoreError)?.code == .noVault }
        #expect { try Vault.open(store, protectors: [protector]) } throws: { ($0 as? StoreError)?.code == .noVault }
        #expect(try Vault.create(in: store, protector: protector).get(key) == nil)
    }
}

@Suite("The seal counter of a vault's key")
struct VaultSealTests {
    @Test("Seals are counted in advance, in blocks, and never too low")
    func countsSealsInAdvance() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let vault = try Vault.create(in: store, protector: protector)
        for number in 0..<1000 {
            try vault.put([1], RecordKey(.item, "same"))
            #expect(try Vault.header(of: store).seals > UInt64(number))
        }
        #expect(try Vault.header(of: store).seals < 5000)
        #expect(!vault.header.isRotationDue)
    }

    @Test("The seal counter makes a rotation due in time, and finally blocks writes without one")
    func makesRotationDue() throws {
        let (store, protector) = (MemoryStore(), InMemoryKeyProtector())
        let created = try Vault.create(in: store, protector: protector)
        var header = created.header
        header.seals = VaultState.maxSeals - 100
        try store.put(header.encoded(provedBy: created.keys).bytes, .vaultHeader)
        let vault = try Vault.open(store, protectors: [protector])
        #expect(vault.header.isRotationDue)
        #expect(throws: StoreError.self) {
            for number in 0..<200 { try vault.put([1], RecordKey(.item, String(number))) }
        }
        #expect(try vault.all(.item).count <= 100)
        try vault.rotateKey { _ in protector }
        #expect(!vault.header.isRotationDue)
        try vault.put([1], RecordKey(.item, "more"))
    }

    @Test("Sealing never uses a nonce twice")
    func sealsWithUniqueNonces() throws {
        let key = Secret.random(byteCount: 32)
        var seen: Set<[UInt8]> = []
        for _ in 0..<100_000 {
            let sealed = try Sealing.seal([1], with: key, context: [])
            #expect(seen.insert(Array(sealed.prefix(12))).inserted)
        }
    }
}

extension MemoryStore {
    convenience init(copying other: MemoryStore) throws(StoreError) {
        self.init()
        for (key, bytes) in try other.dump() { try put(bytes, key) }
    }
}
