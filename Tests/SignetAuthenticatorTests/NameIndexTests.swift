import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetAuthenticator

@Suite("The index of account names")
struct NameIndexTests {
    private func withCrowd(_ count: Int = 64, _ body: (Crowd) async throws -> Void) async throws {
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let protector = try KeyFile.create(path: directory.file("key"))
            let inner = MemoryStore()
            try await body(try Crowd(inner, Vault.create(in: inner, protector: protector), protector, count: count))
        }
    }

    /// Names whose comparison is difficult: other forms of the same characters, and characters with one case.
    static let names = [
        ("Caf\u{E9}", "mira"), ("Cafe\u{301}", "noa"), ("\u{212A}ey", "lia"), ("Key", "pat"), ("a;b", "c"), ("ÄÖ", "ü"),
        ("İstanbul", "kai"), ("", "empty issuer"), ("MIRA", "mira"), ("Harbor:Bank", "x"), ("Harbor", "Bank:x"),
    ]
    static let queries =
        names.flatMap { [$0.0, $0.1, "\($0.0):\($0.1)", "\($0.0): \($0.1)"] } + [
            "CAFÉ", "cafe\u{301}", "key", "KEY", "a\u{37E}b", "äö", "Ü", "istanbul", "Quay", "quay:MIRA", "user7@example.test",
            "nobody",
            "issuer 3", "OATH-Key-pat", "oath-key-PAT", ":", "",
        ]

    @Test("It finds the accounts that a search in all accounts finds")
    func findsWhatListFinds() async throws {
        try await withCrowd { crowd in
            let ids = Self.names.map { AccountID(issuer: $0.0, accountName: $0.1) }
            try crowd.save(ids)
            try await crowd.rename(ids[0], issuer: "Quay")
            for query in Self.queries {
                let (found, listed) = (try crowd.found(query), try crowd.listed(query))
                #expect(found == listed, "\(query)")
            }
        }
    }

    @Test("It follows each change of accounts and mechanisms")
    func followsChanges() async throws {
        try await withCrowd { crowd in
            let (id, other) = (Crowd.id(5), Crowd.id(6))
            let queries = [
                id.accountName, other.accountName, id.issuer, "Quay", Crowd.uid(id), Crowd.uid(other), "new", "second",
            ]
            func check(_ step: String) throws {
                for query in queries {
                    let (found, listed) = (try crowd.found(query), try crowd.listed(query))
                    #expect(found == listed, "\(step): \(query)")
                }
            }
            try check("first")
            try await crowd.rename(id, issuer: "Quay")
            try check("rename")
            try await crowd.rename(id, issuer: nil)
            try check("rename back")
            try crowd.save([AccountID(issuer: "new", accountName: "new")])
            try check("add")
            try crowd.save(Crowd.mechanism(other, uid: Crowd.uid(id)))
            try check("move a mechanism")
            try crowd.save(Crowd.mechanism(other, uid: "second", secret: 9))
            try check("add a mechanism")
            try crowd.save(Crowd.mechanism(other, uid: "second", secret: 8))
            try check("write a mechanism")
            _ = try await crowd.authenticator.removeMechanism("second")
            try check("remove a mechanism")
            _ = try await crowd.authenticator.removeAccount(other)
            try check("remove an account")
            #expect(throws: StoreError.self) { try crowd.failToSave(AccountID(issuer: "second", accountName: "x")) }
            try check("a transaction that fails")
            for number in 0..<64 { _ = try await crowd.authenticator.removeAccount(Crowd.id(number)) }
            try check("remove almost all")
            _ = try await crowd.authenticator.removeAccount(AccountID(issuer: "new", accountName: "new"))
            #expect(try crowd.stored(.index).isEmpty)
        }
    }

    @Test("A vault with few accounts and a store outside of a vault have none")
    func isOnlyInLargeVault() async throws {
        try await withCrowd(63) { crowd in
            #expect(try crowd.found(Crowd.id(1).accountName) == nil)
            let count = try crowd.stored(.index).count
            try crowd.save([Crowd.id(63)])
            #expect(try crowd.stored(.index).count == count + 2)
            #expect(try crowd.found(Crowd.id(1).accountName)?.count == 1)
        }
        let plain = MemoryStore()
        let records = AccountRecords(unsealed: plain)
        try records.write { (records: any AccountWriter) throws(StoreError) in
            for number in 0..<70 { try records.save(Account(id: Crowd.id(number), timeAdded: Sample.start)) }
        }
        let found = try records.read { (records: any AccountReader) throws(StoreError) in
            try records.accounts(called: Crowd.id(1).accountName) == nil
        }
        #expect(found)
    }

    @Test("A name of many accounts is left to the list of all")
    func leavesCommonNameToList() async throws {
        try await withCrowd { crowd in
            try crowd.save((0..<17).map { AccountID(issuer: "Common", accountName: "common\($0)") })
            #expect(try crowd.found("common") == nil)
            #expect(try crowd.found("common3")?.count == 1)
        }
    }

    @Test("A code of a counter does not write it")
    func counterDoesNotWrite() async throws {
        try await withCrowd { crowd in
            let account = try await crowd.authenticator.enroll(uri: Sample.hotp)
            let before = try crowd.storedIndex()
            _ = try await crowd.authenticator.code(for: account.mechanisms[0].uid)
            #expect(try crowd.storedIndex() == before)
            #expect(try crowd.found("mira")?.count == 1)
        }
    }

    /// The reasons for which the index cannot be used.
    enum Loss: CaseIterable {
        case otherProgram, putBack, damaged, removed, rotation, accepted

        func apply(to crowd: Crowd) async throws {
            let (name, index) = try crowd.storedIndex()
            switch self {
            case .otherProgram: try crowd.saveWithoutIndex(Crowd.id(3), displayIssuer: "Quay")
            case .putBack:
                try await crowd.rename(Crowd.id(3), issuer: "Quay")
                try crowd.put(index, name)
            case .damaged: try crowd.put(index.dropLast() + [index.last.map { $0 ^ 1 } ?? 0], name)
            case .removed: try crowd.put(nil, name)
            case .rotation: try crowd.vault.rotateKey { _ in crowd.protector }
            case .accepted:
                try crowd.put(nil, name)
                _ = try Vault.open(crowd.inner, protectors: [crowd.protector], acceptingRollback: true)
            }
        }
    }

    @Test("Without a current one the list of all accounts is used, and the next change makes it again", arguments: Loss.allCases)
    func isMadeAgain(loss: Loss) async throws {
        try await withCrowd { crowd in
            try await loss.apply(to: crowd)
            let records = AccountRecords(try Vault.open(crowd.inner, protectors: [crowd.protector], acceptingRollback: true))
            #expect(try Crowd.found(Crowd.id(3).accountName, in: records) == nil)
            let repeated = Crowd(crowd, records)
            if loss == .rotation {
                try records.refreshNames()
            } else {
                try await repeated.rename(Crowd.id(4), issuer: "Pier")
            }
            for query in ["Quay", Crowd.id(3).accountName, Crowd.id(4).accountName] {
                let (found, listed) = (try repeated.found(query), try repeated.listed(query))
                #expect(found == listed, "\(query)")
            }
            let before = try crowd.storedIndex().bytes
            try records.refreshNames()
            #expect(try crowd.storedIndex().bytes == before)
        }
    }

    @Test("An account whose record cannot be read is left to the list of all")
    func leavesDamagedAccountToList() async throws {
        try await withCrowd { crowd in
            let before = try crowd.stored(.account)
            try await crowd.rename(Crowd.id(3), issuer: "Quay")
            let changes = try crowd.stored(.account).filter { before[$0.key] != $0.value }
            let changed = try #require(changes.first)
            try crowd.put(changed.value.dropLast() + [0, 0], changed.key)
            #expect(try crowd.found(Crowd.id(3).accountName) == nil)
            #expect(try crowd.found(Crowd.id(4).accountName)?.count == 1)
            try await crowd.rename(Crowd.id(4), issuer: "Pier")
            #expect(try crowd.found("Pier")?.count == 1)
        }
    }

    @Test("Malformed content is not used, and never ends the process")
    func refusesMalformedContent() {
        let entries = (0..<3).map { number in
            NameIndex.Entry(
                names: AccountNames(Account(id: AccountID(issuer: "ü\(number)", accountName: "a"), timeAdded: Sample.start)),
                mark: [UInt8](repeating: 1, count: NameIndex.markLength),
                mechanisms: [NameIndex.MechanismEntry(uid: "u", mark: nil)])
        }
        let state = AccountsState(version: 7, keyID: [1, 2, 3, 4])
        let index = NameIndex(entries, state: state)
        #expect(NameIndex(index.bytes)?.state == state)
        #expect(index.entries(called: "A", limit: 3) == entries)
        #expect(index.entries(called: "A", limit: 2) == nil)
        for count in 0..<index.bytes.count {
            let cut = NameIndex(Array(index.bytes.prefix(count)))
            let found = cut?.entries(called: "a", limit: 9)
            #expect(found == nil || found?.count ?? 0 < 3)
            _ = cut?.replacing([entries[0].names.id: nil], state: state)
        }
        for position in 0..<index.bytes.count {
            var changed = index.bytes
            changed[position] = 0xFF
            _ = NameIndex(changed)?.entries(called: "a", limit: 9)
            _ = NameIndex(changed)?.replacing([entries[0].names.id: nil], state: state)
        }
    }
}

/// A vault with accounts that each have a time-based mechanism.
struct Crowd: Sendable {
    let inner: any RecordStore
    let vault: Vault
    let protector: KeyFile
    let records: AccountRecords
    let authenticator: Authenticator

    init(_ inner: any RecordStore, _ vault: Vault, _ protector: KeyFile, count: Int) throws {
        (self.inner, self.vault, self.protector) = (inner, vault, protector)
        records = AccountRecords(vault)
        authenticator = AuthenticatorFixture(store: records).authenticator
        try save((0..<count).map(Self.id))
    }

    /// The vault of another crowd, as another process has opened it.
    init(_ other: Crowd, _ records: AccountRecords) {
        (inner, vault, protector, self.records) = (other.inner, other.vault, other.protector, records)
        authenticator = AuthenticatorFixture(store: records).authenticator
    }

    static func id(_ number: Int) -> AccountID {
        AccountID(issuer: "Issuer \(number / 7)", accountName: "user\(number)@example.test")
    }

    static func uid(_ id: AccountID) -> String { "OATH-\(id.issuer)-\(id.accountName)" }

    static func mechanism(_ id: AccountID, uid: String, secret: UInt8 = 7) -> Mechanism {
        let settings = OATHSettings(secret: Secret([UInt8](repeating: secret, count: 20)))
        return Mechanism(uid: uid, account: id, kind: .oath(settings), timeAdded: Sample.start)
    }

    func save(_ ids: [AccountID]) throws {
        try records.write { (records: any AccountWriter) throws(StoreError) in
            for id in ids {
                try records.save(Self.mechanism(id, uid: Self.uid(id)))
                try records.save(Account(id: id, timeAdded: Sample.start))
            }
        }
    }

    func save(_ mechanism: Mechanism) throws {
        try records.write { (records: any AccountWriter) throws(StoreError) in try records.save(mechanism) }
    }

    /// Saves an account in a transaction that fails.
    func failToSave(_ id: AccountID) throws {
        try records.write { (records: any AccountWriter) throws(StoreError) in
            try records.save(Account(id: id, timeAdded: Sample.start))
            throw StoreError(.failed, "test", "on purpose")
        }
    }

    /// Writes an account as a program does that keeps no index of names.
    func saveWithoutIndex(_ id: AccountID, displayIssuer: String) throws {
        let account = Account(id: id, displayIssuer: displayIssuer, timeAdded: Sample.start)
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            try records.put(StoredForms.bytes(account), .account(id))
        }
    }

    func rename(_ id: AccountID, issuer: String?) async throws {
        _ = try await authenticator.rename(id, displayIssuer: issuer, displayAccountName: nil)
    }

    /// Returns the mechanisms of the accounts that the index finds; nil when it is not used.
    func found(_ text: String) throws -> [AccountID: [String]]? { try Self.found(text, in: records) }

    static func found(_ text: String, in records: AccountRecords) throws -> [AccountID: [String]]? {
        try records.read { (records: any AccountReader) throws(StoreError) in
            guard let found = try records.accounts(called: text) else { return nil }
            return Dictionary(found.map { ($0.account.id, $0.mechanisms.map(\.uid)) }) { $0 + $1 }
        }
    }

    /// Returns the mechanisms of the accounts that a search in all accounts finds.
    func listed(_ text: String) throws -> [AccountID: [String]] {
        let all = try records.read { (records: any AccountReader) throws(StoreError) in
            try records.accountsWithMechanisms().map { EnrolledAccount(account: $0.account, mechanisms: $0.mechanisms) }
        }
        let found = all.filter { enrolled in
            let names = AccountNames(enrolled.account).all + enrolled.mechanisms.map(\.uid)
            return names.contains { $0 == text || $0.lowercased() == text.lowercased() }
        }
        return Dictionary(found.map { ($0.account.id, $0.mechanisms.map(\.uid)) }) { $0 + $1 }
    }

    /// Returns the sealed records of a kind by their names.
    func stored(_ kind: RecordKind) throws -> [RecordKey: [UInt8]] {
        try inner.read { (records: any RecordReader) throws(StoreError) in
            var stored: [RecordKey: [UInt8]] = [:]
            try records.forEachRecord(of: kind) { (record) throws(StoreError) in
                stored[RecordKey(kind, name: record.name)] = try record.content.get()
            }
            return stored
        }
    }

    /// Returns the sealed index of names, which is by far the largest index.
    func storedIndex() throws -> (name: RecordKey, bytes: [UInt8]) {
        let largest = try stored(.index).max { $0.value.count < $1.value.count }
        let (name, bytes) = try #require(largest)
        return (name, bytes)
    }

    /// Writes or removes a sealed record.
    func put(_ bytes: [UInt8]?, _ name: RecordKey) throws {
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            if let bytes { try records.put(bytes, name) } else { try records.remove(name) }
        }
    }
}
