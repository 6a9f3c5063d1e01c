package import Foundation
package import SignetCore
import SignetNetwork
package import SignetStorage

extension AccountQuery where Failure == StoreError {
    /// Returns all notifications, newest first.
    package static func notifications() -> AccountQuery<[PushNotification], StoreError> where Value == [PushNotification] {
        Self { records throws(StoreError) in try records.notifications() }
    }

    /// Returns the notifications of one mechanism, newest first.
    package static func notifications(of mechanismUID: String) -> AccountQuery<[PushNotification], StoreError>
    where Value == [PushNotification] {
        Self { records throws(StoreError) in try records.notifications(of: mechanismUID) }
    }

    /// Returns the notification with this id.
    package static func notification(_ id: String) -> AccountQuery<PushNotification?, StoreError>
    where Value == PushNotification? {
        Self { records throws(StoreError) in try records.notification(id: id) }
    }
}

extension AccountQuery where Value == OpenedMessage, Failure == any Error {
    /// Opens a push message: finds its mechanism, finds out if the message arrived before, and verifies that the mechanism's
    /// server has signed it.
    static func opened(_ delivery: PushDelivery, _ platforms: PushPlatforms) -> Self {
        Self { records in
            let message = try platforms.claim(delivery)
            let messageID = delivery.messageId
            guard !messageID.isEmpty, messageID.isSafeToShow else { throw PushMessageError.form }
            let uid = message.mechanismUID
            let known = try records.notification(messageID: messageID, mechanismUID: uid)
            guard let mechanism = try records.mechanism(uid), let push = mechanism.push, push.platform == message.platform else {
                throw AuthenticatorError.unknownMechanism(uid)
            }
            let content = try message.open(mechanism)
            guard content.mechanismUID == uid else { throw PushMessageError.claim("u") }
            return OpenedMessage(
                messageID: messageID, message: content, subject: delivery.subject, mechanism: mechanism, known: known)
        }
    }
}

extension AccountOperation where Failure == any Error {
    /// Stores an opened push message if it is new: saves the user's id if the mechanism has none, stores the message, and removes
    /// the messages that `retention` does not keep.
    ///
    /// For a message that arrived before, the existing record is returned.
    static func receive(
        _ opened: OpenedMessage, now: Date, clockOffset: Double?, retention: NotificationRetention
    ) -> Self where Value == PushNotification {
        Self { records in
            let uid = opened.mechanism.uid
            // Since the message was opened, another task or process may have stored it, or removed the mechanism.
            if let known = try records.notification(messageID: opened.messageID, mechanismUID: uid) { return known }
            guard try records.hasMechanism(uid) else { throw AuthenticatorError.unknownMechanism(uid) }
            if opened.mechanism.userID == nil, let userID = opened.message.userID, !userID.isEmpty, userID.isSafeToShow,
                var mechanism = try records.mechanism(uid)
            {
                mechanism.userID = userID
                try records.save(mechanism)
            }
            var notification = PushNotification(
                messageID: opened.messageID, message: opened.message, receivedAt: now, clockOffset: clockOffset)
            notification.unsignedSubject = opened.subject
            try records.add(notification, retention, now: now)
            return notification
        }
    }

    /// Reads a notification with the data that are needed to answer it and, if `answer` returns an answer, records that
    /// `decision` is about to be sent.
    ///
    /// Without an answer, the transaction changes nothing.
    ///
    /// The operation rejects a notification that is unknown, answered or expired, or whose account is locked manually.
    static func beginAnswer(
        _ decision: PushNotification.Decision, to id: String, clocks: ServerClocks, now: Date,
        answer: @escaping @Sendable (PendingAnswer) -> PushAnswer?
    ) -> Self where Value == PendingAnswer {
        Self { records in
            guard var notification = try records.notification(id: id) else { throw AuthenticatorError.unknownNotification(id) }
            guard let mechanism = try records.mechanism(notification.message.mechanismUID), let push = mechanism.push else {
                throw AuthenticatorError.unknownMechanism(notification.message.mechanismUID)
            }
            if let offset = clocks.clock(of: push.authenticationEndpoint).offset { notification.clockOffset = offset }
            var pending = PendingAnswer(
                notification: notification, mechanism: mechanism, push: push, account: try records.account(mechanism.account),
                sent: try records.sentAnswer(to: id))
            if let refusal = pending.refusal(at: now) { throw refusal }
            try pending.account?.refuseIfLockedManually()
            pending.answer = answer(pending)
            if pending.answer != nil, pending.sent?.decision != decision {
                try records.save(SentAnswer(notificationID: id, decision: decision))
            }
            return pending
        }
    }
}

extension AccountOperation where Failure == StoreError {
    /// Stores an answer that the server has accepted.
    ///
    /// If the notification already has an answer, that one is kept and returned. A notification that was removed in the meantime
    /// is not stored again.
    static func recordAnswer(_ answered: PushNotification) -> Self where Value == PushNotification {
        Self { records throws(StoreError) in
            if let stored = try records.notification(id: answered.id) {
                if stored.decision != nil { return stored }
                try records.save(answered)
            }
            try records.removeSentAnswer(to: answered.id)
            return answered
        }
    }

    /// Removes the notifications that `retention` doesn't keep.
    /// - Parameters:
    ///   - uid: The mechanism whose notifications to check; nil for all mechanisms.
    ///   - retention: The notifications to keep.
    ///   - now: The current time.
    /// - Returns: An operation that returns the number of removed notifications.
    package static func removeSurplusNotifications(
        of uid: String?, _ retention: NotificationRetention, now: Date
    ) -> Self where Value == Int {
        Self { records throws(StoreError) in
            let mechanisms = if let uid { [try records.mechanism(uid)].compactMap { $0 } } else { try records.mechanisms() }
            var count = 0
            for mechanism in mechanisms where mechanism.push != nil {
                count += try records.retain(retention, of: mechanism.uid, now: now)
            }
            return count
        }
    }

    /// Removes the record of a sent answer.
    static func removeSentAnswer(to id: String) -> Self where Value == Void {
        Self { records throws(StoreError) in try records.removeSentAnswer(to: id) }
    }
}

/// A received push message with the platform that can open it.
struct IncomingMessage: Sendable {
    /// The mechanism that the message names, unverified.
    let mechanismUID: String
    /// The name that mechanisms of the platform store; nil for AM's.
    let platform: String?
    /// Verifies that the mechanism's server has signed the message, and returns its content.
    let open: @Sendable (Mechanism) throws -> PushMessage
}

/// A verified push message with its stored data.
struct OpenedMessage: Sendable {
    /// The server's message id.
    let messageID: String
    /// The content of the message.
    let message: PushMessage
    /// The text beside the message, which is not verified.
    let subject: String?
    /// The mechanism that the message is for.
    let mechanism: Mechanism
    /// The existing record, if the message arrived before.
    let known: PushNotification?
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
    /// The answer to send now; nil when the account's policies must be evaluated or the user must be asked first.
    var answer: PushAnswer?

    /// Returns the error because of which the notification cannot be answered at `date`; nil when it can be answered.
    func refusal(at date: Date) -> AuthenticatorError? {
        switch notification.state(at: date) {
        case .pending: nil
        case .expired:
            AuthenticatorError(.expired, "the login of this message no longer waits for a response; start the login again")
        case .approved: AuthenticatorError(.alreadyAnswered, "the message was already approved")
        case .denied: AuthenticatorError(.alreadyAnswered, "the message was already denied")
        }
    }
}
