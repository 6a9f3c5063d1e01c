import Foundation
public import PingLogger
import SignetAuthenticator
import SignetCore
public import SignetStorage

/// A push storage in the user's keychain: the vault, which seals all values.
///
/// A ``PushClient`` needs no storage of this type: without a storage it keeps its accounts in the same vault, where the other
/// clients of the package see them too. The values of this type are apart from those accounts. Two storages with the same services
/// and access group share their values.
///
/// The methods throw ``PushStorageError/storageFailure(_:_:)``.
public final class PushKeychainStorage: PushStorage {
    /// The accessibility class of the default: the Keychain's name for items that are readable while the device is unlocked, and
    /// never leave it.
    public static let whenUnlockedThisDeviceOnly = "aku"

    private let credentials: ServiceItems<PushCredential>
    private let notifications: ServiceItems<PushNotification>
    private let tokens: ServiceItems<PushDeviceToken>

    /// Creates a storage.
    ///
    /// The vault is opened at the first use.
    /// - Parameters:
    ///   - credentialService: The name under which credentials are kept.
    ///   - notificationService: The name under which notifications are kept.
    ///   - tokenService: The name under which the device token is kept.
    ///   - logger: The logger of failures; nil for none.
    ///   - accessGroup: A further part of the names.
    ///   - accessibility: The name of the Keychain's accessibility class. It has no effect on a vault, which is open while its key is
    ///     available.
    ///   - keychain: The keychain that has the vault.
    public init(
        credentialService: String = "com.pingidentity.push.credentials",
        notificationService: String = "com.pingidentity.push.notifications",
        tokenService: String = "com.pingidentity.push.tokens", logger: (any Logger)? = nil, accessGroup: String? = nil,
        accessibility: String = PushKeychainStorage.whenUnlockedThisDeviceOnly, in keychain: VaultProvider = .default
    ) {
        func items<Value>(_ service: String) -> ServiceItems<Value> {
            ServiceItems(keychain: keychain, service: service, group: accessGroup ?? "", logger: logger)
        }
        credentials = items(credentialService)
        notifications = items(notificationService)
        tokens = items(tokenService)
    }

    /// Stores a credential, in place of the one with the same id.
    public func storePushCredential(_ credential: PushCredential) async throws {
        var credential = credential
        credential.secretCoding = .included
        try await credentials.put(credential, as: credential.id)
    }

    /// Returns all credentials, oldest first.
    public func getAllPushCredentials() async throws -> [PushCredential] {
        try await credentials.all().values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func retrievePushCredential(credentialId: String) async throws -> PushCredential? {
        try await credentials.all()[credentialId]
    }

    /// Removes a credential.
    ///
    /// Returns true when it existed.
    public func removePushCredential(credentialId: String) async throws -> Bool {
        try await credentials.remove { $0.filter { $0.id == credentialId } } == 1
    }

    /// Removes all credentials.
    public func clearPushCredentials() async throws { try await credentials.clear() }

    /// Stores a notification.
    public func storePushNotification(_ notification: PushNotification) async throws {
        try await notifications.put(notification, as: notification.id)
    }

    /// Stores a notification in place of the one with the same id.
    public func updatePushNotification(_ notification: PushNotification) async throws {
        try await notifications.put(notification, as: notification.id)
    }

    /// Returns all notifications, newest first.
    public func getAllPushNotifications() async throws -> [PushNotification] {
        try await notifications.all().values.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
    }

    /// Returns the notifications that can be answered, newest first.
    public func getPendingPushNotifications() async throws -> [PushNotification] {
        try await getAllPushNotifications().filter { $0.pending && !$0.isExpired }
    }

    /// Returns the notification with this id; nil when it does not exist.
    public func retrievePushNotification(notificationId: String) async throws -> PushNotification? {
        try await notifications.all()[notificationId]
    }

    /// Returns the newest notification with this message id of the server; nil when it has not been stored.
    public func getNotificationByMessageId(messageId: String) async throws -> PushNotification? {
        try await getAllPushNotifications().first { $0.messageId == messageId }
    }

    /// Removes a notification.
    ///
    /// Returns true when it existed.
    public func removePushNotification(notificationId: String) async throws -> Bool {
        try await notifications.remove { $0.filter { $0.id == notificationId } } == 1
    }

    /// Removes the notifications of a credential.
    ///
    /// Returns their number.
    public func removePushNotificationsForCredential(credentialId: String) async throws -> Int {
        try await notifications.remove { $0.filter { $0.credentialId == credentialId } }
    }

    /// Removes all notifications.
    public func clearPushNotifications() async throws { try await notifications.clear() }

    /// Stores the device token in place of the current one.
    public func storePushDeviceToken(_ token: PushDeviceToken) async throws { try await tokens.put(token, as: "current") }

    /// Returns the device token; nil when it has not been stored.
    public func getCurrentPushDeviceToken() async throws -> PushDeviceToken? { try await tokens.all()["current"] }

    /// Removes the device token.
    public func clearPushDeviceTokens() async throws { try await tokens.clear() }

    /// Returns the number of notifications of a credential, or of all credentials when the id is nil.
    public func countPushNotifications(credentialId: String?) async throws -> Int {
        try await notifications.all().values.count { $0.isOf(credentialId) }
    }

    /// Returns the oldest notifications, oldest first.
    public func getOldestPushNotifications(limit: Int, credentialId: String?) async throws -> [PushNotification] {
        Array(try await getAllPushNotifications().reversed().filter { $0.isOf(credentialId) }.prefix(max(0, limit)))
    }

    /// Removes the notifications that are older than `maxAgeDays` units of 24 hours.
    ///
    /// Returns their number.
    public func purgePushNotificationsByAge(maxAgeDays: Int, credentialId: String?) async throws -> Int {
        let oldest = SystemWallClock().now.addingTimeInterval(-86_400 * Double(maxAgeDays))
        return try await notifications.remove { $0.filter { $0.isOf(credentialId) && $0.createdAt < oldest } }
    }

    /// Removes the oldest notifications until at most `maxCount` are left.
    ///
    /// Returns the number of removed ones.
    public func purgePushNotificationsByCount(maxCount: Int, credentialId: String?) async throws -> Int {
        try await notifications.remove { all in
            let ours = all.filter { $0.isOf(credentialId) }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
            return Array(ours.prefix(max(0, ours.count - max(0, maxCount))))
        }
    }
}

extension PushNotification {
    fileprivate func isOf(_ credentialId: String?) -> Bool { credentialId == nil || credentialId == self.credentialId }
}

/// The values of one service, as one record in the vault: a JSON object with the JSON of each value under its id.
private struct ServiceItems<Value: Codable & Identifiable & Sendable>: Sendable where Value.ID == String {
    let keychain: VaultProvider
    let service: String
    let group: String
    let logger: (any Logger)?

    private var key: RecordKey { RecordKey(.item, "PushKeychainStorage", group, service) }

    func all() async throws -> [String: Value] {
        let key = key
        return try await failing("read") {
            try Self.decoded(try await keychain.read { (records) throws(StoreError) in try records.record(key) })
        }
    }

    func put(_ value: Value, as name: String) async throws {
        _ = try await change("store") { $0[name] = value }
    }

    /// Removes the values that `choice` picks.
    ///
    /// Returns their number.
    func remove(_ choice: @escaping @Sendable ([Value]) -> [Value]) async throws -> Int {
        try await change("remove") { values in
            for value in choice(Array(values.values)) { values[value.id] = nil }
        }
    }

    func clear() async throws {
        let key = key
        try await failing("remove") { try await keychain.write { (records) throws(StoreError) in try records.remove(key) } }
    }

    /// Changes the values in one transaction.
    ///
    /// Returns the number of values that are gone.
    private func change(_ operation: String, _ body: @escaping @Sendable (inout [String: Value]) -> Void) async throws -> Int {
        let key = key
        return try await failing(operation) {
            try await keychain.write { (records) throws(StoreError) in
                var values = try Self.decoded(try records.record(key))
                let before = values.count
                body(&values)
                try records.put(try Self.encoded(values), key)
                return max(0, before - values.count)
            }
        }
    }

    private static func decoded(_ bytes: [UInt8]?) throws(StoreError) -> [String: Value] {
        guard let bytes else { return [:] }
        do {
            return try JSONDecoder().decode([String: Value].self, from: Data(bytes))
        } catch {
            throw StoreError(.corrupt, "read push values", "their content is not what was written; it was left as it is")
        }
    }

    private static func encoded(_ values: [String: Value]) throws(StoreError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(values))
        } catch {
            throw StoreError(.invalid, "store push values", "a value cannot be expressed as JSON")
        }
    }

    private func failing<R>(_ operation: String, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch {
            logger?.e("PushKeychainStorage: \(operation) of \(service) failed: \(ClientLog.name(of: error))", error: nil)
            throw PushStorageError.storageFailure("\(operation) push values", error)
        }
    }
}
