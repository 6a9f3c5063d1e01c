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
        await flushAnswers()
        let message = try incoming(delivery)
        // The message is verified without write access first, so that forged messages never block writers.
        let opened = try await store.read(message.open).get()
        if let known = opened.known { return known }
        return try await store.write(message.storing(opened)).get()
    }

    /// Receives a push message like ``receive(_:)``, in a synchronous store.
    package func receive(_ delivery: PushDelivery, in store: any ImmediateAccountStore) throws -> PushNotification {
        let message = try incoming(delivery)
        let opened = try settled(in: store, message.open).get()
        if let known = opened.known { return known }
        return try store.write(message.storing(opened)).get()
    }

    /// Returns all notifications, newest first.
    public func notifications() async throws(StoreError) -> [PushNotification] {
        await flushAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in try records.notifications() }
    }

    /// Returns the notifications of one mechanism, newest first.
    public func notifications(of mechanismUID: String) async throws(StoreError) -> [PushNotification] {
        await flushAnswers()
        return try await store.read { (records: any AccountReader) throws(StoreError) in
            try records.notifications(of: mechanismUID)
        }
    }

    /// Returns the notification with this id.
    /// - Throws: ``AuthenticatorError/Code/unknownNotification``.
    public func notification(_ id: String) async throws -> PushNotification {
        await flushAnswers()
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
        try await respond(
            to: id, with: .approved, canSkipUserInteraction: { $0.isApproved(by: number) },
            makeResponse: { notification in try await approval(of: notification, number, presence) })
    }

    /// Denies a notification of any kind. It throws the errors of ``approve(_:number:presence:)``.
    public func deny(_ id: String) async throws -> PushNotification {
        try await respond(to: id, with: .denied, canSkipUserInteraction: { _ in true }, makeResponse: { _ in .deny })
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

/// The two transactions that receive a push message.
private struct IncomingMessage: Sendable {
    /// Opens the message, without write access.
    let open: @Sendable (any AccountReader) throws(StoreError) -> Result<OpenedMessage, any Error>
    /// Returns the transaction that stores the opened message.
    let storing:
        @Sendable (OpenedMessage) -> @Sendable (any AccountWriter) throws(StoreError) -> Result<PushNotification, any Error>
}

extension Authenticator {
    /// - Throws: `PushMessageError` for a message that no platform can read.
    private func incoming(_ delivery: PushDelivery) throws -> IncomingMessage {
        let (platform, uid) = try platforms.claim(delivery)
        let (retention, clock, clocks) = (retention, clock, clocks)
        return IncomingMessage { records throws(StoreError) in
            try AccountRules.open(delivery, as: uid, by: platform, in: records)
        } storing: { opened in
            let now = clock.now
            let offset = opened.mechanism.push.flatMap { clocks.clock(of: $0.authenticationEndpoint).offset }
            return { records throws(StoreError) in
                try AccountRules.receive(opened, now: now, clockOffset: offset, retention: retention, in: records)
            }
        }
    }
}

extension Authenticator {
    /// Sends a response to a notification, and stores the decision after the server has accepted it.
    ///
    /// The first attempt sends the response at once if neither a prompt nor an external policy check is needed. Otherwise the
    /// response is made while no lock is held, and the second attempt sends it.
    /// - Parameters:
    ///   - canSkipUserInteraction: Returns true when the response doesn't need a check of the user's presence.
    ///   - makeResponse: Makes the response. It may ask the user.
    private func respond(
        to id: String, with decision: PushNotification.Decision,
        canSkipUserInteraction: @Sendable (PushNotification) -> Bool,
        makeResponse: (PushNotification) async throws -> PushAnswer
    ) async throws -> PushNotification {
        var response: PushAnswer?
        while true {
            let (ready, now) = (response != nil, clock.now)
            let attempt = try await withExclusiveResponse(to: id, with: decision) { () async throws -> ResponseAttempt in
                let begun = try await store.write { (records: any AccountWriter) throws(StoreError) in
                    try AccountRules.beginAnswer(decision, to: id, clocks: clocks, now: now, in: records) { pending in
                        ready || policies.leaveFree(pending.account) && canSkipUserInteraction(pending.notification)
                    }
                }.get()
                guard begun.isReady else { return .needsResponse(begun.pending) }
                let answer = if let response { response } else { try await makeResponse(begun.pending.notification) }
                return .finished(try await send(answer, decision, to: begun.pending))
            }
            switch attempt {
            case .finished(let notification): return notification
            case .needsResponse(let pending):
                try await refuseIfLocked(pending.account)
                response = try await makeResponse(pending.notification)
            }
        }
    }

    /// The outcome of one attempt to respond to a notification.
    private enum ResponseAttempt {
        case needsResponse(PendingAnswer)
        case finished(PushNotification)
    }

    /// Runs `body` as the only response in flight for a notification, so that a double click sends one response. If a server has
    /// already accepted the same decision, and the store failed to save it then, it is saved now and `body` does not run.
    /// - Throws: ``AuthenticatorError/Code/alreadyAnswered`` when another task is answering the notification.
    private func withExclusiveResponse(
        to id: String, with decision: PushNotification.Decision, _ body: () async throws -> ResponseAttempt
    ) async throws -> ResponseAttempt {
        guard pendingWrites.beginAnswer(to: id) else {
            throw AuthenticatorError(.alreadyAnswered, "it is being answered at this moment")
        }
        defer { pendingWrites.endAnswer(to: id) }
        if let accepted = pendingWrites.answer(to: id) {
            let stored = try await flush(accepted)
            if stored.decision == decision { return .finished(stored) }
        }
        return try await body()
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
        pendingWrites.add(answered)
        let stored = try await flush(answered)
        guard stored.decision == decision else { throw AuthenticatorError.answeredBefore(stored.decision) }
        return stored
    }

    /// Interprets the failure of a request, and returns the decision that the server has accepted earlier. When AM rejects an
    /// answer with status 400, and an earlier answer with unknown outcome was sent, then AM has accepted the earlier one: the
    /// message is AM's own, and it has not expired. No other rejection proves that, because it may come from a gateway.
    /// - Throws: The error of the request when it proves no earlier answer.
    private func acceptedEarlier(_ error: any Error, _ pending: PendingAnswer) async throws -> PushNotification.Decision {
        if let sent = pending.sent {
            if let error = error as? AuthenticatorError, error.code == .refusedByServer, error.status == 400 {
                return sent.decision
            }
        } else if error.provesNothingTaken {
            let id = pending.notification.id
            // If this fails too, the record stays. The next answer is then handled as if the server might have accepted this one.
            try? await store.write { (records: any AccountWriter) throws(StoreError) in try records.removeSentAnswer(to: id) }
        }
        throw (error as? NotSent)?.error ?? error
    }

    /// Stores the answers that servers have accepted and the store has not saved yet. An answer that still cannot be saved is
    /// kept for later.
    private func flushAnswers() async {
        for answered in pendingWrites.answers { _ = try? await flush(answered) }
    }

    /// Reads from a synchronous store. Answers that servers have accepted and the store has not saved yet are stored first, in
    /// the same transaction. If they still cannot be saved, they are kept for later and the read goes on without them.
    package func settled<R: Sendable>(
        in store: any ImmediateAccountStore, _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let waiting = pendingWrites.answers
        guard !waiting.isEmpty else { return try store.read(body) }
        guard
            let found = try? store.write({ (records: any AccountWriter) throws(StoreError) -> R in
                for answered in waiting { _ = try AccountRules.recordAnswer(answered, in: records) }
                return try body(records)
            })
        else { return try store.read(body) }
        for answered in waiting { pendingWrites.removeAnswer(to: answered.id) }
        return found
    }

    private func flush(_ answered: PushNotification) async throws(StoreError) -> PushNotification {
        let stored = try await store.write { (records: any AccountWriter) throws(StoreError) in
            try AccountRules.recordAnswer(answered, in: records)
        }
        pendingWrites.removeAnswer(to: answered.id)
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
