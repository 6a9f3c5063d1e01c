package import SignetCore
import SignetNetwork
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
        guard !delivery.messageId.isEmpty, delivery.messageId.isSafeToShow else { return .failure(PushMessageError.form) }
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
        if opened.mechanism.userID == nil, let userID = opened.message.userID, !userID.isEmpty, userID.isSafeToShow,
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

    /// Reads a notification with the data that are needed to answer it and, if `isReady` returns true, records that `decision` is
    /// about to be sent. Without a ready answer, the transaction changes nothing.
    /// - Returns: The current data of the notification, or the error because of which it cannot be answered: it is unknown,
    ///   answered or expired, or its account is locked manually.
    static func beginAnswer(
        _ decision: PushNotification.Decision, to id: String, clocks: ServerClocks, now: Date, in records: any AccountWriter,
        isReady: (PendingAnswer) -> Bool
    ) throws(StoreError) -> Result<(pending: PendingAnswer, isReady: Bool), AuthenticatorError> {
        guard var notification = try records.notification(id: id) else { return .failure(.unknownNotification(id)) }
        guard let mechanism = try records.mechanism(notification.message.mechanismUID), let push = mechanism.push else {
            return .failure(.unknownMechanism(notification.message.mechanismUID))
        }
        if let offset = clocks.clock(of: push.authenticationEndpoint).offset { notification.clockOffset = offset }
        let pending = PendingAnswer(
            notification: notification, mechanism: mechanism, push: push, account: try records.account(mechanism.account),
            sent: try records.sentAnswer(to: id))
        if let refusal = pending.refusal(at: now) { return .failure(refusal) }
        if let policy = pending.account?.lockingPolicy { return .failure(.locked(.manual(policy: policy))) }
        guard isReady(pending) else { return .success((pending, false)) }
        if pending.sent?.decision != decision { try records.save(SentAnswer(notificationID: id, decision: decision)) }
        return .success((pending, true))
    }

    /// Stores an answer that the server has accepted. If the notification already has an answer, that one is kept and returned. A
    /// notification that was removed in the meantime is not stored again.
    static func recordAnswer(
        _ answered: PushNotification, in records: any AccountWriter
    ) throws(StoreError) -> PushNotification {
        if let stored = try records.notification(id: answered.id) {
            if stored.decision != nil { return stored }
            try records.save(answered)
        }
        try records.removeSentAnswer(to: answered.id)
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
struct PendingAnswer: Sendable {
    /// The notification.
    let notification: PushNotification
    /// The mechanism that the notification is for.
    let mechanism: Mechanism
    /// The push settings of the mechanism, which are needed to answer.
    let push: PushSettings
    /// The account of the mechanism; nil when the store has no such account.
    let account: Account?
    /// An answer that was sent earlier and whose outcome is unknown, if there is one.
    let sent: SentAnswer?

    /// Returns the error because of which the notification cannot be answered at `date`; nil when it can be answered.
    func refusal(at date: Date) -> AuthenticatorError? {
        switch notification.state(at: date) {
        case .pending: nil
        case .expired: AuthenticatorError(.expired, "the login it belongs to is no longer waiting; start it again")
        case .approved: AuthenticatorError(.alreadyAnswered, "it was approved before")
        case .denied: AuthenticatorError(.alreadyAnswered, "it was denied before")
        }
    }
}
