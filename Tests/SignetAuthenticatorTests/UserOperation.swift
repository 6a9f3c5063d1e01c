import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

/// An operation that a user performs with the authenticator.
enum UserOperation: String, CaseIterable, CustomTestStringConvertible {
    case enroll, enrollPush, replacePush, code, receive, receiveOneTooMany, approve, deny
    case resynchronize, rename, lock, unlock, removeAccount, removeMechanism, removeNotification, updateToken

    var testDescription: String { rawValue }

    /// The error of the operation when it was done before.
    var refusalWhenDone: AuthenticatorError.Code? {
        switch self {
        case .enroll, .enrollPush, .replacePush: .duplicateMechanism
        case .approve, .deny: .alreadyAnswered
        case .lock: .alreadyLocked
        case .unlock: .notLocked
        default: nil
        }
    }

    /// Returns whether a commit only records what is about to happen.
    func onlyRecordsIntent(_ occasion: StoreFault.Occasion) -> Bool {
        guard case .call(1) = occasion else { return false }
        return [.approve, .deny, .updateToken].contains(self)
    }

    /// Returns whether the operation may be partly done then: a token is stored before servers are notified, and marked after.
    func mayBePartial(_ occasion: StoreFault.Occasion) -> Bool { self == .updateToken }

    /// The mechanism, delivery or notification that an operation applies to.
    struct Subject: Sendable {
        var mechanism = ""
        var delivery: PushDelivery?
        var notification = ""
    }

    /// Returns the calls that the operation makes to its store when nothing fails.
    func calls() async throws -> [StoreCall] {
        let fixture = try FaultyFixture()
        let subject = try await prepare(fixture)
        fixture.store.reset()
        try await perform(fixture, subject)
        return fixture.store.calls
    }

    func prepare(_ fixture: FaultyFixture) async throws -> Subject {
        switch self {
        case .enroll: return Subject()
        case .enrollPush, .code, .resynchronize:
            return Subject(mechanism: try await fixture.authenticator.enroll(uri: Sample.hotp).mechanisms[0].uid)
        case .receive: return Subject(delivery: try fixture.inner.delivery(to: try await fixture.inner.enrollPush()))
        case .receiveOneTooMany:
            let push = try await fixture.inner.enrollPush()
            for number in 0..<FaultyFixture.maxNotifications {
                _ = try await fixture.authenticator.receive(try fixture.inner.delivery(to: push, id: "\(number)"))
                fixture.inner.clock.advance(by: 1)
            }
            return Subject(delivery: try fixture.inner.delivery(to: push))
        case .approve, .deny, .replacePush, .removeNotification, .rename, .lock, .unlock, .removeAccount, .removeMechanism,
            .updateToken:
            _ = try await fixture.authenticator.enroll(uri: Sample.hotp)
            let push = try await fixture.authenticator.enroll(uri: Sample.push).mechanisms[1]
            let delivery = try fixture.inner.delivery(to: push)
            let notification = try await fixture.authenticator.receive(delivery).id
            if self == .unlock { _ = try await fixture.authenticator.lock(Sample.account, policy: "theirs") }
            return Subject(mechanism: push.uid, notification: notification)
        }
    }

    func perform(_ fixture: FaultyFixture, _ subject: Subject) async throws {
        let authenticator = fixture.authenticator
        switch self {
        case .enroll: _ = try await authenticator.enroll(uri: Sample.combined)
        case .enrollPush: _ = try await fixture.inner.enrollPush()
        case .replacePush:
            _ = try await authenticator.enroll(EnrollmentURI.parse(Sample.secondPush), replacing: [subject.mechanism])
        case .code: fixture.shown.record(try await authenticator.code(for: subject.mechanism))
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
    func checkDone(_ fixture: FaultyFixture, _ comment: Comment) async throws {
        let state = try fixture.state()
        let kinds = state.mechanisms.map(\.kindName)
        #expect(!state.hasOrphans, comment)
        #expect(state.accounts.count == (self == .removeAccount ? 0 : 1), comment)
        switch self {
        case .enroll: #expect(kinds == [.push, .totp], comment)
        case .enrollPush: #expect(kinds == [.hotp, .push], comment)
        case .replacePush:
            let uid = try EnrollmentURI.parse(Sample.secondPush).pushMechanismUID
            #expect(kinds == [.hotp, .push] && state.mechanisms.last?.uid == uid && state.notifications.isEmpty, comment)
        case .code: #expect(try await Self.nextCounter(fixture) > 7, comment)
        case .receive: #expect(state.notifications.map(\.decision) == [nil], comment)
        case .receiveOneTooMany:
            #expect(state.notifications.map(\.messageID) == ["AUTHENTICATE:1", "2", "1"], comment)
        case .approve: #expect(state.notifications.map(\.decision) == [.approved], comment)
        case .deny: #expect(state.notifications.map(\.decision) == [.denied], comment)
        case .resynchronize: #expect(try await Self.nextCounter(fixture) == 40, comment)
        case .rename: #expect(state.accounts.map(\.displayIssuer) == ["Harbour"], comment)
        case .lock: #expect(state.accounts.map(\.lockingPolicy) == ["mine"], comment)
        case .unlock: #expect(state.accounts.map(\.lockingPolicy) == [nil], comment)
        case .removeAccount: #expect(state.mechanisms.isEmpty && state.notifications.isEmpty, comment)
        case .removeMechanism: #expect(kinds == [.hotp] && state.notifications.isEmpty, comment)
        case .removeNotification: #expect(kinds == [.hotp, .push] && state.notifications.isEmpty, comment)
        case .updateToken: #expect(state.token?.token == "token-2" && state.token?.outstanding == [], comment)
        }
    }

    /// Returns the counter that the next code will be computed from.
    static func nextCounter(_ fixture: FaultyFixture) async throws -> UInt64 {
        let mechanism = try fixture.state().mechanisms.first { $0.kindName == .hotp }
        guard case .counter(let next)? = mechanism?.oath?.factor else { return 0 }
        return next
    }
}

/// An authenticator over a store that can fail.
struct FaultyFixture: Sendable {
    /// The number of notifications that are kept.
    static let maxNotifications = 3

    let store = FaultyStore(MemoryStore())
    let inner: AuthenticatorFixture
    /// The counters whose codes were returned.
    let shown = ShownCounters()

    init(_ records: (FaultyStore) throws -> AccountRecords = { AccountRecords(unsealed: $0) }) throws {
        inner = AuthenticatorFixture(store: try records(store), retention: .newest(Self.maxNotifications))
    }

    var authenticator: Authenticator { inner.authenticator }

    func state() throws -> StoredState { try inner.state() }
}

/// The counters whose codes were returned, in order.
final class ShownCounters: Sendable {
    private let counters = Mutex<[OneTimeCode.Basis]>([])

    var all: [OneTimeCode.Basis] { counters.withLock { $0 } }

    func record(_ code: OneTimeCode) {
        counters.withLock { $0.append(code.basis) }
    }
}
