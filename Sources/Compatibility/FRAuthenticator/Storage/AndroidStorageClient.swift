/// A ``StorageClient`` in the form of the ForgeRock SDK for Android: its methods have no argument labels.
///
/// Conform a class to this protocol instead of ``StorageClient``, and pass it to ``FRAClientBuilder/withStorage(_:)`` or
/// ``FRAClient/setStorage(storage:)``. The labeled methods call those below. The rules of ``StorageClient`` apply.
public protocol AndroidStorageClient: StorageClient {
    /// Returns the account with this identifier; nil when it doesn't exist.
    func getAccount(_ accountId: String) -> Account?

    /// Removes an account. Also returns true when the account doesn't exist.
    @discardableResult func removeAccount(_ account: Account) -> Bool

    /// Stores an account.
    @discardableResult func setAccount(_ account: Account) -> Bool

    /// Returns the mechanisms of an account.
    func getMechanismsForAccount(_ account: Account) -> [Mechanism]

    /// Returns the mechanism with this identifier on the server; nil when it doesn't exist.
    func getMechanismByUUID(_ mechanismUID: String) -> Mechanism?

    /// Removes a mechanism. Also returns true when the mechanism doesn't exist.
    @discardableResult func removeMechanism(_ mechanism: Mechanism) -> Bool

    /// Stores a mechanism.
    @discardableResult func setMechanism(_ mechanism: Mechanism) -> Bool

    /// Returns the notifications of a mechanism.
    func getAllNotificationsForMechanism(_ mechanism: Mechanism) -> [PushNotification]

    /// Removes a notification. Also returns true when the notification doesn't exist.
    @discardableResult func removeNotification(_ pushNotification: PushNotification) -> Bool

    /// Stores a notification.
    @discardableResult func setNotification(_ pushNotification: PushNotification) -> Bool

    // MARK: Requirements from later versions of the ForgeRock SDK, with default implementations

    /// Returns the notification with this identifier. The default implementation searches all notifications.
    func getNotification(_ notificationIdentifier: String) -> PushNotification?

    /// Returns a notification with this message identifier. The default implementation searches all notifications.
    func getNotificationByMessageId(_ messageId: String) -> PushNotification?

    /// Stores the device token. The default implementation stores nothing and returns true.
    @discardableResult func setPushDeviceToken(_ pushDeviceToken: PushDeviceToken) -> Bool
}

extension AndroidStorageClient {
    /// Returns the notification with this identifier, from a search of all notifications.
    public func getNotification(_ notificationIdentifier: String) -> PushNotification? {
        getAllNotifications().first { $0.identifier == notificationIdentifier }
    }

    /// Returns a notification with this message identifier, from a search of all notifications.
    public func getNotificationByMessageId(_ messageId: String) -> PushNotification? {
        getAllNotifications().first { $0.messageId == messageId }
    }

    /// Stores nothing and returns true.
    @discardableResult public func setPushDeviceToken(_ pushDeviceToken: PushDeviceToken) -> Bool { true }

    /// Makes a client without its own method a compile-time error: the labeled method calls this one.
    @available(*, unavailable, message: "implement getMechanismByUUID(_:)")
    public func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? { nil }

    // MARK: The labeled methods

    /// Returns the account with this identifier.
    public func getAccount(accountIdentifier: String) -> Account? { getAccount(accountIdentifier) }
    /// Removes an account.
    @discardableResult public func removeAccount(account: Account) -> Bool { removeAccount(account) }
    /// Stores an account.
    @discardableResult public func setAccount(account: Account) -> Bool { setAccount(account) }
    /// Returns the mechanisms of an account.
    public func getMechanismsForAccount(account: Account) -> [Mechanism] { getMechanismsForAccount(account) }
    /// Returns the mechanism with this identifier on the server.
    public func getMechanismForUUID(uuid: String) -> Mechanism? { getMechanismByUUID(uuid) }
    /// Removes a mechanism.
    @discardableResult public func removeMechanism(mechanism: Mechanism) -> Bool { removeMechanism(mechanism) }
    /// Stores a mechanism.
    @discardableResult public func setMechanism(mechanism: Mechanism) -> Bool { setMechanism(mechanism) }
    /// Returns the notifications of a mechanism.
    public func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        getAllNotificationsForMechanism(mechanism)
    }
    /// Removes a notification.
    @discardableResult public func removeNotification(notification: PushNotification) -> Bool { removeNotification(notification) }
    /// Stores a notification.
    @discardableResult public func setNotification(notification: PushNotification) -> Bool { setNotification(notification) }
    /// Returns the notification with this identifier.
    public func getNotification(notificationIdentifier: String) -> PushNotification? { getNotification(notificationIdentifier) }
    /// Returns a notification with this message identifier.
    public func getNotificationByMessageId(messageId: String) -> PushNotification? { getNotificationByMessageId(messageId) }
    /// Stores the device token.
    @discardableResult public func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool {
        setPushDeviceToken(pushDeviceToken)
    }
}
