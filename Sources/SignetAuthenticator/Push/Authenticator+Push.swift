public import SignetCore
import SignetNetwork
public import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Authenticator {
    /// Takes a push message in: verifies it, and stores it if it is new. A message that came before gives the same record
    /// again, also when it comes twice at once. In the same transaction the messages that are too many or too old go, and the
    /// user's id is noted if the mechanism had none.
    /// - Throws: `PushMessageError` for a message that is not what its mechanism's server signed,
    ///   ``AuthenticatorError/Code/unknownMechanism`` for one to a mechanism that is not here. Nothing is stored then.
    public func receive(_ delivery: PushDelivery) async throws -> PushNotification {
        await settleAnswers()
        let (platform, uid) = try platforms.claim(delivery)
        // First without the right to write: what is forged never holds anybody up.
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

    /// Every notification, the newest first.
    public func notifications() async throws(StoreError) -> [PushNotification] {
        await settleAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in try records.notifications() }
    }

    /// The notifications of one mechanism, the newest first.
    public func notifications(of mechanismUID: String) async throws(StoreError) -> [PushNotification] {
        await settleAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in
            try records.notifications(of: mechanismUID)
        }
    }

    /// The notification with this id.
    public func notification(_ id: String) async throws -> PushNotification {
        await settleAnswers()
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.notification(id: id) }
        guard let found else { throw AuthenticatorError.unknownNotification(id) }
        return found
    }

    /// Approves a notification.
    ///
    /// An answer that the server took, and that could not be stored, is made up for by the next call: it is stored then, or
    /// sent again if the process has ended meanwhile.
    /// - Parameters:
    ///   - id: The notification's id.
    ///   - number: The number that the login page shows, for a notification that asks for one.
    ///   - presence: Who recognises the person, for a notification that asks for that.
    /// - Throws: ``AuthenticatorError`` before any request when the notification is expired or answered, the account locked,
    ///   the number not one of those offered, or the person not recognised; `TransportError` when the server cannot be
    ///   reached, and ``AuthenticatorError/Code/refusedByServer`` when it refuses. The notification stays as it was in all of
    ///   these cases.
    public func approve(_ id: String, number: Int? = nil, presence: (any UserPresence)? = nil) async throws -> PushNotification {
        try await answer(
            id, .approved, asksNobody: { $0.isApproved(by: number) },
            making: { notification in try await approval(of: notification, number, presence) })
    }

    /// Denies a notification of any kind. Fails as ``approve(_:number:presence:)`` does.
    public func deny(_ id: String) async throws -> PushNotification {
        try await answer(id, .denied, asksNobody: { _ in true }, making: { _ in .deny })
    }

    /// The person's yes, in the form that the notification asks for.
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
                    .presenceRefused, "this login asks for the person to be recognised, and nothing here can")
            }
            do {
                try await presence.confirm(notification)
            } catch {
                throw AuthenticatorError(.presenceRefused, "the person was not recognised")
            }
            return .approve
        }
    }
}

/// What has become of a notification that somebody wants to answer.
private enum Answerable {
    /// The answer is to be made, and somebody to be waited for.
    case waits(PendingAnswer)
    /// It is answered.
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
    ///   - asksNobody: Whether the answer needs nobody who has to be waited for.
    ///   - make: Makes the answer; the person may be asked meanwhile.
    private func answer(
        _ id: String, _ decision: PushNotification.Decision, asksNobody: @Sendable (PushNotification) -> Bool,
        making make: (PushNotification) async throws -> PushAnswer
    ) async throws -> PushNotification {
        let found: Answerable = try await alone(id) { settled in
            // The server took this very answer before, and it has just been stored.
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

    /// Does what sends an answer to a notification while nobody else here does: who presses a button twice answers once.
    /// - Parameter body: It is given the notification if a server had taken an answer to it, and the store takes that only now.
    private func alone<R>(_ id: String, _ body: (_ settled: PushNotification?) async throws -> R) async throws -> R {
        guard unsettled.beginAnswer(to: id) else {
            throw AuthenticatorError(.alreadyAnswered, "it is being answered at this moment")
        }
        defer { unsettled.endAnswer(to: id) }
        let waiting = unsettled.answered.first { $0.id == id }
        guard let waiting else { return try await body(nil) }
        return try await body(try await settle(waiting))
    }

    /// A notification with all that is needed to answer it. If nobody has to be waited for, neither a person nor a policy, the
    /// answer is noted as sent in the same transaction.
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
        // Whoever is judged elsewhere is always waited for, and looking needs no right to write.
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

    /// Sends an answer that was noted, and stores it once the server has accepted it.
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

    /// What a request that failed means. An AM that says 400 to an answer now, and was sent one before whose fate nobody knows,
    /// has taken that one: the message is its own, and its time is not over. No other refusal says so: it may be a gateway's.
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
            // If this fails too, the note stays, and the next answer is sent with more care than it needs.
            try? await store.write { (records: any AccountWriter) throws(StoreError) in try records.removeSentAnswer(to: id) }
        }
        throw (error as? NotSent)?.error ?? error
    }

    /// Stores what servers have accepted and the store did not take then. If it still does not, that can wait.
    private func settleAnswers() async {
        for answered in unsettled.answered { _ = try? await settle(answered) }
    }

    /// Reads from a store that answers at once. What servers have accepted and the store did not take then is stored first, in
    /// the same transaction; if it still is not taken, that can wait.
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
    /// Whether it takes this number, or none, as a yes without looking at the person.
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
    /// Whether a server that failed like this has certainly not taken what it was sent.
    fileprivate var provesNothingTaken: Bool {
        switch self {
        case is NotSent: true
        case let error as TransportError: error.code.isBeforeRequest
        case let error as AuthenticatorError: [.refusedByServer, .unknownPlatform].contains(error.code)
        default: false
        }
    }
}
