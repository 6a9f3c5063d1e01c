import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Synchronization
import TestSupport
import Testing

/// An operation that a user performs with the authenticator.
enum Act: String, CaseIterable, CustomTestStringConvertible {
    case enroll, enrollPush, code, receive, receiveOneTooMany, approve, deny
    case resynchronize, rename, lock, unlock, removeAccount, removeMechanism, removeNotification, updateToken

    var testDescription: String { rawValue }

    /// The error of the operation when it was done before.
    var refusalWhenDone: AuthenticatorError.Code? {
        switch self {
        case .enroll, .enrollPush: .duplicateMechanism
        case .approve, .deny: .alreadyAnswered
        case .lock: .alreadyLocked
        case .unlock: .notLocked
        default: nil
        }
    }

    /// Returns whether a commit only records what is about to happen.
    func isNote(_ occasion: StoreFault.Occasion) -> Bool {
        guard case .call(1) = occasion else { return false }
        return [.approve, .deny, .updateToken].contains(self)
    }

    /// Returns whether the operation may be partly done then: a token is stored before servers are notified, and marked after.
    func isPartOf(_ occasion: StoreFault.Occasion) -> Bool { self == .updateToken }

    /// The mechanism, delivery or notification that an operation applies to.
    struct Subject: Sendable {
        var mechanism = ""
        var delivery: PushDelivery?
        var notification = ""
    }

    /// Returns the calls that the operation makes to its store when nothing fails.
    func calls() async throws -> [StoreCall] {
        let bench = try FaultyBench()
        let subject = try await prepare(bench)
        bench.store.heal()
        try await perform(bench, subject)
        return bench.store.calls
    }

    func prepare(_ bench: FaultyBench) async throws -> Subject {
        switch self {
        case .enroll: return Subject()
        case .enrollPush, .code, .resynchronize:
            return Subject(mechanism: try await bench.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid)
        case .receive: return Subject(delivery: try bench.bench.delivery(to: try await bench.bench.enrollPush()))
        case .receiveOneTooMany:
            let push = try await bench.bench.enrollPush()
            for number in 0..<FaultyBench.mostNotifications {
                _ = try await bench.authenticator.receive(try bench.bench.delivery(to: push, id: "\(number)"))
                bench.bench.clock.advance(by: 1)
            }
            return Subject(delivery: try bench.bench.delivery(to: push))
        case .approve, .deny, .removeNotification, .rename, .lock, .unlock, .removeAccount, .removeMechanism, .updateToken:
            _ = try await bench.authenticator.enroll(uri: Sample.hotp)
            let push = try await bench.authenticator.enroll(uri: Sample.push).mechanisms[1]
            let delivery = try bench.bench.delivery(to: push)
            let notification = try await bench.authenticator.receive(delivery).id
            if self == .unlock { _ = try await bench.authenticator.lock(Sample.account, policy: "theirs") }
            return Subject(mechanism: push.uid, notification: notification)
        }
    }

    func perform(_ bench: FaultyBench, _ subject: Subject) async throws {
        let authenticator = bench.authenticator
        switch self {
        case .enroll: _ = try await authenticator.enroll(uri: Sample.combined)
        case .enrollPush: _ = try await bench.bench.enrollPush()
        case .code: bench.shown.note(try await authenticator.code(for: subject.mechanism))
        case .receive, .receiveOneTooMany: _ = try await authenticator.receive(try #require(subject.delivery))
        case .approve: _ = try await authenticator.approve(subject.notification)
        case .deny: _ = try await authenticator.deny(subject.notification)
        case .resynchronize: try await authenticator.resynchronize(subject.mechanism, counter: 40)
        case .rename:
            _ = try await authenticator.rename(Sample.account, displayIssuer: "Harbour", displayAccountName: nil)
        case .lock: try await authenticator.lock(Sample.account, policy: "mine")
        case .unlock: try await authenticator.unlock(Sample.account)
        case .removeAccount: try await authenticator.removeAccount(Sample.account)
        case .removeMechanism: try await authenticator.removeMechanism(subject.mechanism)
        case .removeNotification: try await authenticator.removeNotification(subject.notification)
        case .updateToken: _ = try await authenticator.updateDeviceToken("token-2")
        }
    }

    /// Expects the result of the operation to be stored once and completely.
    func checkDone(_ bench: FaultyBench, _ place: Comment) async throws {
        let state = try bench.state()
        let kinds = state.mechanisms.map(\.kindName)
        #expect(!state.hasOrphans, place)
        #expect(state.accounts.count == (self == .removeAccount ? 0 : 1), place)
        switch self {
        case .enroll: #expect(kinds == [.push, .totp], place)
        case .enrollPush: #expect(kinds == [.hotp, .push], place)
        case .code: #expect(try await Self.nextCounter(bench) > 7, place)
        case .receive: #expect(state.notifications.map(\.decision) == [nil], place)
        case .receiveOneTooMany:
            #expect(state.notifications.map(\.messageID) == ["AUTHENTICATE:1", "2", "1"], place)
        case .approve: #expect(state.notifications.map(\.decision) == [.approved], place)
        case .deny: #expect(state.notifications.map(\.decision) == [.denied], place)
        case .resynchronize: #expect(try await Self.nextCounter(bench) == 40, place)
        case .rename: #expect(state.accounts.map(\.displayIssuer) == ["Harbour"], place)
        case .lock: #expect(state.accounts.map(\.lockingPolicy) == ["mine"], place)
        case .unlock: #expect(state.accounts.map(\.lockingPolicy) == [nil], place)
        case .removeAccount: #expect(state.mechanisms.isEmpty && state.notifications.isEmpty, place)
        case .removeMechanism: #expect(kinds == [.hotp] && state.notifications.isEmpty, place)
        case .removeNotification: #expect(kinds == [.hotp, .push] && state.notifications.isEmpty, place)
        case .updateToken: #expect(state.token?.token == "token-2" && state.token?.outstanding == [], place)
        }
    }

    /// Returns the counter that the next code will be computed from.
    static func nextCounter(_ bench: FaultyBench) async throws -> UInt64 {
        let mechanism = try bench.state().mechanisms.first { $0.kindName == .hotp }
        guard case .counter(let next)? = mechanism?.oath?.factor else { return 0 }
        return next
    }
}

/// An authenticator over a store that can fail.
struct FaultyBench: Sendable {
    /// The number of notifications that are kept.
    static let mostNotifications = 3

    let store = FaultyStore(MemoryStore())
    let bench: Bench
    /// The counters whose codes were returned.
    let shown = ShownCounters()

    init(_ records: (FaultyStore) throws -> AccountRecords = { AccountRecords(unsealed: $0) }) throws {
        bench = Bench(store: try records(store), retention: .newest(Self.mostNotifications))
    }

    var authenticator: Authenticator { bench.authenticator }

    func state() throws -> StoredState { try bench.state() }
}

/// The counters whose codes were returned, in order.
final class ShownCounters: Sendable {
    private let counters = Mutex<[OneTimeCode.Basis]>([])

    var all: [OneTimeCode.Basis] { counters.withLock { $0 } }

    func note(_ code: OneTimeCode) {
        counters.withLock { $0.append(code.basis) }
    }
}
