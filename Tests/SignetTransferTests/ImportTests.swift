import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

@Suite("Import into a store")
struct ImportTests {
    @Test(
        "An import stores each entry once, and a second import reports every entry as a duplicate", arguments: StoreKind.allCases)
    func importsEachEntryOnce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let authenticator = AuthenticatorFixture(store: store).authenticator
            let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
            let first = try await authenticator.importAccounts(content)
            #expect(first.imported.map(\.kind) == [.totp, .hotp, .totp, .totp, .totp])
            #expect(first.skipped == content.skipped)
            let stored = try await authenticator.accounts()
            #expect(Set(stored.map(\.account.id)) == Set(content.accounts.map(\.id)))
            let storedSteam = stored.first { $0.account.id == TransferFixture.steam }?.mechanisms.map(\.kind)
            #expect(storedSteam == content.kinds(of: TransferFixture.steam))
            let storedBank = stored.first { $0.account.id == TransferFixture.bank }
            let bank = try #require(storedBank)
            #expect(
                bank.mechanisms.map(\.kind) == [try TransferFixture.hotp(counter: 7), content.accounts[0].mechanisms[0].kind])
            #expect(bank.account.timeAdded == Sample.start)

            let second = try await authenticator.importAccounts(content)
            #expect(second.imported.isEmpty)
            #expect(second.skipped.suffix(5).map(\.reason) == Array(repeating: .duplicate, count: 5))
            #expect(try await authenticator.accounts() == stored)
        }
    }

    @Test("A dry run reports the import without storing anything")
    func dryRunStoresNothing() async throws {
        let authenticator = AuthenticatorFixture().authenticator
        let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
        let dry = try await authenticator.importAccounts(content, dryRun: true)
        #expect(try await authenticator.accounts().isEmpty)
        #expect(try await authenticator.importAccounts(content) == dry)
    }

    @Test("An import never moves an HOTP counter back and never changes a stored secret")
    func keepsCounterAndSecret() async throws {
        let authenticator = AuthenticatorFixture().authenticator
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

    @Test("An import adds a mechanism to a stored account, which keeps its names and gains missing policies")
    func addsMechanismToAccount() async throws {
        let fixture = AuthenticatorFixture()
        let own = Account(
            id: TransferFixture.bank, displayIssuer: "Mine", timeAdded: Sample.start,
            policies: ["biometricAvailable": .object([:]), "deviceTampering": .object(["score": .number(0.1)])])
        try fixture.store.write { (records: any AccountWriter) throws(StoreError) in try records.save(own) }
        var offered = TransferFixture.account(TransferFixture.bank, try TransferFixture.totp())
        offered.displayIssuer = "Theirs"
        offered.lockingPolicy = "deviceTampering"
        offered.policies = ["deviceTampering": .object(["score": .number(0.9)]), "other": .object([:])]
        let report = try await fixture.authenticator.importAccounts(ImportContent(offered))
        #expect(report.imported.count == 1)
        let kept = try fixture.store.read { (records: any AccountReader) throws(StoreError) in
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

    @Test("A store error during an import leaves everything unchanged")
    func storeErrorLeavesStoreUnchanged() async throws {
        let content = try ImportFormat.aegis.read(TransferFixture.bytes("aegis-plain.json"))
        for operation in [StoreCall.Operation.begin, .put, .commit] {
            let faulty = FaultyStore(MemoryStore())
            let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: faulty)).authenticator
            faulty.inject(StoreFault(.full, at: operation))
            await #expect(throws: StoreError.self) { try await authenticator.importAccounts(content) }
            faulty.reset()
            #expect(try await authenticator.accounts().isEmpty)
            #expect(try await authenticator.importAccounts(content).imported.count == 5)
        }
    }

    @Test("A restored backup keeps the members that a later version wrote, and changes none of what is there")
    func restoresUnknownMembers() async throws {
        var archive = try ArchiveTests.sample()
        for index in archive.accounts.indices {
            archive.accounts[index].unknownMembers = UnknownMembers(["position": .string("kept")])
        }
        for index in archive.mechanisms.indices {
            archive.mechanisms[index].unknownMembers = UnknownMembers(["owner": .string("vault")])
        }
        let bytes = try archive.sealed(with: TransferFixture.passphrase, cost: #require(ScryptCost(logRounds: 10)))
        let opened = try AccountArchive(opening: bytes, with: TransferFixture.passphrase)
        let authenticator = AuthenticatorFixture().authenticator
        _ = try await authenticator.importAccounts(opened.content)
        let stored = try await authenticator.accounts()
        #expect(stored.count == 2)
        for one in stored {
            #expect(one.account.unknownMembers.values == ["position": .string("kept")])
            for mechanism in one.mechanisms { #expect(mechanism.unknownMembers.values == ["owner": .string("vault")]) }
        }
        for index in archive.accounts.indices {
            archive.accounts[index].unknownMembers = UnknownMembers(["position": .string("other")])
        }
        _ = try await authenticator.importAccounts(archive.content)
        #expect(try await authenticator.accounts() == stored)
    }

    @Test("An import brings back an account whose record was lost, with its lock, and leaves its mechanisms as they are")
    func restoresLostAccount() async throws {
        let store = MemoryStore()
        let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator
        let content = try ArchiveTests.sample().content
        _ = try await authenticator.importAccounts(content)
        let stored = try await authenticator.accounts()
        let id = TransferFixture.bank
        try store.write { (records: any RecordWriter) throws(StoreError) in
            try records.remove(RecordKey(.account, id.issuer, id.accountName))
        }
        #expect(try await authenticator.damagedRecords().map(\.kind) == [.account])
        let report = try await authenticator.importAccounts(content)
        #expect(report.imported.isEmpty && report.bareAccounts == [id] && report.restrictions.map(\.account) == [id])
        #expect(try await authenticator.accounts() == stored)
        #expect(try await authenticator.damagedRecords().isEmpty)
    }

    @Test("An import does not overwrite an unreadable record")
    func doesNotOverwriteDamagedRecord() async throws {
        let store = MemoryStore()
        let key = RecordKey(.account, "Harbor Bank", "mira")
        try store.write { (records: any RecordWriter) throws(StoreError) in try records.put(Array("?".utf8), key) }
        let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator
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

    @Test("An import that meets a record of a newer format stores nothing and reports the newer format", arguments: [0, 1])
    func stopsAtNewerFormat(index: Int) async throws {
        let store = FaultyStore(MemoryStore())
        let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator
        let content = try ImportFormat.read(
            TransferFixture.bytes("archive-v1.signet"), passphrase: TransferFixture.passphrase)
        let kind = [RecordKind.account, .mechanism][index]
        store.inject(StoreFault(.newerFormat, at: .record, .when { $0.kind == kind }))
        await #expect {
            try await authenticator.importAccounts(content)
        } throws: {
            ($0 as? StoreError)?.code == .newerFormat
        }
        store.reset()
        #expect(try await authenticator.accounts().isEmpty)
    }

    @Test("An import skips a counter if a stored mechanism is unreadable, and imports everything else")
    func skipsCounterNextToDamagedRecord() async throws {
        let store = MemoryStore()
        let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator
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
        // A user with a newer counter in the file removes the account first.
        try await authenticator.removeAccount(TransferFixture.bank)
        let again = try await authenticator.importAccounts(
            ImportContent(TransferFixture.account(TransferFixture.bank, try TransferFixture.hotp(counter: 9))))
        #expect(again.imported.count == 1)
    }

    @Test("An archive from another program is checked by the rules of an enrollment URI")
    func validatesForeignArchive() async throws {
        var sample = try ArchiveTests.sample()
        guard let index = sample.mechanisms.firstIndex(where: { $0.push != nil }),
            case .push(var settings) = sample.mechanisms[index].kind
        else { throw AuthenticatorTestError.noPush }
        settings.authenticationEndpoint = try Endpoint(stored: "http://elsewhere.example.test/push")
        sample.mechanisms[index].kind = .push(settings)
        let push = sample.mechanisms[index].account
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
        // A caller that trusts the host can allow it.
        let trusting = sample.content(policy: EndpointPolicy.allowingPlainHTTP(to: ["elsewhere.example.test"]))
        let trustedPush = trusting.accounts.flatMap(\.mechanisms).filter { $0.kindName == .push }
        #expect(!trustedPush.isEmpty)
    }

    @Test("An otpauth list reports unreadable records")
    func exportReportsDamagedRecords() async throws {
        let store = MemoryStore()
        let authenticator = AuthenticatorFixture(store: AccountRecords(unsealed: store)).authenticator
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

    @Test("An archive restores accounts, push mechanisms, locks, names and messages", arguments: StoreKind.allCases)
    func restoresArchive(kind: StoreKind) async throws {
        let sample = try ArchiveTests.sample()
        try await kind.withStore { store in
            let authenticator = AuthenticatorFixture(store: store).authenticator
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

    @Test("An import skips a message without its mechanism and a mechanism id that is already in use")
    func skipsOrphansAndDuplicateIDs() async throws {
        var sample = try ArchiveTests.sample()
        sample.mechanisms.removeAll { $0.kindName == .push }
        let authenticator = AuthenticatorFixture().authenticator
        let report = try await authenticator.importAccounts(sample.content)
        #expect(report.skipped.map(\.reason) == [.orphaned] && report.notificationCount == 0)
        var taken = TransferFixture.account(TransferFixture.alone, try TransferFixture.totp())
        taken.mechanisms[0].uid = "uid-1"
        let second = try await authenticator.importAccounts(ImportContent(taken))
        #expect(second.skipped.map(\.reason) == [.duplicate] && second.imported.isEmpty)
    }

    @Test("An otpauth list contains the supported mechanisms and reports push and locked ones")
    func exportsOTPAuthList() async throws {
        let sample = try ArchiveTests.sample()
        let authenticator = AuthenticatorFixture().authenticator
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
        let second = AuthenticatorFixture().authenticator
        _ = try await second.importAccounts(unlocked.content)
        let list = try await second.otpauthURIs()
        #expect(list.skipped.map(\.type) == ["push"])
        #expect(list.leftOut == ["display name": 1], "one of two accounts has custom names")
        #expect(locked.leftOut.isEmpty, "entries outside the list leave nothing out")
        let content = try ImportFormat.read(Array(list.uris.joined(separator: "\n").utf8))
        #expect(content.skipped.isEmpty)
        let oathKinds = sample.mechanisms.map(\.kind).filter {
            if case .push = $0 { false } else { true }
        }
        #expect(Set(content.accounts.flatMap(\.mechanisms).map(\.kind)) == Set(oathKinds))
        // The list names the hash function of each account, so that none is marked as assumed.
        let assumed = content.accounts.flatMap(\.mechanisms).filter(\.assumesSHA1)
        #expect(assumed.isEmpty)
    }
}
