package import SignetCore
package import SignetStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension AccountRules {
    // MARK: Push

    /// Opens a push message: finds its mechanism, finds out if the message arrived before, and verifies that the mechanism's
    /// server has signed it.
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

    /// Stores an opened push message if it is new: saves the user's id if the mechanism has none, stores the message, and removes
    /// the messages that `retention` does not keep. For a message that arrived before, the existing record is returned.
    package static func receive(
        _ opened: OpenedMessage, now: Date, clockOffset: Double? = nil, retention: NotificationRetention,
        in records: any AccountWriter
    ) throws(StoreError) -> Result<PushNotification, any Error> {
        let uid = opened.mechanism.uid
        // Since the message was opened, another task or process may have stored it, or removed the mechanism.
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

    /// Returns a notification with the data that are needed to answer it. ``PendingAnswer/refusal(at:)`` tells if it can still be
    /// answered.
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

    /// Records that an answer is about to be sent. Returns the current data of the notification, including an earlier answer with
    /// unknown outcome, or the error because of which no answer can be sent. The check is repeated here because the user may have
    /// taken minutes since the notification was read. In the meantime another task or process may have answered it, or locked the
    /// account.
    package static func beginAnswer(
        _ decision: PushNotification.Decision, to pending: PendingAnswer, now: Date, in records: any AccountWriter
    ) throws(StoreError) -> Result<PendingAnswer, AuthenticatorError> {
        let id = pending.notification.id
        // Only data that may have changed are read again. The mechanism needs no check: its removal removes its notifications
        // too.
        guard let notification = try records.notification(id: id) else { return .failure(.unknownNotification(id)) }
        var current = pending
        current.notification.decision = notification.decision
        current.sent = try records.sentAnswer(to: id)
        if let refusal = current.refusal(at: now) { return .failure(refusal) }
        if let policy = try records.account(pending.mechanism.account)?.lockingPolicy {
            return .failure(.locked(.manual(policy: policy)))
        }
        try noteAnswer(decision, to: current, in: records)
        return .success(current)
    }

    /// Records that an answer is about to be sent.
    package static func noteAnswer(
        _ decision: PushNotification.Decision, to pending: PendingAnswer, in records: any AccountWriter
    ) throws(StoreError) {
        guard pending.sent?.decision != decision else { return }
        try records.save(SentAnswer(notificationID: pending.notification.id, decision: decision))
    }

    /// Stores an answer that the server has accepted. If the notification already has an answer, that one is kept and returned. A
    /// notification that was removed in the meantime is not stored again.
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

/// A verified push message with its stored data.
package struct OpenedMessage: Sendable {
    /// The server's message id.
    package let messageID: String
    /// The content of the message.
    package let message: PushMessage
    /// The mechanism that the message is for.
    package let mechanism: Mechanism
    /// The existing record, if the message arrived before.
    package let known: PushNotification?
}

/// A notification to be answered.
package struct PendingAnswer: Sendable {
    /// The notification.
    package var notification: PushNotification
    /// The mechanism that the notification is for.
    package let mechanism: Mechanism
    /// The push settings of the mechanism, which are needed to answer.
    package let push: PushSettings
    /// The account of the mechanism; nil when the store has no such account.
    package let account: Account?
    /// An answer that was sent earlier and whose outcome is unknown, if there is one.
    package fileprivate(set) var sent: SentAnswer?

    /// Returns the error because of which the notification cannot be answered at `date`; nil when it can be answered.
    package func refusal(at date: Date) -> AuthenticatorError? {
        switch notification.state(at: date) {
        case .pending: nil
        case .expired: AuthenticatorError(.expired, "the login it belongs to is no longer waiting; start it again")
        case .approved: AuthenticatorError(.alreadyAnswered, "it was approved before")
        case .denied: AuthenticatorError(.alreadyAnswered, "it was denied before")
        }
    }
}
