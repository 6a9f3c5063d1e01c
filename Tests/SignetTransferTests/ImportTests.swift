import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

@Suite("Importing into a store")
struct ImportTests {
    @Test("stores what the file has, once: the second time everything is named as there already", arguments: StoreKind.allCases)
    func twice(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let authenticator = Bench(store: store).authenticator
            let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
            let first = try await authenticator.importAccounts(content)
            #expect(first.imported.map(\.kind) == [.totp, .hotp, .totp])
            #expect(first.skipped == content.skipped)
            let stored = try await authenticator.accounts()
            #expect(Set(stored.map(\.account.id)) == [TransferFixture.bank, TransferFixture.alone])
            let storedBank = stored.first { $0.account.id == TransferFixture.bank }
            let bank = try #require(storedBank)
            #expect(
                bank.mechanisms.map(\.kind) == [try TransferFixture.hotp(counter: 7), content.accounts[0].mechanisms[0].kind])
            #expect(bank.account.timeAdded == Sample.start)

            let second = try await authenticator.importAccounts(content)
            #expect(second.imported.isEmpty)
            #expect(second.skipped.suffix(3).map(\.reason) == [.duplicate, .duplicate, .duplicate])
            #expect(try await authenticator.accounts() == stored)
        }
    }

    @Test("only says what it would do when it is a dry run")
    func dryRun() async throws {
        let authenticator = Bench().authenticator
        let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
        let dry = try await authenticator.importAccounts(content, dryRun: true)
        #expect(try await authenticator.accounts().isEmpty)
        #expect(try await authenticator.importAccounts(content) == dry)
    }

    @Test("never takes an HOTP counter back, nor changes a secret that is there")
    func counter() async throws {
        let authenticator = Bench().authenticator
        _ = try await authenticator.importAccounts(
            ImportContent(TransferFixture.account(TransferFixture.bank, try TransferFixture.hotp(counter: 7))))
        let uid = try #require(try await authenticator.accounts().first?.mechanisms.first?.uid)
        for _ in 0..<3 { _ = try await authenticator.code(for: uid) }
        for counter: UInt64 in [0, 7, 9, 1000] {
            let report = try await authenticator.importAccounts(
                ImportContent(TransferFixture.account(TransferFixture.bank, try TransferFixture.hotp(counter: counter))))
            #expect(report.imported.isEmpty && report.skipped.map(\.reason) == [.duplicate])
        }
        let other = try await authenticator.importAccounts(
            ImportContent(
                TransferFixture.account(TransferFixture.bank, try TransferFixture.hotp(TransferFixture.other, counter: 0))))
        #expect(other.skipped.map(\.reason) == [.nameTaken])
        #expect(
            try await authenticator.accounts().first?.mechanisms.map(\.kind) == [try TransferFixture.hotp(counter: 10)])
    }

    @Test("adds a mechanism to an account that is there, which keeps its names and gets the rules it lacks")
    func existing() async throws {
        let bench = Bench()
        let own = Account(
            id: TransferFixture.bank, displayIssuer: "Mine", timeAdded: Sample.start,
            policies: ["biometricAvailable": .object([:]), "deviceTampering": .object(["score": .number(0.1)])])
        try bench.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(own) }
        var offered = TransferFixture.account(TransferFixture.bank, try TransferFixture.totp())
        offered.displayIssuer = "Theirs"
        offered.lockingPolicy = "deviceTampering"
        offered.policies = ["deviceTampering": .object(["score": .number(0.9)]), "other": .object([:])]
        let report = try await bench.authenticator.importAccounts(ImportContent(offered))
        #expect(report.imported.count == 1)
        let kept = try bench.store.read { (records: any AccountReader) throws(StoreError) in
            try records.account(TransferFixture.bank)
        }
        let stored = try #require(kept)
        #expect(stored.displayIssuer == "Mine" && stored.lockingPolicy == "deviceTampering")
        #expect(stored.policies["deviceTampering"]?["score"] == .number(0.1))
        #expect(Set(stored.policies.keys) == ["biometricAvailable", "deviceTampering", "other"])
        let restriction = try #require(report.restrictions.first)
        #expect(report.restrictions.count == 1 && restriction.account == TransferFixture.bank)
        #expect(restriction.lock == "deviceTampering" && restriction.policies == ["other"])
    }

    @Test("leaves everything as it was when the store fails")
    func fault() async throws {
        let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
        for operation in [StoreCall.Operation.begin, .put, .commit] {
            let faulty = FaultyStore(MemoryStore())
            let authenticator = Bench(store: AccountRecords(unsealed: faulty)).authenticator
            faulty.inject(StoreFault(.full, at: operation))
            await #expect(throws: StoreError.self) { try await authenticator.importAccounts(content) }
            faulty.heal()
            #expect(try await authenticator.accounts().isEmpty)
            #expect(try await authenticator.importAccounts(content).imported.count == 3)
        }
    }

    @Test("does not write over a record that cannot be read")
    func damaged() async throws {
        let store = MemoryStore()
        let key = RecordKey(.account, "Harbor Bank", "mira")
        try store.write { (records: any RecordWriter) throws(StoreError) in try records.put(Array("?".utf8), key) }
        let authenticator = Bench(store: AccountRecords(unsealed: store)).authenticator
        let report = try await authenticator.importAccounts(
            ImportContent(
                TransferFixture.account(TransferFixture.bank, try TransferFixture.totp()),
                TransferFixture.account(TransferFixture.alone, try TransferFixture.totp())))
        #expect(report.skipped.map(\.reason) == [.damagedRecord])
        #expect(report.imported.map(\.account) == [TransferFixture.alone])
        let kept = try store.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
        #expect(kept == Array("?".utf8))
        await #expect(throws: StoreError.self) { try await authenticator.archive() }
        #expect(try await authenticator.archive(skippingDamaged: true).accounts.map(\.id) == [TransferFixture.alone])
    }

    @Test("makes no counter beside one that cannot be read, and everything else")
    func besideDamagedCounter() async throws {
        let store = MemoryStore()
        let authenticator = Bench(store: AccountRecords(unsealed: store)).authenticator
        let hotp = try await authenticator.enroll(uri: Sample.hotp).mechanisms[0]
        try store.write { (records: any RecordWriter) throws(StoreError) in
            try records.put([1], RecordKey(.mechanism, hotp.uid))
        }
        let report = try await authenticator.importAccounts(
            ImportContent(
                TransferFixture.account(
                    TransferFixture.bank, try TransferFixture.hotp(counter: 2), try TransferFixture.totp()),
                TransferFixture.account(TransferFixture.alone, try TransferFixture.hotp(counter: 2))))
        #expect(report.skipped.map(\.reason) == [.damagedRecord])
        #expect(report.imported.map(\.kind) == [.totp, .hotp])
        // Whoever knows that the file's counter is the newest removes the account first.
        try await authenticator.removeAccount(TransferFixture.bank)
        let again = try await authenticator.importAccounts(
            ImportContent(TransferFixture.account(TransferFixture.bank, try TransferFixture.hotp(counter: 9))))
        #expect(again.imported.count == 1)
    }

    @Test("An archive that somebody else made is held to what a URI is held to")
    func foreignArchive() async throws {
        var sample = try ArchiveTests.sample()
        guard let place = sample.mechanisms.firstIndex(where: { $0.push != nil }),
            case .push(var settings) = sample.mechanisms[place].kind
        else { throw AuthenticatorTestError.noPush }
        settings.authenticationEndpoint = try Endpoint(stored: "http://elsewhere.example.test/push")
        sample.mechanisms[place].kind = .push(settings)
        let push = sample.mechanisms[place].account
        let other = sample.accounts.firstIndex { $0.id != push }
        let victim = try #require(other)
        sample.accounts[victim].displayIssuer = "Harbor\u{202E}knaB"
        let content = sample.content
        let id = sample.accounts[victim].id
        let invalidTypes = content.skipped.filter { $0.reason == .invalid }.map(\.type)
        #expect(invalidTypes.contains("push"))
        #expect(invalidTypes.contains("account"))
        let victimAccount = content.accounts.first { $0.id == id }
        #expect(victimAccount?.mechanisms.isEmpty ?? true)
        let takenPush = content.accounts.flatMap(\.mechanisms).filter { $0.kindName == .push }
        #expect(takenPush.isEmpty)
        // Who trusts the host can say so.
        let trusting = sample.content(policy: EndpointPolicy.allowingPlainHTTP(to: ["elsewhere.example.test"]))
        let trustedPush = trusting.accounts.flatMap(\.mechanisms).filter { $0.kindName == .push }
        #expect(!trustedPush.isEmpty)
    }

    @Test("An otpauth list names what cannot be read")
    func exportedBesideDamage() async throws {
        let store = MemoryStore()
        let authenticator = Bench(store: AccountRecords(unsealed: store)).authenticator
        _ = try await authenticator.enroll(uri: Sample.totp)
        let counted = try await authenticator.enroll(uri: Sample.hotp).mechanisms.first { $0.kindName == .hotp }
        let hotp = try #require(counted)
        try store.write { (records: any RecordWriter) throws(StoreError) in
            try records.put([1], RecordKey(.mechanism, hotp.uid))
        }
        let list = try await authenticator.otpauthURIs()
        #expect(list.uris.count == 1)
        #expect(list.damagedCount == 1)
        #expect(list.skipped.rows == [["a record", "mechanism", "damagedRecord"]])
    }

    @Test("puts back an archive as it was: accounts, push, locks, names and messages", arguments: StoreKind.allCases)
    func restored(kind: StoreKind) async throws {
        let sample = try ArchiveTests.sample()
        try await kind.withStore { store in
            let authenticator = Bench(store: store).authenticator
            let report = try await authenticator.importAccounts(sample.content)
            #expect(report.skipped.isEmpty && report.imported.count == 4 && report.notificationCount == 1)
            let made = try await authenticator.archive(includingNotifications: true)
            #expect(Set(made.accounts) == Set(sample.accounts))
            #expect(Set(made.mechanisms) == Set(sample.mechanisms))
            #expect(made.notifications == sample.notifications)
            #expect(try await authenticator.archive().notifications.isEmpty)
            let again = try await authenticator.importAccounts(made.content)
            #expect(again.imported.isEmpty && again.notificationCount == 0)
            #expect(Set(again.skipped.map(\.reason)) == [.duplicate] && again.skipped.count == 5)
        }
    }

    @Test("leaves out a message whose mechanism is not there, and an id that is taken")
    func orphans() async throws {
        var sample = try ArchiveTests.sample()
        sample.mechanisms.removeAll { $0.kindName == .push }
        let authenticator = Bench().authenticator
        let report = try await authenticator.importAccounts(sample.content)
        #expect(report.skipped.map(\.reason) == [.orphaned] && report.notificationCount == 0)
        var taken = TransferFixture.account(TransferFixture.alone, try TransferFixture.totp())
        taken.mechanisms[0].uid = "uid-1"
        let second = try await authenticator.importAccounts(ImportContent(taken))
        #expect(second.skipped.map(\.reason) == [.duplicate] && second.imported.isEmpty)
    }

    @Test("An otpauth list gives back what it can hold, and names push and what is locked")
    func exported() async throws {
        let sample = try ArchiveTests.sample()
        let authenticator = Bench().authenticator
        _ = try await authenticator.importAccounts(sample.content)
        let locked = try await authenticator.otpauthURIs()
        #expect(Set(locked.skipped.map(\.reason)) == [.notExpressible, .locked])
        #expect(locked.uris.count == 1)

        var unlocked = sample
        unlocked.accounts = unlocked.accounts.map { account in
            var account = account
            account.lockingPolicy = nil
            account.policies = [:]
            return account
        }
        let second = Bench().authenticator
        _ = try await second.importAccounts(unlocked.content)
        let list = try await second.otpauthURIs()
        #expect(list.skipped.map(\.type) == ["push"])
        #expect(list.leftOut == ["display name": 1], "of two accounts one has names of the person's own")
        #expect(locked.leftOut.isEmpty, "what is not in the list leaves nothing out")
        let content = try ImportFormat.read(Array(list.uris.joined(separator: "\n").utf8))
        #expect(content.skipped.isEmpty)
        let oathKinds = sample.mechanisms.map(\.kind).filter {
            if case .push = $0 { false } else { true }
        }
        #expect(Set(content.accounts.flatMap(\.mechanisms).map(\.kind)) == Set(oathKinds))
    }
}
