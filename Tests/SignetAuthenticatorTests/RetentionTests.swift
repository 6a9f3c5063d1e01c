import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import SignetTransfer
import TestSupport
import Testing

@Suite("Retention of push messages")
struct RetentionTests {
    /// A retention rule, and the kept ones of 40 messages that arrive one an hour.
    static let cases: [(NotificationRetention, Range<Int>)] = [
        (.all, 0..<40), (.newest(5), 35..<40), (.newest(1), 39..<40), (.newest(0), 39..<40), (.newest(100), 0..<40),
        (.youngerThan(days: 1), 15..<40), (.youngerThan(days: 0), 15..<40), (.youngerThan(days: 30), 0..<40),
        (.both(newest: 30, days: 1), 15..<40), (.both(newest: 12, days: 1), 28..<40), (.both(newest: 13, days: 9), 27..<40),
    ]

    @Test("Messages are kept per mechanism by count, by age or by both", arguments: cases, StoreKind.allCases)
    func keepsMessagesByRule(expected: (NotificationRetention, Range<Int>), kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store, retention: expected.0)
            let other = try await fixture.enrollOther()
            let kept = try await fixture.authenticator.receive(try fixture.delivery(to: other, id: "kept"))
            let push = try await fixture.enrollPush()
            try await fixture.receive(40, to: push)
            let left = try await fixture.authenticator.notifications(of: push.uid).map(\.messageID)
            #expect(left == expected.1.reversed().map(String.init))
            #expect(try await fixture.authenticator.notifications(of: other.uid) == [kept])
            #expect(try await fixture.authenticator.notifications().count == left.count + 1)
        }
    }

    /// A retention rule, the hours of the imported messages, and the messages left when the one of hour 100 has arrived.
    ///
    /// The messages of the hours 50 to 60 are stored before.
    static let imports: [(NotificationRetention, [Range<Int>], Set<Int>)] = [
        (.newest(5), [], Set(57..<61).union([100])),
        (.newest(5), [0..<40], Set(57..<61).union([100])),
        (.newest(5), [0..<40, 61..<90], Set(86..<90).union([100])),
        (.newest(30), [0..<40], Set(50..<61).union(22..<40).union([100])),
        (.youngerThan(days: 2), [0..<40], Set(52..<61).union([100])),
        (.youngerThan(days: 3), [0..<40], Set(28..<40).union(50..<61).union([100])),
        (.both(newest: 15, days: 2), [70..<90, 0..<40], Set(76..<90).union([100])),
        (.all, [0..<40], Set(0..<40).union(50..<61).union([100])),
    ]

    @Test(
        "Imported messages are ordered by their arrival time, whatever the order of the file",
        arguments: imports, StoreKind.allCases)
    func ordersImportedMessages(row: (NotificationRetention, [Range<Int>], Set<Int>), kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store, retention: row.0)
            let push = try await fixture.enrollPush()
            func move(to hour: Int) { fixture.clock.move(to: Sample.start.addingTimeInterval(Double(hour) * 3600)) }
            move(to: 49)
            try await fixture.receive(11, to: push, from: 50)
            for hours in row.1 {
                var content = ImportContent()
                // In the order of an archive: the newest first.
                content.notifications = hours.reversed().map { fixture.notification(hour: $0, push) }
                #expect(try await fixture.authenticator.importAccounts(content).notificationCount == hours.count)
            }
            move(to: 99)
            try await fixture.receive(1, to: push, from: 100)
            let left = try await fixture.authenticator.notifications(of: push.uid).map(\.messageID)
            #expect(left == row.2.sorted(by: >).map(String.init))
            #expect(try await fixture.authenticator.notifications().count == left.count)
        }
    }

    @Test("A restored backup with more messages than the limit is cut to the newest when a message arrives")
    func trimsRestoredMessages() async throws {
        let first = AuthenticatorFixture(retention: .all)
        let push = try await first.enrollPush()
        try await first.receive(40, to: push)
        let archive = try await first.authenticator.archive(includingNotifications: true)
        let second = AuthenticatorFixture(retention: .newest(10))
        #expect(try await second.authenticator.importAccounts(archive.content).notificationCount == 40)
        second.clock.move(to: first.clock.now)
        try await second.receive(1, to: push, from: 40)
        #expect(
            try await second.authenticator.notifications(of: push.uid).map(\.messageID) == (31...40).reversed().map(String.init))
    }

    @Test("Removing single messages keeps the order and the count of the others", arguments: StoreKind.allCases)
    func removesSingleMessages(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store, retention: .newest(30))
            let push = try await fixture.enrollPush()
            try await fixture.receive(30, to: push)
            for number in [0, 5, 11, 12, 29, 24] {
                #expect(try await fixture.authenticator.removeNotification(fixture.id(number, push)))
                #expect(try await !fixture.authenticator.removeNotification(fixture.id(number, push)))
            }
            // Six messages can arrive before the first must be removed.
            try await fixture.receive(6, to: push, from: 30)
            let left = Set((0..<36).map(String.init)).subtracting(["0", "5", "11", "12", "29", "24"])
            #expect(try await Set(fixture.authenticator.notifications(of: push.uid).map(\.messageID)) == left)
            try await fixture.receive(1, to: push, from: 36)
            #expect(
                try await Set(fixture.authenticator.notifications(of: push.uid).map(\.messageID))
                    == left.subtracting(["1"]).union(["36"]))
        }
    }

    @Test("Records are found without an index of an earlier version and with a damaged index", arguments: [false, true])
    func findsRecordsWithoutIndex(isDamaged: Bool) async throws {
        let inner = MemoryStore()
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner), retention: .newest(20))
        let push = try await fixture.enrollPush()
        _ = try await fixture.authenticator.enroll(uri: Sample.totp)
        try await fixture.receive(20, to: push)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            for record in try records.records(.index, after: nil, limit: 1000) {
                let key = RecordKey(.index, name: record.name)
                if isDamaged { try records.put([1, 2, 3], key) } else { try records.remove(key) }
            }
        }
        #expect(try await fixture.authenticator.notifications(of: push.uid).count == 20)
        #expect(try await fixture.authenticator.account(Sample.account)?.mechanisms.count == 2)
        await #expect { try await fixture.authenticator.enroll(uri: Sample.totp) } throws: { code($0) == .duplicateMechanism }
        try await fixture.receive(1, to: push, from: 20)
        #expect(
            try await fixture.authenticator.notifications(of: push.uid).map(\.messageID) == (1...20).reversed().map(String.init))
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
        #expect(try fixture.state() == AuthenticatorFixture().state())
        #expect(try inner.names(.index).isEmpty)
    }

    @Test("Removing an account leaves no index page, also after a lost page was rebuilt")
    func removesRebuiltIndexPages() async throws {
        let inner = MemoryStore()
        let fixture = AuthenticatorFixture(store: AccountRecords(unsealed: inner), retention: .newest(24))
        let push = try await fixture.enrollPush()
        try await fixture.receive(12, to: push)
        let before = try inner.names(.index)
        try await fixture.receive(12, to: push, from: 12)
        let page = try #require(try inner.names(.index).subtracting(before).first)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try records.remove(RecordKey(.index, name: page))
            for number in 0..<12 { try records.remove(RecordKey(.notification, fixture.id(number, push))) }
        }
        try await fixture.receive(1, to: push, from: 24)
        #expect(
            try await fixture.authenticator.notifications(of: push.uid).map(\.messageID) == (12...24).reversed().map(String.init))
        #expect(try await fixture.authenticator.removeAccount(Sample.account))
        #expect(try inner.names(.index).isEmpty)
    }

    @Test("Messages above the limit are dropped when an index page between them was lost")
    func dropsMessagesAroundLostPage() async throws {
        let inner = MemoryStore()
        let first = AuthenticatorFixture(store: AccountRecords(unsealed: inner), retention: .all)
        let push = try await first.enrollPush()
        try await first.receive(24, to: push)
        let before = try inner.names(.index)
        try await first.receive(12, to: push, from: 24)
        let secondPage = try #require(try inner.names(.index).subtracting(before).first)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try records.remove(RecordKey(.index, name: secondPage))
        }
        let second = AuthenticatorFixture(store: AccountRecords(unsealed: inner), retention: .newest(5))
        second.clock.move(to: first.clock.now)
        try await second.receive(1, to: push, from: 36)
        #expect(
            try await second.authenticator.notifications(of: push.uid).map(\.messageID) == (32...36).reversed().map(String.init))
        #expect(try await second.authenticator.removeAccount(Sample.account))
        #expect(try inner.names(.index).isEmpty)
    }

    @Test("100 messages received at once are stored up to the limit", arguments: StoreKind.allCases)
    func concurrentMessagesRespectLimit(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let fixture = AuthenticatorFixture(store: store, retention: .newest(40))
            let push = try await fixture.enrollPush()
            let deliveries = try (0..<100).map { try fixture.delivery(to: push, id: "\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for delivery in deliveries { group.addTask { _ = try await fixture.authenticator.receive(delivery) } }
                try await group.waitForAll()
            }
            #expect(try await fixture.authenticator.notifications(of: push.uid).count == 40)
            #expect(try await fixture.authenticator.notifications().count == 40)
        }
    }
}

extension AuthenticatorFixture {
    /// Enrolls another account for push.
    func enrollOther() async throws -> Mechanism {
        let uri = Sample.push.replacing("Harbor%20Bank:mira", with: "Other:mira").replacing("REGISTER:1", with: "REGISTER:2")
            .replacing("&issuer=\(Sample.base64("Harbor Bank"))", with: "")
        return try await authenticator.enroll(uri: uri).mechanisms[0]
    }

    /// Receives `count` messages, one an hour, with their numbers as ids.
    func receive(_ count: Int, to mechanism: Mechanism, from first: Int = 0) async throws {
        for number in first..<first + count {
            clock.advance(by: 3600)
            _ = try await authenticator.receive(try delivery(to: mechanism, id: "\(number)", sentAt: clock.now))
        }
    }

    /// Returns a message that arrived at an hour and has the hour's number as its id.
    func notification(hour: Int, _ mechanism: Mechanism) -> PushNotification {
        let time = Sample.start.addingTimeInterval(Double(hour) * 3600)
        let message = PushMessage(
            mechanismUID: mechanism.uid, challenge: [1, 2, 3], kind: .tap, timeToLive: 60, sentAt: time, text: nil)
        return PushNotification(messageID: "\(hour)", message: message, receivedAt: time)
    }

    /// Returns the id of the message with a number.
    func id(_ number: Int, _ mechanism: Mechanism) -> String {
        PushNotification.id(mechanismUID: mechanism.uid, messageID: "\(number)")
    }
}

extension ManualClock {
    fileprivate func move(to time: Date) { advance(by: time.timeIntervalSince(now)) }
}

extension MemoryStore {
    fileprivate func names(_ kind: RecordKind) throws(StoreError) -> Set<[UInt8]> {
        try read { (records: any RecordReader) throws(StoreError) in
            Set(try records.records(kind, after: nil, limit: 1000).map(\.name))
        }
    }
}
