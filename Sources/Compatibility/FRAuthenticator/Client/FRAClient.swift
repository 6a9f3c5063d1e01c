public import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The accounts of the authenticator, with the names of the ForgeRock SDK.
///
///     FRAClient.setStorage(storage: MyStorageClient())    // if the app keeps the data itself
///     FRAClient.start()
///     guard let client = FRAClient.shared else { ... }    // FRAClient.lastStorageError has the error
///
/// A client may be used from any thread. Synchronous functions answer from the store at once. Functions that need a server exist
/// with callbacks and as `async` functions. When a function reports an error only as a `Bool` or nil, the error is logged (with
/// the label `signet.frauthenticator`) and kept in ``lastStorageError-swift.property``. Thrown errors have types that conform to
/// `CodedFRError`.
public final class FRAClient: NSObject, Sendable {
    let engine: LegacyEngine

    init(_ engine: LegacyEngine) {
        self.engine = engine
        super.init()
    }

    /// The last error that a `Bool`, nil or an empty list stood for; nil before the first error.
    public var lastStorageError: (any Error)? { engine.lastError }

    // MARK: Enrollment

    /// Enrolls all mechanisms of a URI, or none if one fails.
    ///
    /// For a URI with both one-time codes and push, the callback gets the push mechanism.
    ///
    /// One of the callbacks is called, once, on the global executor of Swift's tasks.
    /// - Parameters:
    ///   - uri: An `otpauth`, `pushauth` or `mfauth` URI.
    ///   - onSuccess: Called when the mechanisms are enrolled.
    ///   - onError: Gets a ``MechanismError``, an ``AccountError``, ``PushNotificationError/missingDeviceToken``, a
    ///     `NetworkError` or an ``FRAError``. Nothing was stored then.
    public func createMechanismFromUri(
        uri: URL, onSuccess: @escaping MechanismCallback, onError: @escaping ErrorCallback
    ) {
        Callbacks.run({ try await self.createMechanismFromUri(uri: uri) }, onSuccess: onSuccess, onError: onError)
    }

    /// Enrolls all mechanisms of a URI, or none if one fails, and returns the mechanism that was created.
    public func createMechanismFromUri(uri: URL) async throws -> Mechanism {
        try await engine.enroll(uri: uri.absoluteString)
    }

    // MARK: Accounts

    /// Returns all accounts with their mechanisms and notifications, oldest first.
    ///
    /// A client of ``FRAClientBuilder`` sorts them by issuer and name. It changes nothing.
    public func getAllAccounts() -> [Account] {
        engine.perform("list accounts", default: []) { try engine.allAccounts() }
    }

    /// Returns the account that a mechanism belongs to.
    public func getAccount(mechanism: Mechanism) -> Account? {
        let id = AccountID(issuer: mechanism.issuer, accountName: mechanism.accountName)
        return engine.perform("read an account", default: nil) {
            try engine.account { records in try records.account(id) }
        }
    }

    /// Returns the account with this ``Account/identifier``.
    public func getAccount(identifier: String) -> Account? {
        engine.perform("read an account", default: nil) { try engine.account(identifier: identifier) }
    }

    /// Stores ``Account/displayIssuer`` and ``Account/displayAccountName``.
    ///
    /// Returns false when the account doesn't exist, or when the store fails.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/invalidInformation(_:)`` for a name that cannot be shown.
    @discardableResult public func updateAccount(account: Account) throws -> Bool {
        try engine.throwing("update an account") {
            let (value, store) = (account.core, engine.store())
            guard let found = try store.fetch(.account(value.id)) else { return false }
            try engine.refuseIfLocked(found)
            let stored = try store.perform(
                .rename(value.id, displayIssuer: value.displayIssuer, displayAccountName: value.displayAccountName))
            account.take(stored, token: engine.token(of: store))
            return true
        }
    }

    /// Removes an account with all its mechanisms and notifications, in one transaction.
    ///
    /// Returns false when the store fails.
    @discardableResult public func removeAccount(account: Account) -> Bool {
        engine.perform("remove an account", default: false) {
            let (value, objects, token) = account.snapshot
            let store = engine.store(token) { cache in
                cache.accounts[value.id] = .present(value)
                if let objects { cache.add(objects.map(\.core), of: value.id) }
            }
            return try store.perform(.removeAccount(value.id))
        }
    }

    /// Locks an account manually, until ``unlockAccount(account:)`` unlocks it.
    ///
    /// A locked account gives no codes, answers no notifications and can't be renamed.
    /// - Parameters:
    ///   - account: The account.
    ///   - policy: One of the account's own policies.
    /// - Returns: True when the account is locked now; false when the account doesn't exist or the store fails.
    /// - Throws: ``AccountError``.
    @discardableResult public func lockAccount(account: Account, policy: any FRAPolicy) throws -> Bool {
        let name = policy.name
        return try engine.throwing("lock an account") {
            // Call the app's evaluator before the transaction, so that it can't block other users of the store.
            let isAttached = engine.policies.isAttached(name, to: account.core)
            return try engine.change(account) { .lock($0, policy: name, isAttached: isAttached) }
        }
    }

    /// Removes a manual lock.
    ///
    /// A lock by an unmet policy is different: it ends when the policy is met. Returns false when the store fails.
    /// - Throws: ``AccountError/failToUnlockAccountNotLocked``.
    @discardableResult public func unlockAccount(account: Account) throws -> Bool {
        try engine.throwing("unlock an account") {
            try engine.change(account) { .unlock($0) }
        }
    }

    // MARK: Mechanisms and notifications

    /// Returns the mechanism that a notification belongs to; nil when the mechanism was removed.
    public func getMechanism(notification: PushNotification) -> PushMechanism? {
        getMechanismByUUID(notification.mechanismUUID) as? PushMechanism
    }

    /// Returns the mechanism with the identifier that its server uses.
    public func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? {
        engine.perform("read a mechanism", default: nil) {
            let store = engine.store()
            return try store.fetch(.mechanism(mechanismUID)).map { Mechanism.make($0, engine.token(of: store)) }
        }
    }

    /// Removes a mechanism with all its notifications, in one transaction.
    ///
    /// The account stays, except that a client of ``FRAClientBuilder`` removes it with its last mechanism. Returns false when the
    /// store fails.
    @discardableResult public func removeMechanism(mechanism: Mechanism) -> Bool {
        engine.perform("remove a mechanism", default: false) {
            let (value, store) = engine.store(for: mechanism)
            return try store.perform(.removeMechanism(value.uid, keepingAccount: engine.settings.platform == .iOS))
        }
    }

    /// Returns the notifications of a mechanism, oldest first; a client of ``FRAClientBuilder`` returns the newest first.
    public func getAllNotifications(mechanism: PushMechanism) -> [PushNotification] {
        engine.perform("list notifications", default: []) {
            let (value, store) = engine.store(for: mechanism)
            let found = try engine.read(.notifications(of: value.uid), in: store)
            return engine.objects(for: found, engine.token(of: store))
        }
    }

    /// Returns all notifications, oldest first; a client of ``FRAClientBuilder`` returns the newest first.
    public func getAllNotifications() -> [PushNotification] {
        engine.perform("list notifications", default: []) {
            let store = engine.store()
            let found = try engine.read(.notifications(), in: store)
            return engine.objects(for: found, engine.token(of: store))
        }
    }

    /// Returns the notification with this ``PushNotification/identifier``.
    public func getNotification(identifier: String) -> PushNotification? {
        engine.perform("read a notification", default: nil) {
            let store = engine.store()
            let query = AccountQuery<SignetCore.PushNotification?, any Error> { records in
                if let direct = records as? ClientRecords { return direct.notification(identifier: identifier) }
                return try records.notifications().first { $0.legacyIdentifier == identifier }
            }
            return try engine.read(query, in: store).map { PushNotification($0, engine.token(of: store)) }
        }
    }

    /// Removes a notification.
    ///
    /// Returns false when the store fails.
    @discardableResult public func removeNotification(notification: PushNotification) -> Bool {
        engine.perform("remove a notification", default: false) {
            let (value, store) = engine.store(for: notification)
            return try store.perform(.removeNotification(value.id))
        }
    }
}
