package import SignetCore
package import SignetStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension AccountRules {
    // MARK: Push

    /// Looks at a push message: whose it is, whether it came before, and whether it is what its mechanism's server signed.
    package static func open(
        _ delivery: PushDelivery, as uid: String, by platform: any PushPlatform, in records: any AccountReader
    ) throws(StoreError) -> Result<OpenedMessage, any Error> {
        guard !delivery.messageId.isEmpty else { return .failure(PushMessageError.form) }
        let known = try records.notification(messageID: delivery.messageId, mechanismUID: uid)
        guard let mechanism = try records.mechanism(uid), let push = mechanism.push, push.platform == platform.mark else {
            return .failure(AuthenticatorError.unknownMechanism(uid))
        }
        return Result {
            let message = try platform.open(delivery, for: mechanism)
            guard message.mechanismUID == uid else { throw PushMessageError.claim("u") }
            return OpenedMessage(messageID: delivery.messageId, message: message, mechanism: mechanism, known: known)
        }
    }

    /// Takes a push message in that was opened: if it is new the user's id is noted if the mechanism has none, the message
    /// stored, and what is too much or too old removed. A message that came before gives the same record again.
    package static func receive(
        _ opened: OpenedMessage, now: Date, clockOffset: Double? = nil, retention: NotificationRetention,
        in records: any AccountWriter
    ) throws(StoreError) -> Result<PushNotification, any Error> {
        let uid = opened.mechanism.uid
        // Since it was opened somebody else may have taken it in, or removed the mechanism.
        if let known = try records.notification(messageID: opened.messageID, mechanismUID: uid) { return .success(known) }
        guard try records.hasMechanism(uid) else { return .failure(AuthenticatorError.unknownMechanism(uid)) }
        if opened.mechanism.userID == nil, let userID = opened.message.userID, !userID.isEmpty,
            var mechanism = try records.mechanism(uid)
        {
            mechanism.userID = userID
            try records.save(mechanism)
        }
        let notification = PushNotification(
            messageID: opened.messageID, message: opened.message, receivedAt: now, clockOffset: clockOffset)
        try records.add(notification, retention, now: now)
        return .success(notification)
    }

    /// A notification that is to be answered, and what to answer it with. Whether it still can be is asked of the value.
    package static func pendingAnswer(
        _ id: String, in records: any AccountReader
    ) throws(StoreError) -> Result<PendingAnswer, AuthenticatorError> {
        guard let notification = try records.notification(id: id) else { return .failure(.unknownNotification(id)) }
        guard let mechanism = try records.mechanism(notification.message.mechanismUID), let push = mechanism.push else {
            return .failure(.unknownMechanism(notification.message.mechanismUID))
        }
        return .success(
            PendingAnswer(
                notification: notification, mechanism: mechanism, push: push, account: try records.account(mechanism.account),
                sent: try records.sentAnswer(to: id)))
    }

    /// Notes that an answer is about to be sent, and says what it is sent after; or why it cannot be sent any more: since it was
    /// looked at the person may have taken minutes, and somebody else may have answered, or locked the account.
    package static func beginAnswer(
        _ decision: PushNotification.Decision, to pending: PendingAnswer, now: Date, in records: any AccountWriter
    ) throws(StoreError) -> Result<PendingAnswer, AuthenticatorError> {
        let id = pending.notification.id
        // Only what may have changed is read again; with a mechanism go its notifications.
        guard let notification = try records.notification(id: id) else { return .failure(.unknownNotification(id)) }
        var current = pending
        current.notification.decision = notification.decision
        current.sent = try records.sentAnswer(to: id)
        if let refusal = current.refusal(at: now) { return .failure(refusal) }
        if let policy = try records.account(pending.mechanism.account)?.lockingPolicy {
            return .failure(.locked(.byHand(policy: policy)))
        }
        try noteAnswer(decision, to: current, in: records)
        return .success(current)
    }

    /// Notes that an answer is about to be sent.
    package static func noteAnswer(
        _ decision: PushNotification.Decision, to pending: PendingAnswer, in records: any AccountWriter
    ) throws(StoreError) {
        guard pending.sent?.decision != decision else { return }
        try records.save(SentAnswer(notificationID: pending.notification.id, decision: decision))
    }

    /// Stores what the server has accepted. What was answered first is what counts; what was removed meanwhile stays away.
    package static func recordAnswer(
        _ decision: PushNotification.Decision, to notification: PushNotification, in records: any AccountWriter
    ) throws(StoreError) -> PushNotification {
        var answered = notification
        answered.decision = decision
        if let stored = try records.notification(id: notification.id) {
            if stored.decision != nil { return stored }
            try records.save(answered)
        }
        try records.removeSentAnswer(to: notification.id)
        return answered
    }
}

/// A push message that was verified, and what is here of it.
package struct OpenedMessage: Sendable {
    /// The server's id of the message.
    package let messageID: String
    /// What it says.
    package let message: PushMessage
    /// Whom it is for.
    package let mechanism: Mechanism
    /// The record, if it came before.
    package let known: PushNotification?
}

/// A notification that somebody wants to answer.
package struct PendingAnswer: Sendable {
    /// The notification.
    package var notification: PushNotification
    /// Whom it is for.
    package let mechanism: Mechanism
    /// What to answer it with.
    package let push: PushSettings
    /// Whose mechanism it is; nil where a store has lost it.
    package let account: Account?
    /// What was sent before, if that is not known to be settled.
    package fileprivate(set) var sent: SentAnswer?

    /// Why the notification cannot be answered at `date`; nil when it can.
    package func refusal(at date: Date) -> AuthenticatorError? {
        switch notification.state(at: date) {
        case .pending: nil
        case .expired: AuthenticatorError(.expired, "the login it belongs to is no longer waiting; start it again")
        case .approved: AuthenticatorError(.alreadyAnswered, "it was approved before")
        case .denied: AuthenticatorError(.alreadyAnswered, "it was denied before")
        }
    }
}
