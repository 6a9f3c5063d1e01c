import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("Push messages that are kept")
struct RetentionTests {
    /// What is kept of 40 messages, one an hour, and for how long nothing came then.
    static let cases: [(NotificationRetention, Range<Int>)] = [
        (.all, 0..<40), (.newest(5), 35..<40), (.newest(1), 39..<40), (.newest(0), 39..<40), (.newest(100), 0..<40),
        (.youngerThan(days: 1), 15..<40), (.youngerThan(days: 0), 15..<40), (.youngerThan(days: 30), 0..<40),
        (.both(newest: 30, days: 1), 15..<40), (.both(newest: 12, days: 1), 28..<40), (.both(newest: 13, days: 9), 27..<40),
    ]

    @Test("are the newest, or the young ones, or both, of each mechanism", arguments: cases, StoreKind.allCases)
    func retention(expected: (NotificationRetention, Range<Int>), kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store, retention: expected.0)
            let other = try await bench.enrollOther()
            let kept = try await bench.authenticator.receive(try bench.delivery(to: other, id: "kept"))
            let push = try await bench.enrollPush()
            try await bench.receive(40, to: push)
            let left = try await bench.authenticator.notifications(of: push.uid).map(\.messageID)
            #expect(left == expected.1.reversed().map(String.init))
            #expect(try await bench.authenticator.notifications(of: other.uid) == [kept])
            #expect(try await bench.authenticator.notifications().count == left.count + 1)
        }
    }

    @Test("are removed one by one from anywhere, and the rest stays in order and in number", arguments: StoreKind.allCases)
    func removal(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store, retention: .newest(30))
            let push = try await bench.enrollPush()
            try await bench.receive(30, to: push)
            for number in [0, 5, 11, 12, 29, 24] {
                #expect(try await bench.authenticator.removeNotification(bench.id(number, push)))
                #expect(try await !bench.authenticator.removeNotification(bench.id(number, push)))
            }
            // Six may come now before the first has to go.
            try await bench.receive(6, to: push, from: 30)
            let left = Set((0..<36).map(String.init)).subtracting(["0", "5", "11", "12", "29", "24"])
            #expect(try await Set(bench.authenticator.notifications(of: push.uid).map(\.messageID)) == left)
            try await bench.receive(1, to: push, from: 36)
            #expect(
                try await Set(bench.authenticator.notifications(of: push.uid).map(\.messageID))
                    == left.subtracting(["1"]).union(["36"]))
        }
    }

    @Test("are found also where an earlier version kept no index, or the index is damaged", arguments: [false, true])
    func withoutIndex(isDamaged: Bool) async throws {
        let inner = MemoryStore()
        let bench = Bench(store: AccountRecords(unsealed: inner), retention: .newest(20))
        let push = try await bench.enrollPush()
        _ = try await bench.authenticator.enroll(uri: Sample.totp)
        try await bench.receive(20, to: push)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            for record in try records.records(.index, after: nil, limit: 1000) {
                let key = RecordKey(.index, name: record.name)
                if isDamaged { try records.put([1, 2, 3], key) } else { try records.remove(key) }
            }
        }
        #expect(try await bench.authenticator.notifications(of: push.uid).count == 20)
        #expect(try await bench.authenticator.account(Sample.account)?.mechanisms.count == 2)
        await #expect { try await bench.authenticator.enroll(uri: Sample.totp) } throws: { code($0) == .duplicateMechanism }
        try await bench.receive(1, to: push, from: 20)
        #expect(
            try await bench.authenticator.notifications(of: push.uid).map(\.messageID) == (1...20).reversed().map(String.init))
        #expect(try await bench.authenticator.removeAccount(Sample.account))
        #expect(try bench.state() == Bench().state())
        #expect(try inner.names(.index).isEmpty)
    }

    @Test("leave no part of an index behind, also when a part of it was lost and has to be made again")
    func lostPage() async throws {
        let inner = MemoryStore()
        let bench = Bench(store: AccountRecords(unsealed: inner), retention: .newest(24))
        let push = try await bench.enrollPush()
        try await bench.receive(12, to: push)
        let before = try inner.names(.index)
        try await bench.receive(12, to: push, from: 12)
        let page = try #require(try inner.names(.index).subtracting(before).first)
        try inner.write { (records: any RecordWriter) throws(StoreError) in
            try records.remove(RecordKey(.index, name: page))
            for number in 0..<12 { try records.remove(RecordKey(.notification, bench.id(number, push))) }
        }
        try await bench.receive(1, to: push, from: 24)
        #expect(
            try await bench.authenticator.notifications(of: push.uid).map(\.messageID) == (12...24).reversed().map(String.init))
        #expect(try await bench.authenticator.removeAccount(Sample.account))
        #expect(try inner.names(.index).isEmpty)
    }

    @Test("that come to 100 callers at once are all there, and no more than are to be kept", arguments: StoreKind.allCases)
    func concurrency(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bench = Bench(store: store, retention: .newest(40))
            let push = try await bench.enrollPush()
            let deliveries = try (0..<100).map { try bench.delivery(to: push, id: "\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for delivery in deliveries { group.addTask { _ = try await bench.authenticator.receive(delivery) } }
                try await group.waitForAll()
            }
            #expect(try await bench.authenticator.notifications(of: push.uid).count == 40)
            #expect(try await bench.authenticator.notifications().count == 40)
        }
    }
}

extension Bench {
    /// Enrols another account for push.
    func enrollOther() async throws -> Mechanism {
        let uri = Sample.push.replacing("Harbor%20Bank:mira", with: "Other:mira").replacing("REGISTER:1", with: "REGISTER:2")
            .replacing("&issuer=\(Sample.base64("Harbor Bank"))", with: "")
        return try await authenticator.enroll(uri: uri).mechanisms[0]
    }

    /// Takes in so many messages, one an hour, named by their numbers.
    func receive(_ count: Int, to mechanism: Mechanism, from first: Int = 0) async throws {
        for number in first..<first + count {
            clock.advance(by: 3600)
            _ = try await authenticator.receive(try delivery(to: mechanism, id: "\(number)", sentAt: clock.now))
        }
    }

    /// The id of the message with a number.
    func id(_ number: Int, _ mechanism: Mechanism) -> String {
        PushNotification.id(mechanismUID: mechanism.uid, messageID: "\(number)")
    }
}

extension MemoryStore {
    fileprivate func names(_ kind: RecordKind) throws(StoreError) -> Set<[UInt8]> {
        try read { (records: any RecordReader) throws(StoreError) in
            Set(try records.records(kind, after: nil, limit: 1000).map(\.name))
        }
    }
}
