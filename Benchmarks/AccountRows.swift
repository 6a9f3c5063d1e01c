import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting

/// An authenticator with many accounts, in a vault: 10,000 accounts, 20,000 mechanisms, 100,000 push messages.
enum AccountRows {
    static func measure() async throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.path + "/signet-bench-accounts-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer {
            // What is left lies where the system clears up.
            try? FileManager.default.removeItem(atPath: directory)
        }
        let large = try Crowd(directory + "/large", accounts: 10_000)
        let small = try Crowd(directory + "/small", accounts: 100)
        return try await [
            listing(large), finding(large, small), findingMessage(large, small),
            receiving(large, "receive a push message", .none),
            receiving(
                try Crowd(directory + "/slow", accounts: 10_000, isSlow: true), "the same, each write confirmed in 1 ms",
                .atMost(1.2)),
        ]
    }

    private static func listing(_ crowd: Crowd) async throws -> Row {
        let outcome = try await Race(
            ours: .asyncCalls("Authenticator.accounts") { _ in try await crowd.authenticator.accounts().count },
            reference: .calls("read and open") { _ in try crowd.readAndOpen() }, rounds: 11
        ).run()
        return Row("10,000 accounts: list with their mechanisms", outcome, .atMost(1.5))
    }

    private static func finding(_ large: Crowd, _ small: Crowd) async throws -> Row {
        let outcome = try await Race(
            ours: .calls("of 20,000") { try large.findMechanism($0) }, reference: .calls("of 200") { try small.findMechanism($0) }
        ).run()
        return Row("10,000 accounts: find a mechanism by its id", outcome, .atMost(2))
    }

    private static func findingMessage(_ large: Crowd, _ small: Crowd) async throws -> Row {
        let outcome = try await Race(
            ours: .calls("of 100,000") { try large.findMessage($0) }, reference: .calls("of 1,000") { try small.findMessage($0) }
        ).run()
        return Row("10,000 accounts: find a message by its id", outcome, .atMost(2))
    }

    /// Returns the row that compares receiving with the work of the disk.
    ///
    /// The virtual disk under a test machine may confirm a write in 30 µs, where it is all arithmetic; one that keeps what it
    /// confirms takes a millisecond or more.
    private static func receiving(_ crowd: Crowd, _ what: String, _ limit: Limit) async throws -> Row {
        // Until the log has its full length: a disk confirms sooner what makes no file longer.
        for _ in 0..<1_000 {
            _ = try await crowd.receive()
            _ = try crowd.save()
        }
        crowd.prepare(20_000)
        let outcome = try await Race(
            ours: .asyncCalls("verify and store") { _ in try await crowd.receive() },
            reference: .calls("one durable save") { _ in try crowd.save() }, rounds: 61
        ).run()
        return Row("10,000 accounts: \(what)", outcome, limit)
    }
}

/// A vault with so many accounts, each with a TOTP and a push mechanism and ten messages.
private final class Crowd {
    let authenticator: Authenticator
    private let vault: Vault
    private let records: AccountRecords
    private let count: Int
    private let clock = ManualClock(Date(timeIntervalSince1970: 1_735_689_600))
    private let secret = Secret([UInt8](repeating: 7, count: 32))
    private var number = 0
    /// Messages that were made beforehand: that is their server's work.
    private var prepared: [PushDelivery] = []
    private static let messages = 10

    init(_ path: String, accounts count: Int, isSlow: Bool = false) throws {
        vault =
            isSlow
            ? try Vault.create(
                in: SlowDisk(store: try SQLiteStore(path: path + ".sqlite", creating: true)),
                protector: try KeyFile.create(path: path + ".key"))
            : try VaultDirectory(path: path).createVault(.keyFile)
        records = AccountRecords(vault)
        self.count = count
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        authenticator = Authenticator(
            store: records, transport: transport, device: PushDevice(token: "bench", name: "Bench"), clock: clock,
            retention: .newest(Self.messages))
        for first in stride(from: 0, to: count, by: 500) { try fill(first..<min(count, first + 500)) }
    }

    private func fill(_ numbers: Range<Int>) throws {
        let mechanisms = try numbers.map { number in
            (
                id: id(number), added: enrolled(number), oath: oath(number), push: try push(number),
                messages: (0..<Self.messages).map { message(number, $0) }
            )
        }
        try records.write { (records: any AccountWriter) throws(StoreError) in
            for (id, added, oath, push, messages) in mechanisms {
                try records.save(oath)
                try records.save(push)
                try records.save(
                    Account(id: id, imageURL: "https://cdn.example.test/logo.png", backgroundColor: "#336699", timeAdded: added))
                for message in messages { try records.save(message) }
            }
        }
    }

    private func id(_ number: Int) -> AccountID { AccountID(issuer: "Harbor Bank", accountName: "user\(number)") }

    /// One account a minute, in no order that a store keeps.
    private func enrolled(_ number: Int) -> Date { clock.now.addingTimeInterval(Double(number * 7_919 % 10_007) * -60) }

    private func oath(_ number: Int) -> Mechanism {
        Mechanism(
            uid: "OATH-\(number)", account: id(number),
            kind: .oath(OATHSettings(secret: Secret([UInt8](repeating: 1, count: 20)))),
            timeAdded: enrolled(number))
    }

    private func push(_ number: Int) throws -> Mechanism {
        let endpoint = "https://am.example.test/am/json/realms/root/push/sns/message?_action="
        let settings = PushSettings(
            secret: secret, registrationEndpoint: try Endpoint(endpoint + "register"),
            authenticationEndpoint: try Endpoint(endpoint + "authenticate"), loadBalancerCookie: "amlbcookie=01")
        return Mechanism(uid: "PUSH-\(number)", account: id(number), kind: .push(settings), timeAdded: enrolled(number))
    }

    private func message(_ number: Int, _ message: Int) -> PushNotification {
        PushNotification(messageID: "AUTHENTICATE:\(message)", message: content(number), receivedAt: clock.now)
    }

    private func content(_ number: Int, sentAt: Date? = nil) -> PushMessage {
        PushMessage(
            mechanismUID: "PUSH-\(number)", challenge: [UInt8](repeating: 3, count: 32), kind: .tap, timeToLive: 120,
            sentAt: sentAt ?? clock.now, text: "Login attempt at Harbor Bank", loadBalancerCookie: "amlbcookie=01")
    }

    /// Every account's and mechanism's record, opened and not looked into.
    func readAndOpen() throws -> Int {
        try vault.read { (records: any RecordReader) throws(StoreError) in
            var sum = 0
            for kind in [RecordKind.account, .mechanism] {
                try records.forEachRecord(of: kind) { record in sum += (try? record.content.get())?.count ?? 0 }
            }
            return sum
        }
    }

    func findMechanism(_ operation: Int) throws -> Int {
        let uid = "PUSH-\(operation * 7_919 % count)"
        return try records.read { (records: any AccountReader) throws(StoreError) in
            try records.mechanism(uid)?.uid.utf8.count ?? 0
        }
    }

    func findMessage(_ operation: Int) throws -> Int {
        let uid = "PUSH-\(operation * 7_919 % count)"
        return try records.read { (records: any AccountReader) throws(StoreError) in
            try records.notification(messageID: "AUTHENTICATE:3", mechanismUID: uid)?.id.utf8.count ?? 0
        }
    }

    /// Takes in a message that is new, to one mechanism after another.
    func receive() async throws -> Int {
        if prepared.isEmpty { prepare(1) }
        clock.advance(by: 1)
        return try await authenticator.receive(prepared.removeLast()).messageID.utf8.count
    }

    func prepare(_ count: Int) {
        prepared = (1...count).reversed().map { next in
            let message = content((number + next) * 7_919 % self.count, sentAt: clock.now.addingTimeInterval(Double(next)))
            return PushDelivery(messageId: "NEW:\(number + next)", message: message.sealed(with: secret))
        }
        number += count
    }

    /// Stores a record of a message's size under a new name.
    func save() throws -> Int {
        number += 1
        let bytes = withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 0x5A, count: 300)
        try vault.write { (records: any RecordWriter) throws(StoreError) in
            try records.put(bytes, RecordKey(.item, "saved \(number)"))
        }
        return number
    }
}

/// A store whose every write takes a millisecond more: what a disk needs that keeps what it confirms.
private struct SlowDisk: RecordStore {
    let store: SQLiteStore

    func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R { try store.read(body) }

    func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let value = try store.write(body)
        Thread.sleep(forTimeInterval: 0.001)
        return value
    }
}
