/// A store for the authenticator's data that the app implements.
///
/// Pass it to ``FRAClient/setStorage(storage:)`` before `FRAClient.start()`.
///
/// A client returns only the requested objects: an account without its mechanisms, a mechanism without its notifications. Calls
/// never overlap, and a client must not call ``FRAClient``. Return false when an object was not stored or removed; the earlier
/// changes of the same operation are then undone.
///
/// Write an object with its `toJson()` and read it with ``Account/fromJson(_:)``, ``Mechanisms/fromJson(_:)`` and
/// ``PushNotification/fromJson(_:)``, or use a `JSONEncoder` and a `JSONDecoder`. The JSON of a mechanism contains its secret:
/// encrypt it, or store it where other users and programs can't read it. A `set` function adds an object, or replaces the object
/// with the same identifier.
///
/// A client has no transactions, so two processes can't share one: an HOTP code could be used twice. The default store can be
/// shared.
public protocol StorageClient {
    /// Stores an account.
    @discardableResult func setAccount(account: Account) -> Bool

    /// Removes an account. Also returns true when the account doesn't exist.
    @discardableResult func removeAccount(account: Account) -> Bool

    /// Returns the account with this identifier; nil when it doesn't exist.
    func getAccount(accountIdentifier: String) -> Account?

    /// Returns all accounts.
    func getAllAccounts() -> [Account]

    /// Stores a mechanism.
    @discardableResult func setMechanism(mechanism: Mechanism) -> Bool

    /// Removes a mechanism. Also returns true when the mechanism doesn't exist.
    @discardableResult func removeMechanism(mechanism: Mechanism) -> Bool

    /// Returns the mechanisms of an account.
    func getMechanismsForAccount(account: Account) -> [Mechanism]

    /// Returns the mechanism with this identifier on the server; nil when it doesn't exist.
    func getMechanismForUUID(uuid: String) -> Mechanism?

    /// Returns the mechanism with this identifier on the server; nil when it doesn't exist.
    ///
    /// It is the name in the ForgeRock SDK for Android, and the one that the SDK calls. The default implementation calls
    /// ``getMechanismForUUID(uuid:)``.
    func getMechanismByUUID(_ mechanismUID: String) -> Mechanism?

    /// Stores a notification.
    @discardableResult func setNotification(notification: PushNotification) -> Bool

    /// Removes a notification. Also returns true when the notification doesn't exist.
    @discardableResult func removeNotification(notification: PushNotification) -> Bool

    /// Returns the notifications of a mechanism.
    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification]

    /// Returns true when the store has no data at all.
    @discardableResult func isEmpty() -> Bool

    // MARK: Requirements from later versions of the ForgeRock SDK, with default implementations

    /// Returns the notification with this identifier. The default implementation searches all notifications.
    func getNotification(notificationIdentifier: String) -> PushNotification?

    /// Returns a notification with this message identifier. The default implementation searches all notifications.
    func getNotificationByMessageId(messageId: String) -> PushNotification?

    /// Returns all notifications. The default implementation collects those of every mechanism of every account.
    func getAllNotifications() -> [PushNotification]

    /// Stores the device token. The default implementation stores nothing and returns true, because the system supplies the token
    /// at each start.
    @discardableResult func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool

    /// Returns the stored device token. The default implementation returns nil.
    func getPushDeviceToken() -> PushDeviceToken?

    /// Removes the stored device token. The default implementation does nothing and returns true.
    @discardableResult func removePushDeviceToken() -> Bool
}

extension StorageClient {
    /// Returns the notification with this identifier, from a search of all notifications.
    public func getNotification(notificationIdentifier: String) -> PushNotification? {
        getAllNotifications().first { $0.identifier == notificationIdentifier }
    }

    /// Returns a notification with this message identifier, from a search of all notifications.
    public func getNotificationByMessageId(messageId: String) -> PushNotification? {
        getAllNotifications().first { $0.messageId == messageId }
    }

    /// Returns the notifications of every mechanism of every account.
    public func getAllNotifications() -> [PushNotification] {
        getAllAccounts().flatMap { getMechanismsForAccount(account: $0) }.filter { $0 is PushMechanism }
            .flatMap { getAllNotificationsForMechanism(mechanism: $0) }
    }

    /// Stores nothing and returns true.
    @discardableResult public func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool { true }

    /// Returns nil.
    public func getPushDeviceToken() -> PushDeviceToken? { nil }

    /// Does nothing and returns true.
    @discardableResult public func removePushDeviceToken() -> Bool { true }

    /// Returns the result of ``getMechanismForUUID(uuid:)``.
    public func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? { getMechanismForUUID(uuid: mechanismUID) }
}
