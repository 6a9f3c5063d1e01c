import SignetAuthenticator
import SignetCore
import SignetTesting
import Testing

/// An operation of an app's user that has the same result in both API families.
struct FamilyCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// Prepares the state that the operation needs.
    let prepare: @Sendable (FamilyCaseRun) async throws -> Void
    /// Performs the operation.
    ///
    /// It may be repeated after a failure.
    let perform: @Sendable (FamilyCaseRun) async throws -> Void
    /// The error that refuses the operation every time; nil when it succeeds.
    var refusal: APIError?
    /// The error that refuses the operation when it is repeated; nil when it succeeds again.
    var repeatRefusal: APIError?
    /// True if the operation sends servers a device token.
    var sendsDeviceToken = false
    /// Checks that the stored state of the account is the operation's result.
    ///
    /// A refused operation changes nothing.
    let isDone: @Sendable (_ before: CaseStorage.State, _ after: CaseStorage.State, FamilyCaseRun) throws -> Bool
    /// Checks the state left by a call that took effect but reported a failure, if it differs from the full result.
    var isDoneAfterFailure: (@Sendable (_ before: CaseStorage.State, _ after: CaseStorage.State) -> Bool)?

    var testDescription: String { name }

    init(
        _ name: String, repeatRefusal: APIError? = nil, sendsDeviceToken: Bool = false,
        prepare: @escaping @Sendable (FamilyCaseRun) async throws -> Void = { _ in },
        perform: @escaping @Sendable (FamilyCaseRun) async throws -> Void,
        isDone: @escaping @Sendable (CaseStorage.State, CaseStorage.State, FamilyCaseRun) throws -> Bool,
        isDoneAfterFailure: (@Sendable (CaseStorage.State, CaseStorage.State) -> Bool)? = nil
    ) {
        (self.name, self.repeatRefusal, self.prepare, self.perform, self.isDone) = (name, repeatRefusal, prepare, perform, isDone)
        (self.sendsDeviceToken, self.isDoneAfterFailure) = (sendsDeviceToken, isDoneAfterFailure)
    }

    /// Creates a case whose operation is refused and changes nothing.
    init(
        _ name: String, refused refusal: APIError, prepare: @escaping @Sendable (FamilyCaseRun) async throws -> Void,
        perform: @escaping @Sendable (FamilyCaseRun) async throws -> Void
    ) {
        self.init(name, prepare: prepare, perform: perform) { before, after, _ in before == after }
        self.refusal = refusal
    }
}

extension FamilyCase {
    static let all = enrollments + codes + accounts + removals + messages + tokens

    static let enrollments: [FamilyCase] = [
        FamilyCase("time-based codes are enrolled", repeatRefusal: .duplicate) {
            try await $0.enroll(.totp)
        } isDone: { _, after, run in
            after.kinds == [.totp] && after.accounts[0].timeAdded == run.server.clock.now
        },
        FamilyCase("counter-based codes are enrolled", repeatRefusal: .duplicate) {
            try await $0.enroll(.hotp)
        } isDone: { _, after, _ in
            after.kinds == [.hotp] && after.counter == 7
        },
        FamilyCase("push is enrolled", repeatRefusal: .duplicate) {
            try await $0.enroll(.push)
        } isDone: { _, after, _ in
            after.kinds == [.push] && after.accounts.count == 1
        },
        FamilyCase("codes and push are enrolled together", repeatRefusal: .duplicate) {
            try await $0.enroll(.combined)
        } isDone: { _, after, _ in
            after.kinds == [.push, .totp] && after.accounts.count == 1
        },
        FamilyCase("an account keeps its names, lock and time when another mechanism is enrolled", repeatRefusal: .duplicate) {
            run in
            try await run.enroll(.underPolicy)
            try await run.family.rename(run.account, to: "Harbour")
            try await run.family.lock(run.account, policy: "custom")
            run.server.clock.advance(by: 60)
        } perform: {
            try await $0.enroll(.push)
        } isDone: { before, after, _ in
            guard let old = before.accounts.first, let new = after.accounts.first else { return false }
            return Set(after.kinds) == [.totp, .push] && after.mechanisms.contains(before.mechanisms[0])
                && new.displayIssuer == "Harbour" && new.lockingPolicy == "custom" && new.timeAdded == old.timeAdded
                && new.policies == old.policies
        },
        duplicate("time-based codes", [.totp], then: .totp), duplicate("counter-based codes", [.hotp], then: .hotp),
        duplicate("push", [.push], then: .push), duplicate("codes, offered together with new push", [.totp], then: .combined),
        FamilyCase("a mechanism whose policy the device does not meet is not enrolled", refused: .policyViolation) { _ in
        } perform: {
            try await $0.enroll(.underUnmetPolicy)
        },
    ]

    private static func duplicate(_ what: String, _ first: [Offer], then second: Offer) -> FamilyCase {
        FamilyCase("\(what) that exist already are not enrolled again", refused: .duplicate) { run in
            for offer in first { try await run.enroll(offer) }
        } perform: {
            try await $0.enroll(second)
        }
    }

    static let codes: [FamilyCase] = [
        FamilyCase("a time-based code is computed from the clock") {
            try await $0.enroll(.totp)
        } perform: {
            $0.show(try await $0.family.code(.totp, of: $0.account))
        } isDone: { before, after, run in
            let expected = after.mechanisms.first?.oath?.code(at: run.server.clock.now).digits
            return before == after && run.codes.allSatisfy { $0 == expected }
        },
        FamilyCase("a counter-based code is durable before it is shown, and never shown twice") {
            try await $0.enroll(.hotp)
        } perform: {
            $0.show(try await $0.family.code(.hotp, of: $0.account))
        } isDone: { before, after, run in
            // The codes of the counters 7, 8 and 9; one may be skipped.
            let known = ["099169": UInt64(7), "802135": 8, "594937": 9]
            let shown = run.codes.map { known[$0] ?? 0 }
            guard let next = after.counter, let last = shown.last else { return false }
            return shown == shown.sorted() && Set(shown).count == shown.count && shown[0] >= 7 && last < next
        } isDoneAfterFailure: { before, after in
            // The counter of a code that was never shown has been used.
            after.counter == before.counter.map { $0 + 1 } && after.accounts == before.accounts
        },
        whileLocked("codes are given") { $0.show(try await $0.family.code(.hotp, of: $0.account)) },
        whileLocked("time-based codes are given") { $0.show(try await $0.family.code(.totp, of: $0.account)) },
    ]

    /// Returns a case whose operation a locked account refuses.
    private static func whileLocked(_ what: String, _ perform: @escaping @Sendable (FamilyCaseRun) async throws -> Void)
        -> FamilyCase
    {
        FamilyCase("no \(what) while the account is locked", refused: .locked) { run in
            try await run.enroll(.underPolicy, .hotp, .push)
            try await run.receive()
            try await run.family.lock(run.account, policy: "custom")
        } perform: {
            try await perform($0)
        }
    }

    static let accounts: [FamilyCase] = [
        FamilyCase("an account is renamed") {
            try await $0.enroll(.combined)
        } perform: {
            try await $0.family.rename($0.account, to: "Harbour")
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].displayIssuer = "Harbour"
            return after == expected
        },
        whileLocked("names are changed") { try await $0.family.rename($0.account, to: "Harbour") },
        FamilyCase("an account is locked", repeatRefusal: .alreadyLocked) {
            try await $0.enroll(.underPolicy)
        } perform: {
            try await $0.family.lock($0.account, policy: "custom")
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].lockingPolicy = "custom"
            return after == expected
        },
        FamilyCase("an account is unlocked", repeatRefusal: .notLocked) {
            try await $0.enroll(.underPolicy)
            try await $0.family.lock($0.account, policy: "custom")
        } perform: {
            try await $0.family.unlock($0.account)
        } isDone: { before, after, _ in
            var expected = before
            expected.accounts[0].lockingPolicy = nil
            return after == expected
        },
        FamilyCase("a locked account is not locked again", refused: .alreadyLocked) {
            try await $0.enroll(.underPolicy)
            try await $0.family.lock($0.account, policy: "custom")
        } perform: {
            try await $0.family.lock($0.account, policy: "custom")
        },
        FamilyCase("an account that is not locked is not unlocked", refused: .notLocked) {
            try await $0.enroll(.totp)
        } perform: {
            try await $0.family.unlock($0.account)
        },
    ]

    /// Enrolls an account with every kind of mechanism and two notifications.
    private static let enrollAll: @Sendable (FamilyCaseRun) async throws -> Void = { run in
        try await run.enroll(.totp, .hotp, .push)
        try await run.receive()
        // Storage clients tell the messages of a mechanism apart by their times.
        run.server.clock.advance(by: 0.001)
        try await run.receive(.number(choices: [34, 56, 82]))
    }

    static let removals: [FamilyCase] = [
        FamilyCase("removing an account removes its mechanisms and messages", repeatRefusal: .unknown, prepare: enrollAll) {
            try await $0.family.remove($0.account)
        } isDone: { _, after, _ in
            after.accounts.isEmpty && after.mechanisms.isEmpty && after.notifications.isEmpty
        },
        FamilyCase(
            "removing a push mechanism removes its messages and keeps the account", repeatRefusal: .unknown, prepare: enrollAll
        ) {
            try await $0.family.remove(.push, of: $0.account)
        } isDone: { before, after, _ in
            Set(after.kinds) == [.totp, .hotp] && after.notifications.isEmpty && after.accounts == before.accounts
        },
        FamilyCase("removing a mechanism for codes keeps the messages", repeatRefusal: .unknown, prepare: enrollAll) {
            try await $0.family.remove(.hotp, of: $0.account)
        } isDone: { before, after, _ in
            Set(after.kinds) == [.totp, .push] && after.notifications == before.notifications
                && after.accounts == before.accounts
        },
        FamilyCase("removing a message keeps the other messages", repeatRefusal: .unknown, prepare: enrollAll) {
            try await $0.family.remove(notification: $0.notification)
        } isDone: { before, after, run in
            after.notifications == before.notifications.filter { $0.id != run.notification }
                && after.notifications.count == 1 && after.mechanisms == before.mechanisms
        },
    ]
}
