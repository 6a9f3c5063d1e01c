public import SignetCore
public import SignetStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where an authenticator keeps its accounts, mechanisms and notifications.
///
/// Who implements it says what "all or nothing" means: everything that `body` changes is there when ``write(_:)`` returns,
/// and nothing when it throws.
public protocol AccountStore: Sendable {
    /// Reads a consistent state.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) async throws(StoreError) -> R
    /// Reads and changes, alone.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R
}

/// A store that answers at once. A synchronous method satisfies the asynchronous requirement, so one engine serves both
/// families of the API without blocking anybody.
public protocol ImmediateAccountStore: AccountStore {
    /// Reads a consistent state.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Reads and changes, alone.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// What can be looked up. Each method answers nil, or an empty list, only when it is certain that there is nothing.
///
/// A store of an app's own needs those that have no default; the others are there for stores that can do better.
public protocol AccountReader {
    /// The account with this identity.
    func account(_ id: AccountID) throws(StoreError) -> Account?
    /// Every account, the oldest first.
    func accounts() throws(StoreError) -> [Account]
    /// The mechanism with this id.
    func mechanism(_ uid: String) throws(StoreError) -> Mechanism?
    /// Whether there is a mechanism with this id, be it one that cannot be read.
    func hasMechanism(_ uid: String) throws(StoreError) -> Bool
    /// Every mechanism, the oldest first, and those of one moment by their kinds' names.
    func mechanisms() throws(StoreError) -> [Mechanism]
    /// Every account, the oldest first, with its mechanisms in the same order.
    func accountsWithMechanisms() throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])]
    /// The mechanisms of one account, in the same order.
    func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism]
    /// Whether the account has a mechanism, be it one that cannot be read.
    func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool
    /// The notification with this id, which `PushNotification.id(mechanismUID:messageID:)` makes.
    func notification(id: String) throws(StoreError) -> PushNotification?
    /// The notification of a mechanism with the server's id.
    func notification(messageID: String, mechanismUID: String) throws(StoreError) -> PushNotification?
    /// Every notification, the newest first.
    func notifications() throws(StoreError) -> [PushNotification]
    /// The notifications of one mechanism, the newest first.
    func notifications(of mechanismUID: String) throws(StoreError) -> [PushNotification]
    /// The device's token, as servers were last told.
    func deviceToken() throws(StoreError) -> StoredDeviceToken?
    /// The answer that was sent to a notification and whose fate is not known.
    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer?
    /// Whether there is no account, no mechanism, no notification and no token.
    func isEmpty() throws(StoreError) -> Bool
    /// The records that the lists leave out because they cannot be read. They stay as they are.
    func damagedRecords() throws(StoreError) -> [DamagedRecord]
}

/// What can be changed. To remove what is not there is no error.
public protocol AccountWriter: AccountReader {
    /// Writes, or replaces, an account.
    func save(_ account: Account) throws(StoreError)
    /// Writes, or replaces, a mechanism.
    func save(_ mechanism: Mechanism) throws(StoreError)
    /// Writes, or replaces, a notification.
    func save(_ notification: PushNotification) throws(StoreError)
    /// Writes, or replaces, notifications that came at any times, as an import has them.
    func save(_ notifications: [PushNotification]) throws(StoreError)
    /// Removes an account.
    func remove(account: AccountID) throws(StoreError)
    /// Removes a mechanism.
    func remove(mechanism uid: String) throws(StoreError)
    /// Removes a notification.
    func remove(notification id: String) throws(StoreError)
    /// Writes, or replaces, the device's token.
    func save(_ token: StoredDeviceToken) throws(StoreError)
    /// Removes the device's token.
    func removeDeviceToken() throws(StoreError)
    /// Notes an answer that is about to be sent. A store without a place for it keeps nothing: then an answer that the server
    /// took, and that could not be stored, is found out only by sending it again.
    func save(_ answer: SentAnswer) throws(StoreError)
    /// Forgets that an answer was sent.
    func removeSentAnswer(to notificationID: String) throws(StoreError)
    /// Removes every notification of a mechanism.
    func removeNotifications(of mechanismUID: String) throws(StoreError)
    /// Writes a notification that is not there yet, and removes those of its mechanism that are too many or too old then.
    func add(_ notification: PushNotification, _ retention: NotificationRetention, now: Date) throws(StoreError)
    /// Removes the notifications of a mechanism that are too many or too old. Returns how many.
    func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int
}

/// The address under which a push service finds this device, and who has not been told of it.
public struct StoredDeviceToken: Sendable, Hashable {
    /// The token.
    public let token: String
    /// When it was set.
    public let timeAdded: Date
    /// The mechanisms whose servers are still to be told.
    public var outstanding: Set<String>
    /// The mechanisms whose servers said that they cannot be told of this token. They are not asked again, and do not know it.
    public var unsupported: Set<String>

    /// A token.
    public init(token: String, timeAdded: Date, outstanding: Set<String> = [], unsupported: Set<String> = []) {
        self.token = token
        self.timeAdded = timeAdded
        self.outstanding = outstanding
        self.unsupported = unsupported
    }
}

/// An answer that was sent to a server: what the person said, until it is known what became of it.
public struct SentAnswer: Sendable, Hashable {
    /// The notification's id here.
    public let notificationID: String
    /// What was answered.
    public let decision: PushNotification.Decision

    /// An answer.
    public init(notificationID: String, decision: PushNotification.Decision) {
        self.notificationID = notificationID
        self.decision = decision
    }
}

extension AccountReader {
    /// None, for a store whose lists leave nothing out.
    public func damagedRecords() throws(StoreError) -> [DamagedRecord] { [] }

    /// Found by reading it; one that cannot be read is there.
    public func hasMechanism(_ uid: String) throws(StoreError) -> Bool {
        do {
            return try mechanism(uid) != nil
        } catch  where error.isOfOneRecord {
            return true
        }
    }

    /// All of both, put together.
    public func accountsWithMechanisms() throws(StoreError) -> [(account: Account, mechanisms: [Mechanism])] {
        let mechanisms = Dictionary(grouping: try mechanisms()) { $0.account }
        return try accounts().map { ($0, mechanisms[$0.id] ?? []) }
    }

    /// Found among all mechanisms.
    public func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism] {
        try mechanisms().filter { $0.account == account }
    }

    /// Whether any is found.
    public func hasMechanisms(_ account: AccountID) throws(StoreError) -> Bool { try !mechanisms(of: account).isEmpty }

    /// Found by the id that mechanism and message id make.
    public func notification(messageID: String, mechanismUID: String) throws(StoreError) -> PushNotification? {
        try notification(id: PushNotification.id(mechanismUID: mechanismUID, messageID: messageID))
    }

    /// Found among all notifications.
    public func notifications(of mechanismUID: String) throws(StoreError) -> [PushNotification] {
        try notifications().filter { $0.message.mechanismUID == mechanismUID }
    }

    /// None, for a store that keeps no record of what was sent.
    public func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? { nil }

    /// Found by asking for everything.
    public func isEmpty() throws(StoreError) -> Bool {
        guard try accounts().isEmpty, try mechanisms().isEmpty, try notifications().isEmpty else { return false }
        return try deviceToken() == nil
    }
}

extension AccountWriter {
    /// Keeps nothing.
    public func save(_ answer: SentAnswer) throws(StoreError) {}

    /// Has nothing to forget.
    public func removeSentAnswer(to notificationID: String) throws(StoreError) {}

    /// Writes them one by one.
    public func save(_ notifications: [PushNotification]) throws(StoreError) {
        for notification in notifications { try save(notification) }
    }

    /// Removes them one by one.
    public func removeNotifications(of mechanismUID: String) throws(StoreError) {
        for notification in try notifications(of: mechanismUID) { try remove(notification: notification.id) }
    }

    /// Saves it, and then looks at the rest.
    public func add(_ notification: PushNotification, _ retention: NotificationRetention, now: Date) throws(StoreError) {
        try save(notification)
        _ = try retain(retention, of: notification.message.mechanismUID, now: now)
    }

    /// Looks at all of the mechanism's, and removes one by one.
    public func retain(_ retention: NotificationRetention, of mechanismUID: String, now: Date) throws(StoreError) -> Int {
        guard retention != .all else { return 0 }
        let surplus = retention.surplus(among: try notifications(of: mechanismUID).map { ($0.id, $0.receivedAt) }, now: now)
        for id in surplus { try remove(notification: id) }
        return surplus.count
    }
}
