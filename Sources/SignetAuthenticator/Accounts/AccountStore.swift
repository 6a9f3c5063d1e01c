public import Foundation
public import SignetCore
public import SignetStorage

/// A store of an authenticator's accounts, mechanisms and notifications.
///
/// An implementation guarantees transactions: when ``write(_:)`` returns, all changes that `body` made are stored; when it
/// throws, none of them is.
public protocol AccountStore: Sendable {
    /// Runs `body` with a consistent snapshot of the accounts.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) async throws(StoreError) -> R
    /// Runs `body` with exclusive write access.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R
}

/// A store whose methods are synchronous.
///
/// A synchronous method also satisfies the asynchronous requirement, so one engine serves both the asynchronous and the
/// synchronous API without blocking a thread.
public protocol ImmediateAccountStore: AccountStore {
    /// Runs `body` with a consistent snapshot of the accounts.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Runs `body` with exclusive write access.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// Read access to an account store.
///
/// A method returns nil, or an empty list, only when the store is certain that there is nothing to return.
///
/// An app's own store must implement the methods without a default implementation. The others have defaults that a store can
/// replace with faster versions.
public protocol AccountReader {
    /// Returns the account with this identity.
    func account(_ id: AccountID) throws(StoreError) -> Account?
    /// Returns all accounts, oldest first.
    func accounts() throws(StoreError) -> [Account]
    /// Returns the mechanism with this id.
    func mechanism(_ uid: String) throws(StoreError) -> Mechanism?
    /// Returns true when a mechanism with this id exists, even one that cannot be read.
    func hasMechanism(_ uid: String) throws(StoreError) -> Bool
    /// Returns all mechanisms, oldest first; mechanisms of the same time by the names of their kinds.
    func mechanisms() throws(StoreError) -> [Mechanism]
    /// Returns all accounts, oldest first, with their mechanisms in the order of ``mechanisms()``.
    func accountsWithMechanisms() throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])]
    /// Returns the mechanisms of one account in the order of ``mechanisms()``.
    func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism]
    /// Returns true when the account has a mechanism, even one that cannot be read.
    func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool
    /// Returns the notification with this id, which `PushNotification.id(mechanismUID:messageID:)` derives.
    func notification(id: String) throws(StoreError) -> PushNotification?
    /// Returns the notification of a mechanism by the server's message id.
    func notification(messageID: String, mechanismUID: String) throws(StoreError) -> PushNotification?
    /// Returns all notifications, newest first.
    func notifications() throws(StoreError) -> [PushNotification]
    /// Returns the notifications of one mechanism, newest first.
    func notifications(of mechanismUID: String) throws(StoreError) -> [PushNotification]
    /// Returns the device token that was set last.
    func deviceToken() throws(StoreError) -> StoredDeviceToken?
    /// Returns the picture with this id; nil when the store has none.
    func icon(_ id: String) throws(StoreError) -> AccountIcon?
    /// Returns the answer that was sent to a notification and whose outcome is unknown.
    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer?
    /// Returns true when the store has no account, mechanism, notification or token.
    func isEmpty() throws(StoreError) -> Bool
    /// Returns the records that the lists leave out because they cannot be read. The records stay unchanged.
    func damagedRecords() throws(StoreError) -> [DamagedRecord]
}

/// Write access to an account store.
///
/// Removing an item that does not exist is not an error.
public protocol AccountWriter: AccountReader {
    /// Writes or replaces an account.
    func save(_ account: Account) throws(StoreError)
    /// Writes or replaces a mechanism.
    func save(_ mechanism: Mechanism) throws(StoreError)
    /// Writes or replaces a notification.
    func save(_ notification: PushNotification) throws(StoreError)
    /// Writes or replaces notifications with arbitrary times of receipt, as an import does.
    func save(_ notifications: [PushNotification]) throws(StoreError)
    /// Removes an account.
    func remove(account: AccountID) throws(StoreError)
    /// Removes a mechanism.
    func remove(mechanism uid: String) throws(StoreError)
    /// Removes a notification.
    func remove(notification id: String) throws(StoreError)
    /// Writes a picture that accounts name by `AccountIcon.id`. A store without a place for it saves nothing.
    func save(_ icon: AccountIcon) throws(StoreError)
    /// Writes or replaces the device token.
    func save(_ token: StoredDeviceToken) throws(StoreError)
    /// Removes the device token.
    func removeDeviceToken() throws(StoreError)
    /// Records an answer that is about to be sent. A store without a place for it saves nothing. In that case, when the server
    /// has accepted an answer and the store failed to save the result, only sending the answer again reveals that.
    func save(_ answer: SentAnswer) throws(StoreError)
    /// Removes the record of a sent answer.
    func removeSentAnswer(to notificationID: String) throws(StoreError)
    /// Removes all notifications of a mechanism.
    func removeNotifications(of mechanismUID: String) throws(StoreError)
    /// Writes a new notification and removes the notifications of its mechanism that `retention` no longer keeps.
    func add(_ notification: PushNotification, _ retention: NotificationRetention, now: Date) throws(StoreError)
    /// Removes the notifications of a mechanism that `retention` does not keep.
    /// - Returns: The number of removed notifications.
    func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int
}

/// The token by which a push service addresses this device, and the mechanisms whose servers don't know it.
public struct StoredDeviceToken: Sendable, Hashable {
    /// The token.
    public let token: String
    /// The time at which the token was set.
    public let timeAdded: Date
    /// The mechanisms whose servers have yet to be told the token.
    public var outstanding: Set<String>
    /// The mechanisms whose servers have answered that they don't support token updates.
    ///
    /// They don't know this token and are not asked again.
    public var unsupported: Set<String>
    /// True while the token was stored and has not been sent to any server.
    ///
    /// All push mechanisms then need it, not only those in ``outstanding``. Only a storage client of the FRAuthenticator module
    /// has such a token.
    package var isUnsent = false

    /// Creates a stored token.
    public init(token: String, timeAdded: Date, outstanding: Set<String> = [], unsupported: Set<String> = []) {
        self.token = token
        self.timeAdded = timeAdded
        self.outstanding = outstanding
        self.unsupported = unsupported
    }
}

/// The record of an answer that was sent to a server and whose outcome is not known yet.
public struct SentAnswer: Sendable, Hashable {
    /// The id of the notification in this store.
    public let notificationID: String
    /// The user's decision.
    public let decision: PushNotification.Decision

    /// Creates a record of an answer.
    public init(notificationID: String, decision: PushNotification.Decision) {
        self.notificationID = notificationID
        self.decision = decision
    }
}

extension AccountReader {
    /// Returns an empty list, for a store whose lists leave no records out.
    public func damagedRecords() throws(StoreError) -> [DamagedRecord] { [] }

    /// Reads the mechanism to find out.
    ///
    /// Returns true when it exists but cannot be read.
    public func hasMechanism(_ uid: String) throws(StoreError) -> Bool {
        try !RecordLookup { () throws(StoreError) in try mechanism(uid) }.isAbsent
    }

    /// Combines the list of accounts with the list of mechanisms.
    public func accountsWithMechanisms() throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])] {
        let mechanisms = Dictionary(grouping: try mechanisms()) { $0.account }
        return try accounts().map { ($0, mechanisms[$0.id] ?? []) }
    }

    /// Filters the list of all mechanisms.
    public func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism] {
        try mechanisms().filter { $0.account == account }
    }

    /// Returns true when the list of the account's mechanisms is not empty.
    public func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool { try !mechanisms(of: account).isEmpty }

    /// Looks the notification up by the id that is derived from the mechanism id and the message id.
    public func notification(messageID: String, mechanismUID: String) throws(StoreError) -> PushNotification? {
        try notification(id: PushNotification.id(mechanismUID: mechanismUID, messageID: messageID))
    }

    /// Filters the list of all notifications.
    public func notifications(of mechanismUID: String) throws(StoreError) -> [PushNotification] {
        try notifications().filter { $0.message.mechanismUID == mechanismUID }
    }

    /// Returns nil, for a store that does not keep pictures.
    public func icon(_ id: String) throws(StoreError) -> AccountIcon? { nil }

    /// Returns nil, for a store that does not record sent answers.
    public func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? { nil }

    /// Reads all lists and the token to find out.
    public func isEmpty() throws(StoreError) -> Bool {
        guard try accounts().isEmpty, try mechanisms().isEmpty, try notifications().isEmpty else { return false }
        return try deviceToken() == nil
    }
}

extension AccountWriter {
    /// Saves nothing, for a store that does not keep pictures.
    public func save(_ icon: AccountIcon) throws(StoreError) {}

    /// Saves nothing, for a store that does not record sent answers.
    public func save(_ answer: SentAnswer) throws(StoreError) {}

    /// Does nothing, for a store that does not record sent answers.
    public func removeSentAnswer(to notificationID: String) throws(StoreError) {}

    /// Writes the notifications one by one.
    public func save(_ notifications: [PushNotification]) throws(StoreError) {
        for notification in notifications { try save(notification) }
    }

    /// Removes the notifications one by one.
    public func removeNotifications(of mechanismUID: String) throws(StoreError) {
        for notification in try notifications(of: mechanismUID) { try remove(notification: notification.id) }
    }

    /// Saves the notification, then applies `retention` to its mechanism.
    public func add(_ notification: PushNotification, _ retention: NotificationRetention, now: Date) throws(StoreError) {
        try save(notification)
        _ = try retain(retention, of: notification.message.mechanismUID, now: now)
    }

    /// Reads all notifications of the mechanism and removes those above the limit one by one, oldest first.
    public func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int {
        guard retention != .all else { return 0 }
        let limit = RetentionLimit(retention, now: now)
        let all = try notifications(of: mechanismUID)
        var count = all.count
        while count > 1, limit.includes(all[count - 1].receivedAt, of: count) {
            count -= 1
            try remove(notification: all[count].id)
        }
        return all.count - count
    }
}
