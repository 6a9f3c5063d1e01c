import SignetAuthenticator
import SignetCore
import SignetTesting
import Testing

/// An operation of an app's user that has the same result in both API families.
struct FamilyCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// Prepares the state that the operation needs.
    let prepare: @Sendable (Stage) async throws -> Void
    /// Performs the operation. It may be repeated after a failure.
    let act: @Sendable (Stage) async throws -> Void
    /// The error that refuses the operation every time; nil when it succeeds.
    var refusal: APIError?
    /// The error that refuses the operation when it is repeated; nil when it succeeds again.
    var again: APIError?
    /// True if the operation sends servers a device token.
    var tellsServers = false
    /// Checks that the stored state of the account is the operation's result. A refused operation changes nothing.
    let isDone: @Sendable (_ before: Place.State, _ after: Place.State, Stage) throws -> Bool
    /// Checks the state left by a call that took effect but reported a failure, if it differs from the full result.
    var isLeftLate: (@Sendable (_ before: Place.State, _ after: Place.State) -> Bool)?

    var testDescription: String { name }

    init(
        _ name: String, again: APIError? = nil, tellsServers: Bool = false,
        prepare: @escaping @Sendable (Stage) async throws -> Void = { _ in },
        act: @escaping @Sendable (Stage) async throws -> Void,
        isDone: @escaping @Sendable (Place.State, Place.State, Stage) throws -> Bool,
        isLeftLate: (@Sendable (Place.State, Place.State) -> Bool)? = nil
    ) {
        (self.name, self.again, self.prepare, self.act, self.isDone) = (name, again, prepare, act, isDone)
        (self.tellsServers, self.isLeftLate) = (tellsServers, isLeftLate)
    }

    /// Creates a case whose operation is refused and changes nothing.
    init(
        _ name: String, refused refusal: APIError, prepare: @escaping @Sendable (Stage) async throws -> Void,
        act: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.init(name, prepare: prepare, act: act) { before, after, _ in before == after }
        self.refusal = refusal
    }
}

extension FamilyCase {
    static let all = enrollments + codes + accounts + removals + messages + tokens

    static let enrollments: [FamilyCase] = [
        FamilyCase("time-based codes are enrolled", again: .duplicate) {
            try await $0.enroll(.totp)
        } isDone: { _, after, stage in
            after.kinds == [.totp] && after.accounts[0].timeAdded == stage.server.clock.now
        },
        FamilyCase("counter-based codes are enrolled", again: .duplicate) {
            try await $0.enroll(.hotp)
        } isDone: { _, after, _ in
            after.kinds == [.hotp] && after.counter == 7
        },
        FamilyCase("push is enrolled", again: .duplicate) {
            try await $0.enroll(.push)
        } isDone: { _, after, _ in
            after.kinds == [.push] && after.accounts.count == 1
        },
        FamilyCase("codes and push are enrolled together", again: .duplicate) {
            try await $0.enroll(.combined)
        } isDone: { _, after, _ in
            after.kinds == [.push, .totp] && after.accounts.count == 1
        },
        FamilyCase("an account keeps its names, its lock and its time when more is enrolled", again: .duplicate) { stage in
            try await stage.enroll(.underPolicy)
            try await stage.family.rename(stage.account, to: "Harbour")
            try await stage.family.lock(stage.account, policy: "custom")
            stage.server.clock.advance(by: 60)
        } act: {
            try await $0.enroll(.push)
        } isDone: { before, after, _ in
            guard let old = before.accounts.first, let new = after.accounts.first else { return false }
            return Set(after.kinds) == [.totp, .push] && after.mechanisms.contains(before.mechanisms[0])
                && new.displayIssuer == "Harbour" && new.lockingPolicy == "custom" && new.timeAdded == old.timeAdded
                && new.policies == old.policies
        },
        duplicate("time-based codes", [.totp], then: .totp), duplicate("counter-based codes", [.hotp], then: .hotp),
        duplicate("push", [.push], then: .push), duplicate("codes, with push that is new", [.totp], then: .combined),
        FamilyCase("what is under a policy that the device does not meet is not enrolled", refused: .policyViolation) { _ in
        } act: {
            try await $0.enroll(.underUnmetPolicy)
        },
    ]

    private static func duplicate(_ what: String, _ first: [Offer], then second: Offer) -> FamilyCase {
        FamilyCase("\(what), that are there already, are not enrolled again", refused: .duplicate) { stage in
            for offer in first { try await stage.enroll(offer) }
        } act: {
            try await $0.enroll(second)
        }
    }

    static let codes: [FamilyCase] = [
        FamilyCase("a time-based code is made of the time") {
            try await $0.enroll(.totp)
        } act: {
            $0.show(try await $0.family.code(.totp, of: $0.account))
        } isDone: { before, after, stage in
            let expected = after.mechanisms.first?.oath?.code(at: stage.server.clock.now).digits
            return before == after && stage.codes.allSatisfy { $0 == expected }
        },
        FamilyCase("a counter-based code is durable before it is shown, and never shown twice") {
            try await $0.enroll(.hotp)
        } act: {
            $0.show(try await $0.family.code(.hotp, of: $0.account))
        } isDone: { before, after, stage in
            // The codes of the counters 7, 8 and 9; one may be skipped.
            let known = ["099169": UInt64(7), "802135": 8, "594937": 9]
            let shown = stage.codes.map { known[$0] ?? 0 }
            guard let next = after.counter, let last = shown.last else { return false }
            return shown == shown.sorted() && Set(shown).count == shown.count && shown[0] >= 7 && last < next
        } isLeftLate: { before, after in
            // The counter of a code that was never shown has been used.
            after.counter == before.counter.map { $0 + 1 } && after.accounts == before.accounts
        },
        whileLocked("codes are given") { $0.show(try await $0.family.code(.hotp, of: $0.account)) },
        whileLocked("time-based codes are given") { $0.show(try await $0.family.code(.totp, of: $0.account)) },
    ]

    /// Returns a case whose operation a locked account refuses.
    private static func whileLocked(_ what: String, _ act: @escaping @Sendable (Stage) async throws -> Void) -> FamilyCase {
        FamilyCase("no \(what) while the account is locked", refused: .locked) { stage in
            try await stage.enroll(.underPolicy, .hotp, .push)
            try await stage.receive()
            try await stage.family.lock(stage.account, policy: "custom")
        } act: {
            try await act($0)
        }
    }

    static let accounts: [FamilyCase] = [
        FamilyCase("an account gets another name") {
            try await $0.enroll(.combined)
        } act: {
            try await $0.family.rename($0.account, to: "Harbour")
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].displayIssuer = "Harbour"
            return after == expected
        },
        whileLocked("names are changed") { try await $0.family.rename($0.account, to: "Harbour") },
        FamilyCase("an account is locked", again: .alreadyLocked) {
            try await $0.enroll(.underPolicy)
        } act: {
            try await $0.family.lock($0.account, policy: "custom")
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].lockingPolicy = "custom"
            return after == expected
        },
        FamilyCase("an account is unlocked", again: .notLocked) {
            try await $0.enroll(.underPolicy)
            try await $0.family.lock($0.account, policy: "custom")
        } act: {
            try await $0.family.unlock($0.account)
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].lockingPolicy = nil
            return after == expected
        },
        FamilyCase("a locked account is not locked again", refused: .alreadyLocked) {
            try await $0.enroll(.underPolicy)
            try await $0.family.lock($0.account, policy: "custom")
        } act: {
            try await $0.family.lock($0.account, policy: "custom")
        },
        FamilyCase("what is not locked is not unlocked", refused: .notLocked) {
            try await $0.enroll(.totp)
        } act: {
            try await $0.family.unlock($0.account)
        },
    ]

    /// Enrolls an account with every kind of mechanism and two notifications.
    private static let furnished: @Sendable (Stage) async throws -> Void = { stage in
        try await stage.enroll(.totp, .hotp, .push)
        try await stage.receive()
        try await stage.receive(.number(choices: [34, 56, 82]))
    }

    static let removals: [FamilyCase] = [
        FamilyCase("an account goes with all that is its own", again: .unknown, prepare: furnished) {
            try await $0.family.remove($0.account)
        } isDone: { _, after, _ in
            after.accounts.isEmpty && after.mechanisms.isEmpty && after.notifications.isEmpty
        },
        FamilyCase("a push mechanism goes with its messages, and its account stays", again: .unknown, prepare: furnished) {
            try await $0.family.remove(.push, of: $0.account)
        } isDone: { before, after, _ in
            Set(after.kinds) == [.totp, .hotp] && after.notifications.isEmpty && after.accounts == before.accounts
        },
        FamilyCase("a mechanism for codes goes, and the messages stay", again: .unknown, prepare: furnished) {
            try await $0.family.remove(.hotp, of: $0.account)
        } isDone: { before, after, _ in
            Set(after.kinds) == [.totp, .push] && after.notifications == before.notifications
                && after.accounts == before.accounts
        },
        FamilyCase("a message goes, and the others stay", again: .unknown, prepare: furnished) {
            try await $0.family.remove(notification: $0.notification)
        } isDone: { before, after, stage in
            after.notifications == before.notifications.filter { $0.id != stage.notification }
                && after.notifications.count == 1 && after.mechanisms == before.mechanisms
        },
    ]
}
