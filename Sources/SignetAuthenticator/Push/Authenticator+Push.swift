import Foundation
public import SignetCore
import SignetNetwork
public import SignetStorage

extension Authenticator {
    /// Receives a push message: verifies it, and stores it if it is new.
    ///
    /// For a message that has arrived before, even concurrently, the call returns the existing record. If the server has accepted
    /// an answer to it that the store failed to save, the call stores that answer.
    ///
    /// The transaction that stores a message removes the messages that ``NotificationRetention`` does not keep, and stores the
    /// user's id if the mechanism has none.
    /// - Throws: `PushMessageError` for a message that the mechanism's server has not signed,
    ///   ``AuthenticatorError/Code/unknownMechanism`` for a message to a mechanism that does not exist here. In these cases
    ///   nothing is stored.
    public func receive(_ delivery: PushDelivery) async throws -> PushNotification {
        // The message is verified without write access first, so that forged messages never block writers.
        let opened = try await store.fetch(.opened(delivery, platforms))
        guard let known = opened.known else { return try await store.perform(storing(opened)) }
        guard let answered = pendingWrites.answer(to: known.id) else { return known }
        return (try? await flush(answered)) ?? known
    }

    /// Receives a push message like ``receive(_:)``, in a synchronous store.
    package func receive(_ delivery: PushDelivery, in store: any ImmediateAccountStore) throws -> PushNotification {
        let opened = try store.fetch(.opened(delivery, platforms))
        guard let known = opened.known else { return try store.perform(storing(opened)) }
        guard let answered = pendingWrites.answer(to: known.id) else { return known }
        return (try? flush(answered, in: store)) ?? known
    }

    private func storing(_ opened: OpenedMessage) -> AccountOperation<PushNotification, any Error> {
        let offset = opened.mechanism.push.flatMap { clocks.clock(of: $0.authenticationEndpoint).offset }
        return .receive(opened, now: clock.now, clockOffset: offset, retention: retention)
    }

    /// Returns all notifications, newest first.
    public func notifications() async throws(StoreError) -> [PushNotification] {
        await flushAnswers()
        return try await store.fetch(.notifications())
    }

    /// Returns the notifications of one mechanism, newest first.
    public func notifications(of mechanismUID: String) async throws(StoreError) -> [PushNotification] {
        await flushAnswers()
        return try await store.fetch(.notifications(of: mechanismUID))
    }

    /// Returns the notification with this id.
    /// - Throws: ``AuthenticatorError/Code/unknownNotification``.
    public func notification(_ id: String) async throws -> PushNotification {
        await flushAnswers()
        guard let found = try await store.fetch(.notification(id)) else { throw AuthenticatorError.unknownNotification(id) }
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
    /// - Returns: The notification with the stored decision.
    /// - Throws: Before any request is sent, ``AuthenticatorError`` when the notification has expired or is already answered, the
    ///   account is locked, the number is not one of those offered, or the user was not recognized. Afterwards, `TransportError`
    ///   when the server cannot be reached, and ``AuthenticatorError/Code/refusedByServer`` when the server rejects the answer.
    ///   In all of these cases the notification stays unchanged.
    public func approve(_ id: String, number: Int? = nil, presence: (any UserPresence)? = nil) async throws -> PushNotification {
        try await respond(to: id, with: .approved, number, presence)
    }

    /// Denies a notification of any kind.
    ///
    /// It throws the errors of ``approve(_:number:presence:)``.
    public func deny(_ id: String) async throws -> PushNotification { try await respond(to: id, with: .denied) }

    /// Makes the answer with a decision in the form that the notification asks for.
    ///
    /// It may ask the user.
    private func makeAnswer(
        to notification: PushNotification, with decision: PushNotification.Decision, _ number: Int?,
        _ presence: (any UserPresence)?
    ) async throws(AuthenticatorError) -> PushAnswer {
        if let answer = notification.immediateAnswer(with: decision, number) { return answer }
        if case .number(let choices) = notification.message.kind {
            let offered = choices.map(String.init).joined(separator: ", ")
            throw AuthenticatorError(.wrongNumber, "pick the number that the login page shows: \(offered)")
        }
        guard let presence else {
            throw AuthenticatorError(
                .presenceRefused, "this login requires a check of the user, such as biometrics, and this program has none")
        }
        do {
            try await presence.confirm(notification)
        } catch {
            throw AuthenticatorError(.presenceRefused, "the user was not recognized")
        }
        return .approve
    }
}

extension Authenticator {
    /// Answers a notification, and stores the decision after the server has accepted it.
    ///
    /// The first attempt sends the answer at once if neither the user nor an external policy has to be asked. Otherwise the answer
    /// is made while no lock is held, and the second attempt sends it.
    /// - Parameters:
    ///   - id: The notification's id.
    ///   - decision: The decision to store.
    ///   - number: The number of an approval, for a notification that asks for a number.
    ///   - presence: The check of the user's presence, for an approval that asks for one.
    /// - Returns: The notification with the stored decision.
    /// - Throws: ``AuthenticatorError`` when the notification can't be answered, the answer can't be made, the account is locked
    ///   or the server rejects the answer; `TransportError`; `StoreError`.
    private func respond(
        to id: String, with decision: PushNotification.Decision, _ number: Int? = nil, _ presence: (any UserPresence)? = nil
    ) async throws -> PushNotification {
        var answer: PushAnswer?
        while true {
            switch try await attempt(to: id, with: decision, number, answer) {
            case .stored(let notification): return notification
            case .unanswered(let pending):
                try await refuseIfLocked(pending.account)
                answer = try await makeAnswer(to: pending.notification, with: decision, number, presence)
            }
        }
    }

    /// The result of one attempt to answer a notification.
    private enum AnswerAttempt {
        case stored(PushNotification)
        /// Nothing was sent, because an external policy must be evaluated or the user must be asked first.
        case unanswered(PendingAnswer)
    }

    /// Sends the answer that was made, or else the one that needs neither the user nor an external policy, and stores the decision.
    ///
    /// Only one call at a time attempts to answer a notification, so that a double click sends one request.
    private func attempt(
        to id: String, with decision: PushNotification.Decision, _ number: Int?, _ made: PushAnswer?
    ) async throws -> AnswerAttempt {
        guard pendingWrites.beginAnswer(to: id) else {
            throw AuthenticatorError(.alreadyAnswered, "another call is answering the message now")
        }
        defer { pendingWrites.endAnswer(to: id) }
        // A server may have accepted the same decision, and the store may have failed to save it then.
        if let accepted = pendingWrites.answer(to: id) {
            let stored = try await flush(accepted)
            if stored.decision == decision { return .stored(stored) }
        }
        let policies = policies
        let pending = try await store.perform(
            .beginAnswer(decision, to: id, clocks: clocks, now: clock.now) { pending in
                if let made { return made }
                return policies.leaveFree(pending.account) ? pending.notification.immediateAnswer(with: decision, number) : nil
            })
        guard let answer = pending.answer else { return .unanswered(pending) }
        return .stored(try await send(answer, decision, to: pending))
    }

    /// Sends an answer that was recorded as sent, and stores the decision that the server has accepted.
    private func send(
        _ answer: PushAnswer, _ decision: PushNotification.Decision, to pending: PendingAnswer
    ) async throws -> PushNotification {
        var answered = pending.notification
        do {
            try await platforms.named(pending.push.platform).send(
                answer, to: pending.notification, of: pending.mechanism, over: pushTransport)
            answered.decision = decision
        } catch {
            answered.decision = try await acceptedEarlier(error, pending)
        }
        answered.decidedAt = clock.now
        pendingWrites.add(answered)
        let stored = try await flush(answered)
        guard stored.decision == decision else {
            throw AuthenticatorError(.alreadyAnswered, "the message was already \(stored.decision?.rawValue ?? "answered")")
        }
        return stored
    }

    /// Interprets the failure of a request, and returns the decision that the server has accepted earlier.
    ///
    /// When AM rejects an answer with status 400, and an earlier answer with unknown outcome was sent, then AM has accepted the
    /// earlier one: the message is AM's own, and it has not expired. No other rejection proves that, because it may come from a
    /// gateway.
    /// - Throws: The error of the request when it proves no earlier answer.
    private func acceptedEarlier(_ error: any Error, _ pending: PendingAnswer) async throws -> PushNotification.Decision {
        if let sent = pending.sent {
            if let error = error as? AuthenticatorError, error.code == .refusedByServer, error.status == 400 {
                return sent.decision
            }
        } else if error.provesNothingTaken {
            let id = pending.notification.id
            // If this fails too, the record stays. The next answer is then handled as if the server might have accepted this one.
            try? await store.perform(.removeSentAnswer(to: id))
        }
        throw (error as? NotSent)?.error ?? error
    }

    /// Stores the answers that servers have accepted and the store has not saved yet.
    ///
    /// An answer that still cannot be saved is kept for later.
    private func flushAnswers() async {
        for answered in pendingWrites.answers { _ = try? await flush(answered) }
    }

    /// Stores the answers like ``flushAnswers()``, in a synchronous store.
    ///
    /// Call it before each read of notifications.
    package func flushAnswers(in store: any ImmediateAccountStore) {
        for answered in pendingWrites.answers { _ = try? flush(answered, in: store) }
    }

    /// Stores an answer that the server has accepted.
    ///
    /// The write is deferred. When a power failure undoes it, the record of the sent answer is there again, which was durable before
    /// the request. The notification can then be answered once more, and the server's rejection reveals the first answer
    /// (docs/decisions/039-push-writes.md).
    private func flush(_ answered: PushNotification) async throws(StoreError) -> PushNotification {
        let stored = try await store.performDeferred(.recordAnswer(answered))
        pendingWrites.removeAnswer(to: answered.id)
        return stored
    }

    private func flush(_ answered: PushNotification, in store: any ImmediateAccountStore) throws(StoreError) -> PushNotification {
        let stored = try store.performDeferred(.recordAnswer(answered))
        pendingWrites.removeAnswer(to: answered.id)
        return stored
    }
}

extension PushNotification {
    /// Returns the answer with a decision and a number, or without a number.
    ///
    /// It's nil for an approval when the number isn't one of those offered, or when the notification asks for a check of the
    /// user's presence.
    fileprivate func immediateAnswer(with decision: Decision, _ number: Int?) -> PushAnswer? {
        guard decision == .approved else { return .deny }
        return switch message.kind {
        case .tap: .approve
        case .number(let choices): number.flatMap { choices.isEmpty || choices.contains($0) ? .approveNumber($0) : nil }
        case .biometric: nil
        }
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
