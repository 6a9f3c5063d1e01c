import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// A record that cannot be read does not block other operations and is removed on request.
@Suite("Damaged records")
struct DamagedRecordTests {
    private let inner = MemoryStore()
    private let fixture: AuthenticatorFixture

    init() {
        fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner))
    }

    private func damage(_ key: RecordKey) throws {
        try inner.write { (records: any RecordWriter) throws(StoreError) in try records.put([1, 2, 3], key) }
    }

    @Test("A damaged device token does not stop an enrollment, is reported, and is quarantined by the next token")
    func damagedTokenIsQuarantined() async throws {
        _ = try await fixture.authenticator.updateDeviceToken("token-2")
        try damage(RecordKey(.deviceToken, "current"))
        #expect(try await fixture.authenticator.damagedRecords().map(\.kind) == [.deviceToken])
        let push = try await fixture.enrollPush()
        #expect(try await fixture.authenticator.updateDeviceToken("token-2").map(\.mechanism.uid) == [push.uid])
        #expect(try fixture.state().token?.token == "token-2")
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
        let kept = try inner.read { (records: any RecordReader) throws(StoreError) in
            try records.records(.quarantined, after: nil, limit: 9)
        }
        let contents = try kept.map { try $0.content.get() }
        #expect(contents == [[1, 2, 3]])
    }

    @Test("A damaged device token in a vault is quarantined unchanged, also after key rotation")
    func damagedTokenInVaultIsQuarantined() async throws {
        let directory = try TemporaryDirectory()
        let protector = try KeyFile.create(path: directory.file("key"))
        let vault = try Vault.create(in: inner, protector: protector)
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            try records.put([1, 2, 3], RecordKey(.deviceToken, "current"))
        }
        let sealed = try inner.all(.deviceToken)
        #expect(sealed.count == 1 && sealed != [[1, 2, 3]])
        let fixture = AuthenticatorFixture(store: AccountRecords(vault))
        _ = try await fixture.authenticator.updateDeviceToken("token-2")
        #expect(try inner.all(.quarantined) == sealed)
        try vault.rotateKey { _ in protector }
        #expect(try inner.all(.quarantined) == sealed)
        #expect(try fixture.state().token?.token == "token-2")
    }

    @Test("A damaged account record is removed with its account")
    func damagedAccountIsRemoved() async throws {
        let push = try await fixture.enrollPush()
        _ = try await fixture.authenticator.receive(try fixture.delivery(to: push))
        try damage(RecordKey(.account, Sample.account.issuer, Sample.account.accountName))
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
        #expect(try fixture.state() == AuthenticatorFixture().state())
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
        #expect(try await !fixture.authenticator.removeAccount(Sample.account))
    }

    @Test("A damaged mechanism is removed with its messages, and the account stays")
    func damagedMechanismIsRemoved() async throws {
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        let enrolled = try await fixture.authenticator.enroll(uri: Sample.push).mechanisms.first { $0.push != nil }
        let push = try #require(enrolled)
        _ = try await fixture.authenticator.receive(try fixture.delivery(to: push))
        try damage(RecordKey(.mechanism, push.uid))
        #expect(try await fixture.authenticator.removeMechanism(push.uid))
        let state = try fixture.state()
        #expect(state.mechanisms.map(\.kindName) == [.totp] && state.accounts.count == 1 && state.notifications.isEmpty)
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
        #expect(try await fixture.enrollPush().uid == push.uid)
    }

    @Test("A record that is gone while another one names it is reported as damaged", arguments: [RecordKind.account, .mechanism])
    func reportsMissingRecord(kind: RecordKind) async throws {
        let push = try await fixture.enrollPush()
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
        let key =
            kind == .mechanism
            ? RecordKey(.mechanism, push.uid) : RecordKey(.account, Sample.account.issuer, Sample.account.accountName)
        try inner.write { (records: any RecordWriter) throws(StoreError) in try records.remove(key) }
        let damaged = try await fixture.authenticator.damagedRecords()
        #expect(damaged.map(\.kind) == [kind] && damaged[0].error.code == .corrupt)
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
    }

    @Test(
        "A mechanism whose record is gone is reported until it is removed, and the account's other mechanisms stay",
        arguments: [true, false])
    func removesMissingMechanism(byName: Bool) async throws {
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        let enrolled = try await fixture.authenticator.enroll(uri: Sample.push).mechanisms.first { $0.push != nil }
        let push = try #require(enrolled)
        let message = try await fixture.authenticator.receive(try fixture.delivery(to: push))
        try inner.write { (records: any RecordWriter) throws(StoreError) in try records.remove(RecordKey(.mechanism, push.uid)) }
        #expect(try await fixture.authenticator.damagedRecords().map(\.kind) == [.mechanism])
        if byName {
            #expect(try await !fixture.authenticator.removeMechanism(push.uid))
        } else {
            #expect(try await fixture.authenticator.removeMissingMechanisms() == 1)
        }
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
        #expect(try await fixture.authenticator.removeMissingMechanisms() == 0)
        let state = try fixture.state()
        #expect(state.mechanisms.map(\.kindName) == [.totp] && state.accounts.count == 1)
        let isThere = state.notifications.contains { $0.id == message.id }
        #expect(!isThere)
        #expect(try await fixture.authenticator.enroll(uri: Sample.push).mechanisms.count == 2)
    }

    @Test("Members of a later version are kept when an account or a mechanism is written again")
    func keepsMembersOfLaterVersion() async throws {
        let hotp = try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms[0]
        let keys = [
            RecordKey(.account, hotp.account.issuer, hotp.account.accountName): "note", RecordKey(.mechanism, hotp.uid): "owner",
        ]
        for (key, name) in keys {
            try inner.write { (records: any RecordWriter) throws(StoreError) in
                guard let bytes = try records.record(key), var members = (try? JSON.value(of: bytes))?.object else { return }
                members[name] = .object(["text": .string("ü"), "list": .array([.integer(1), .null])])
                try records.put(JSON.encode(.object(members)), key)
            }
        }
        _ = try await fixture.authenticator.rename(hotp.account, displayIssuer: "Other", displayAccountName: nil)
        _ = try await fixture.authenticator.code(for: hotp.uid)
        for (key, name) in keys {
            let bytes = try inner.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
            let members = try JSON.value(of: try #require(bytes))
            #expect(members[name] == .object(["text": .string("ü"), "list": .array([.integer(1), .null])]))
        }
        let account = try #require(try await fixture.authenticator.account(hotp.account)?.account)
        #expect(account.displayIssuer == "Other")
        // They may be secrets, so no text of the account contains them.
        var dumped = ""
        dump(account, to: &dumped)
        #expect(account.unknownMembers.values["note"] != nil)
        #expect(!dumped.contains("ü") && !"\(account)".contains("ü") && !String(reflecting: account).contains("ü"))
    }

    @Test("A damaged message is removed, and the other messages stay")
    func damagedNotificationIsRemoved() async throws {
        let push = try await fixture.enrollPush()
        let first = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "1"))
        let second = try await fixture.authenticator.receive(try fixture.delivery(to: push, id: "2"))
        try damage(RecordKey(.notification, first.id))
        #expect(try await fixture.authenticator.removeNotification(first.id))
        #expect(try await fixture.authenticator.notifications(of: push.uid) == [second])
        #expect(try await fixture.authenticator.damagedRecords().isEmpty)
    }

    @Test("A push listener continues after a damaged message, which it reports, and after a busy store")
    func listenerSurvivesDamagedMessage() async throws {
        try await DemoUser.with { user in
            let mechanism = try await user.enrollPush()
            for _ in 0..<2 { _ = try await user.begin("PushLogin") }
            let inner = MemoryStore()
            let store = FaultyStore(inner)
            let records = AccountRecords(unsealed: store)
            try records.write { (records: any AccountWriter) throws(StoreError) in try records.save(mechanism) }
            let transport = AsyncHTTPTransport()
            let authenticator = Authenticator(store: records, transport: transport, device: DemoUser.device)
            // The store is busy once, for the first message.
            store.reset()
            store.inject(StoreFault(.busy, at: .commit, .call(1)))
            let seen = DistinctItems()
            await #expect(throws: StopListening.self) {
                try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                    switch event {
                    case .disconnected(let error, _): _ = seen.add("\((error as? StoreError)?.code ?? .failed)")
                    case .received(let notification): if seen.add(notification.messageID) == 3 { throw StopListening() }
                    case .connected, .refused: break
                    }
                }
            }
            #expect(seen.all.first == "busy")
            // A new listener receives both messages again; one of them collides with the damaged record.
            let stored = try await authenticator.notifications()
            try inner.write { (records: any RecordWriter) throws(StoreError) in
                try records.put([1, 2, 3], RecordKey(.notification, stored[1].id))
            }
            let later = DistinctItems()
            await #expect(throws: StopListening.self) {
                try await PushStreamListener(authenticator, mechanismUID: mechanism.uid).run { event in
                    switch event {
                    case .refused(let error):
                        if later.add("\((error as? StoreError)?.code ?? .failed)") == 2 { throw StopListening() }
                    case .received(let notification): if later.add(notification.id) == 2 { throw StopListening() }
                    case .connected, .disconnected: break
                    }
                }
            }
            #expect(Set(later.all) == ["corrupt", stored[0].id])
            await transport.close()
        }
    }
}

extension RecordStore {
    /// Returns the stored bytes of every record of a kind.
    fileprivate func all(_ kind: RecordKind) throws(StoreError) -> [[UInt8]] {
        try read { (records: any RecordReader) throws(StoreError) in
            try records.records(kind, after: nil, limit: 9).map { record throws(StoreError) in try record.content.get() }
        }
    }
}
