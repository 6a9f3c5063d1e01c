/// Where an app keeps the authenticator's data itself. Implement it, and hand it to ``FRAClient/setStorage(storage:)`` before
/// `FRAClient.start()`.
///
/// A client only retrieves what it is asked for: an account without its mechanisms, a mechanism without its notifications.
/// Nothing else is expected of it. It is called by one caller at a time, and must not call ``FRAClient`` itself. Answer false
/// when something was not stored or removed; whatever the same operation had changed before is then put back.
///
/// An object is written with its `toJson()`, and read back with ``Account/fromJson(_:)``, ``Mechanisms/fromJson(_:)`` and
/// ``PushNotification/fromJson(_:)``; or with a `JSONEncoder` and `JSONDecoder`. A mechanism's JSON holds its secret: seal it, or
/// keep it where nobody else reads. Setting means adding, or replacing what has the same identifier.
///
/// It has no transactions, so two processes cannot share one: an HOTP code might be given twice. The default store can be shared.
public protocol StorageClient {
    /// Stores an account.
    @discardableResult func setAccount(account: Account) -> Bool

    /// Removes an account; true also when there is none.
    @discardableResult func removeAccount(account: Account) -> Bool

    /// The account with this identifier; nil when there is none.
    func getAccount(accountIdentifier: String) -> Account?

    /// Every account.
    func getAllAccounts() -> [Account]

    /// Stores a mechanism.
    @discardableResult func setMechanism(mechanism: Mechanism) -> Bool

    /// Removes a mechanism; true also when there is none.
    @discardableResult func removeMechanism(mechanism: Mechanism) -> Bool

    /// The mechanisms of an account.
    func getMechanismsForAccount(account: Account) -> [Mechanism]

    /// The mechanism that the server knows by this id; nil when there is none.
    func getMechanismForUUID(uuid: String) -> Mechanism?

    /// Stores a notification.
    @discardableResult func setNotification(notification: PushNotification) -> Bool

    /// Removes a notification; true also when there is none.
    @discardableResult func removeNotification(notification: PushNotification) -> Bool

    /// The notifications of a mechanism.
    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification]

    /// Whether there is nothing at all.
    @discardableResult func isEmpty() -> Bool

    // MARK: What later versions of the original SDK ask for; each has a default

    /// The notification with this identifier. By default looked for among all.
    func getNotification(notificationIdentifier: String) -> PushNotification?

    /// A notification with this message id. By default looked for among all.
    func getNotificationByMessageId(messageId: String) -> PushNotification?

    /// Every notification. By default those of every mechanism of every account.
    func getAllNotifications() -> [PushNotification]

    /// Stores the device token. By default it is not kept, and that is a success: the system hands it over at each start.
    @discardableResult func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool

    /// The stored device token. None by default.
    func getPushDeviceToken() -> PushDeviceToken?

    /// Removes the stored device token. By default there is none to remove.
    @discardableResult func removePushDeviceToken() -> Bool
}

extension StorageClient {
    /// The notification with this identifier, looked for among all.
    public func getNotification(notificationIdentifier: String) -> PushNotification? {
        getAllNotifications().first { $0.identifier == notificationIdentifier }
    }

    /// A notification with this message id, looked for among all.
    public func getNotificationByMessageId(messageId: String) -> PushNotification? {
        getAllNotifications().first { $0.messageId == messageId }
    }

    /// The notifications of every mechanism of every account.
    public func getAllNotifications() -> [PushNotification] {
        getAllAccounts().flatMap { getMechanismsForAccount(account: $0) }.filter { $0 is PushMechanism }
            .flatMap { getAllNotificationsForMechanism(mechanism: $0) }
    }

    /// Keeps nothing.
    @discardableResult public func setPushDeviceToken(pushDeviceToken: PushDeviceToken) -> Bool { true }

    /// None.
    public func getPushDeviceToken() -> PushDeviceToken? { nil }

    /// Nothing to do.
    @discardableResult public func removePushDeviceToken() -> Bool { true }

    /// ``getMechanismForUUID(uuid:)`` by its Android name.
    public func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? { getMechanismForUUID(uuid: mechanismUID) }
}
