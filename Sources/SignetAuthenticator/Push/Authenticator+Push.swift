public import SignetCore
import SignetNetwork
public import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Authenticator {
    /// Receives a push message: verifies it, and stores it if it is new. For a message that has arrived before, even
    /// concurrently, the call returns the existing record. The same transaction removes the messages that
    /// ``NotificationRetention`` does not keep, and stores the user's id if the mechanism has none.
    /// - Throws: `PushMessageError` for a message that the mechanism's server has not signed,
    ///   ``AuthenticatorError/Code/unknownMechanism`` for a message to a mechanism that does not exist here. In these cases
    ///   nothing is stored.
    public func receive(_ delivery: PushDelivery) async throws -> PushNotification {
        await settleAnswers()
        let (platform, uid) = try platforms.claim(delivery)
        // The message is verified without write access first, so that forged messages never block writers.
        let opened = try await store.read { (records: any AccountReader) throws(StoreError) in
            try AccountRules.open(delivery, as: uid, by: platform, in: records)
        }.get()
        if let known = opened.known { return known }
        let now = clock.now
        let offset = opened.mechanism.push.flatMap { wire.clocks.clock(of: $0.authenticationEndpoint).offset }
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.receive(opened, now: now, clockOffset: offset, retention: retention, in: records)
        }.get()
    }

    /// Returns all notifications, newest first.
    public func notifications() async throws(StoreError) -> [PushNotification] {
        await settleAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in try records.notifications() }
    }

    /// Returns the notifications of one mechanism, newest first.
    public func notifications(of mechanismUID: String) async throws(StoreError) -> [PushNotification] {
        await settleAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in
            try records.notifications(of: mechanismUID)
        }
    }

    /// Returns the notification with this id.
    /// - Throws: ``AuthenticatorError/Code/unknownNotification``.
    public func notification(_ id: String) async throws -> PushNotification {
        await settleAnswers()
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.notification(id: id) }
        guard let found else { throw AuthenticatorError.unknownNotification(id) }
        return found
    }

    /// Approves a notification.
    ///
    /// When the server has accepted the answer but the store fails, the next call repairs that: it stores the answer, or sends it
    /// again if the process has ended in the meantime.
    /// - Parameters:
    ///   - id: The notification's id.
    ///   - number: The number that the login page shows, for a notification that asks for a number.
    ///   - presence: The check of the user's presence, for a notification that asks for one.
    /// - Throws: Before any request is sent, ``AuthenticatorError`` when the notification has expired or is already answered, the
    ///   account is locked, the number is not one of those offered, or the user was not recognized. Afterwards, `TransportError`
    ///   when the server cannot be reached, and ``AuthenticatorError/Code/refusedByServer`` when the server rejects the answer.
    ///   In all of these cases the notification stays unchanged.
    public func approve(_ id: String, number: Int? = nil, presence: (any UserPresence)? = nil) async throws -> PushNotification {
        try await answer(
            id, .approved, asksNobody: { $0.isApproved(by: number) },
            making: { notification in try await approval(of: notification, number, presence) })
    }

    /// Denies a notification of any kind. It throws the errors of ``approve(_:number:presence:)``.
    public func deny(_ id: String) async throws -> PushNotification {
        try await answer(id, .denied, asksNobody: { _ in true }, making: { _ in .deny })
    }

    /// Returns the approval in the form that the notification asks for.
    private func approval(
        of notification: PushNotification, _ number: Int?, _ presence: (any UserPresence)?
    ) async throws(AuthenticatorError) -> PushAnswer {
        switch notification.message.kind {
        case .tap: return .approve
        case .number(let choices):
            guard let number, notification.isApproved(by: number) else {
                let offered = choices.map(String.init).joined(separator: ", ")
                throw AuthenticatorError(.wrongNumber, "pick the number that the login page shows: \(offered)")
            }
            return .approveNumber(number)
        case .biometric:
            guard let presence else {
                throw AuthenticatorError(
                    .presenceRefused, "this login asks for the person to be recognized, and nothing here can")
            }
            do {
                try await presence.confirm(notification)
            } catch {
                throw AuthenticatorError(.presenceRefused, "the person was not recognized")
            }
            return .approve
        }
    }
}

/// The state of a notification that the app wants to answer.
private enum Answerable {
    /// The answer has yet to be made, which may take a policy check or a check of the user's presence.
    case waits(PendingAnswer)
    /// The notification is answered.
    case answered(PushNotification)

    var notification: PushNotification {
        switch self {
        case .waits(let pending): pending.notification
        case .answered(let notification): notification
        }
    }
}

extension Authenticator {
    /// Answers a notification.
    /// - Parameters:
    ///   - asksNobody: Returns true when the answer doesn't need a check of the user's presence.
    ///   - make: Makes the answer. It may ask the user.
    private func answer(
        _ id: String, _ decision: PushNotification.Decision, asksNobody: @Sendable (PushNotification) -> Bool,
        making make: (PushNotification) async throws -> PushAnswer
    ) async throws -> PushNotification {
        let found: Answerable = try await alone(id) { settled in
            // The server had already accepted the same answer, which has just been stored.
            if let settled, settled.decision == decision { return .answered(settled) }
            let (pending, isBegun) = try await answerable(id, decision, asksNobody)
            guard isBegun else { return .waits(pending) }
            return .answered(try await send(try await make(pending.notification), decision, to: pending))
        }
        guard case .waits(let pending) = found else { return found.notification }
        if let refusal = pending.refusal(at: clock.now) { throw refusal }
        try await refuseIfLocked(pending.account)
        let answer = try await make(pending.notification)
        return try await alone(id) { settled in
            if let settled, settled.decision == decision { return settled }
            let now = clock.now
            let current = try await store.write { (records: any AccountWriter) throws(StoreError) in
                try AccountRules.beginAnswer(decision, to: pending, now: now, in: records)
            }.get()
            return try await send(answer, decision, to: current)
        }
    }

    /// Runs `body` unless another task of this process is already answering the notification, so that a double click sends one
    /// answer.
    /// - Parameter body: It receives the notification if a server had accepted an answer to it earlier and the store has saved
    ///   that answer only now.
    /// - Throws: ``AuthenticatorError/Code/alreadyAnswered`` when another task is answering the notification.
    private func alone<R>(_ id: String, _ body: (_ settled: PushNotification?) async throws -> R) async throws -> R {
        guard unsettled.beginAnswer(to: id) else {
            throw AuthenticatorError(.alreadyAnswered, "it is being answered at this moment")
        }
        defer { unsettled.endAnswer(to: id) }
        let waiting = unsettled.answered.first { $0.id == id }
        guard let waiting else { return try await body(nil) }
        return try await body(try await settle(waiting))
    }

    /// Returns a notification with all data that are needed to answer it. When the answer needs neither the user nor a policy
    /// check, it is recorded as sent in the same transaction, and `isBegun` is true.
    private func answerable(
        _ id: String, _ decision: PushNotification.Decision, _ asksNobody: @Sendable (PushNotification) -> Bool
    ) async throws -> (PendingAnswer, isBegun: Bool) {
        let (now, clocks) = (clock.now, wire.clocks)
        typealias Outcome = Result<PendingAnswer, AuthenticatorError>
        let look: @Sendable (any AccountReader) throws(StoreError) -> Outcome = { records throws(StoreError) in
            try AccountRules.pendingAnswer(id, in: records).map { found in
                var pending = found
                if let offset = clocks.clock(of: pending.push.authenticationEndpoint).offset {
                    pending.notification.clockOffset = offset
                }
                return pending
            }
        }
        // An external evaluator of policies always takes a separate step, and reading needs no write access.
        if policies.areJudgedElsewhere { return (try await store.read(look).get(), isBegun: false) }
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            let found = try look(records)
            guard case .success(let pending) = found else { return found.map { ($0, isBegun: false) } }
            let isFree = pending.account.map { policies.leaveFree($0) } ?? true
            let isReady = isFree && pending.refusal(at: now) == nil && asksNobody(pending.notification)
            if isReady { try AccountRules.noteAnswer(decision, to: pending, in: records) }
            return .success((pending, isBegun: isReady))
        }.get()
    }

    /// Sends an answer that was recorded as sent, and stores the decision after the server has accepted the answer.
    private func send(
        _ answer: PushAnswer, _ decision: PushNotification.Decision, to pending: PendingAnswer
    ) async throws -> PushNotification {
        do {
            try await platforms.named(pending.push.platform).send(
                answer, to: pending.notification, of: pending.mechanism, over: wire)
        } catch {
            return try await refused(error, pending, decision)
        }
        let stored = try await accepted(decision, to: pending.notification)
        guard stored.decision == decision else { throw AuthenticatorError.answeredBefore(stored.decision) }
        return stored
    }

    private func accepted(
        _ decision: PushNotification.Decision, to notification: PushNotification
    ) async throws(StoreError) -> PushNotification {
        var answered = notification
        answered.decision = decision
        unsettled.note(answered)
        return try await settle(answered)
    }

    /// Interprets the failure of a request. When AM rejects an answer with status 400, and an earlier answer with unknown outcome
    /// was sent, then AM has accepted the earlier one: the message is AM's own, and it has not expired. No other rejection proves
    /// that, because it may come from a gateway.
    private func refused(
        _ error: any Error, _ pending: PendingAnswer, _ decision: PushNotification.Decision
    ) async throws -> PushNotification {
        if let sent = pending.sent, let error = error as? AuthenticatorError, error.code == .refusedByServer, error.status == 400
        {
            let stored = try await accepted(sent.decision, to: pending.notification)
            guard stored.decision == decision else { throw AuthenticatorError.answeredBefore(stored.decision) }
            return stored
        }
        if pending.sent == nil, error.provesNothingTaken {
            let id = pending.notification.id
            // If this fails too, the record stays. The next answer is then handled as if the server might have accepted this one.
            try? await store.write { (records: any AccountWriter) throws(StoreError) in try records.removeSentAnswer(to: id) }
        }
        throw (error as? NotSent)?.error ?? error
    }

    /// Stores the answers that servers have accepted and the store has not saved yet. An answer that still cannot be saved is
    /// kept for later.
    private func settleAnswers() async {
        for answered in unsettled.answered { _ = try? await settle(answered) }
    }

    /// Reads from a synchronous store. Answers that servers have accepted and the store has not saved yet are stored first, in
    /// the same transaction. If they still cannot be saved, they are kept for later and the read goes on without them.
    package func settled<R: Sendable>(
        in store: any ImmediateAccountStore, _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let waiting = unsettled.answered
        guard !waiting.isEmpty else { return try store.read(body) }
        guard
            let found = try? store.write({ (records: any AccountWriter) throws(StoreError) -> R in
                for answered in waiting {
                    guard let decision = answered.decision else { continue }
                    _ = try AccountRules.recordAnswer(decision, to: answered, in: records)
                }
                return try body(records)
            })
        else { return try store.read(body) }
        for answered in waiting { unsettled.forgetAnswer(to: answered.id) }
        return found
    }

    @discardableResult
    private func settle(_ answered: PushNotification) async throws(StoreError) -> PushNotification {
        guard let decision = answered.decision else { return answered }
        let stored = try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.recordAnswer(decision, to: answered, in: records)
        }
        unsettled.forgetAnswer(to: answered.id)
        return stored
    }
}

extension PushNotification {
    /// Returns true when this number, or nil, approves the notification without a check of the user's presence.
    fileprivate func isApproved(by number: Int?) -> Bool {
        switch message.kind {
        case .tap: true
        case .number(let choices): number.map { choices.isEmpty || choices.contains($0) } ?? false
        case .biometric: false
        }
    }
}

extension AuthenticatorError {
    fileprivate static func answeredBefore(_ decision: PushNotification.Decision?) -> AuthenticatorError {
        AuthenticatorError(.alreadyAnswered, "it was \(decision?.rawValue ?? "answered") before")
    }
}

extension Error {
    /// True when an error of a request proves that the server has not accepted the data sent.
    fileprivate var provesNothingTaken: Bool {
        switch self {
        case is NotSent: true
        case let error as TransportError: error.code.isBeforeRequest
        case let error as AuthenticatorError: [.refusedByServer, .unknownPlatform].contains(error.code)
        default: false
        }
    }
}
