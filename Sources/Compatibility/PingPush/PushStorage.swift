/// A storage of push credentials, notifications and the device token that an app implements.
///
/// A ``PushClient`` reads the lists of a storage at the beginning of each call and writes the values that the call has changed,
/// one after another. One client at a time should use a storage: another client's change during a call can be overwritten.
///
/// A credential that a client passes to a storage encodes its shared secret, so that the storage can keep it as JSON. Protect the
/// JSON as you protect a password.
public protocol PushStorage: Sendable {
    /// Stores a credential, in place of the one with the same id.
    func storePushCredential(_ credential: PushCredential) async throws
    /// Returns all credentials in any order.
    func getAllPushCredentials() async throws -> [PushCredential]
    /// Returns the credential with this id; nil when it does not exist.
    func retrievePushCredential(credentialId: String) async throws -> PushCredential?
    /// Removes a credential. Returns true when it existed.
    func removePushCredential(credentialId: String) async throws -> Bool
    /// Removes all credentials.
    func clearPushCredentials() async throws

    /// Stores a new notification.
    func storePushNotification(_ notification: PushNotification) async throws
    /// Stores a notification in place of the one with the same id.
    func updatePushNotification(_ notification: PushNotification) async throws
    /// Returns all notifications.
    func getAllPushNotifications() async throws -> [PushNotification]
    /// Returns the notifications that can be answered.
    func getPendingPushNotifications() async throws -> [PushNotification]
    /// Returns the notification with this id; nil when it does not exist.
    func retrievePushNotification(notificationId: String) async throws -> PushNotification?
    /// Returns the notification with this message id of the server; nil when it does not exist.
    func getNotificationByMessageId(messageId: String) async throws -> PushNotification?
    /// Removes a notification. Returns true when it existed.
    func removePushNotification(notificationId: String) async throws -> Bool
    /// Removes the notifications of a credential. Returns their number.
    func removePushNotificationsForCredential(credentialId: String) async throws -> Int
    /// Removes all notifications.
    func clearPushNotifications() async throws

    /// Stores the device token in place of the current one.
    func storePushDeviceToken(_ token: PushDeviceToken) async throws
    /// Returns the device token; nil when it has not been stored.
    func getCurrentPushDeviceToken() async throws -> PushDeviceToken?
    /// Removes the device token.
    func clearPushDeviceTokens() async throws

    /// Returns the number of notifications of a credential, or of all credentials when the id is nil.
    func countPushNotifications(credentialId: String?) async throws -> Int
    /// Returns the oldest notifications, oldest first.
    func getOldestPushNotifications(limit: Int, credentialId: String?) async throws -> [PushNotification]
    /// Removes the notifications that are older than `maxAgeDays` units of 24 hours. Returns their number.
    func purgePushNotificationsByAge(maxAgeDays: Int, credentialId: String?) async throws -> Int
    /// Removes the oldest notifications until at most `maxCount` are left. Returns the number of removed ones.
    func purgePushNotificationsByCount(maxCount: Int, credentialId: String?) async throws -> Int
}
