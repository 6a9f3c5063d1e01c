import SignetAuthenticator
import SignetCore
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The authenticator's accounts, under the original SDK's names.
///
///     FRAClient.setStorage(storage: MyStorageClient())    // if the app keeps the data itself
///     FRAClient.start()
///     guard let client = FRAClient.shared else { ... }    // FRAClient.lastStorageError says why
///
/// It may be used from any thread. What is synchronous answers from the store at once; what needs a server has a form with
/// callbacks and one that is awaited. Where a `Bool` or nil says that something failed, the reason is logged (under the label
/// `signet.frauthenticator`) and in ``lastStorageError-swift.property``. Errors are of the types that conform to ``FRError``.
public final class FRAClient: Sendable {
    let engine: LegacyEngine

    init(_ engine: LegacyEngine) {
        self.engine = engine
    }

    /// The last failure that a `Bool`, nil or an empty list stood for; nil when there was none.
    public var lastStorageError: (any Error)? { engine.lastError }

    // MARK: Enrolment

    /// Enrols what a URI offers, all or nothing: for one of both codes and push, the callback gets the push mechanism.
    ///
    /// One of the callbacks is called, once, on the global executor of Swift's tasks.
    /// - Parameters:
    ///   - uri: An `otpauth`, `pushauth` or `mfauth` URI.
    ///   - onSuccess: Called when it is done.
    ///   - onError: Gets a ``MechanismError``, an ``AccountError``, ``PushNotificationError/missingDeviceToken``, a
    ///     ``NetworkError`` or an ``FRAError``. Nothing was stored then.
    public func createMechanismFromUri(
        uri: URL, onSuccess: @escaping MechanismCallback, onError: @escaping ErrorCallback
    ) {
        Callbacks.run({ try await self.createMechanismFromUri(uri: uri) }, onSuccess: onSuccess, onError: onError)
    }

    /// The same, awaited.
    public func createMechanismFromUri(uri: URL) async throws -> Mechanism {
        try await engine.enrol(uri: uri.absoluteString)
    }

    // MARK: Accounts

    /// Every account with its mechanisms and their notifications, the oldest first; of a client of ``FRAClientBuilder``, by issuer
    /// and name. Nothing is changed by looking.
    public func getAllAccounts() -> [Account] {
        engine.perform("list accounts", otherwise: []) { try engine.allAccounts() }
    }

    /// The account that a mechanism belongs to.
    public func getAccount(mechanism: Mechanism) -> Account? {
        let id = AccountID(issuer: mechanism.issuer, accountName: mechanism.accountName)
        return engine.perform("read an account", otherwise: nil) {
            try engine.account { (records: any AccountReader) throws(StoreError) in try records.account(id) }
        }
    }

    /// The account with this ``Account/identifier``.
    public func getAccount(identifier: String) -> Account? {
        engine.perform("read an account", otherwise: nil) { try engine.account(identifier: identifier) }
    }

    /// Stores ``Account/displayIssuer`` and ``Account/displayAccountName``. False when the account is not there, or the store
    /// fails.
    /// - Throws: ``AccountError/accountLocked(_:)``; ``MechanismError/invalidInformation(_:)`` for a name that cannot be shown.
    @discardableResult public func updateAccount(account: Account) throws -> Bool {
        try engine.throwing("update an account") { try engine.update(account) }
    }

    /// Removes an account with its mechanisms and their notifications, all or nothing. False when the store fails.
    @discardableResult public func removeAccount(account: Account) -> Bool {
        engine.perform("remove an account", otherwise: false) { try engine.remove(account) }
    }

    /// Locks an account by hand, until ``unlockAccount(account:)``: no codes, no answers, no other names. False when the store
    /// fails.
    /// - Parameters:
    ///   - account: The account.
    ///   - policy: One of the account's own policies.
    /// - Throws: ``AccountError``.
    @discardableResult public func lockAccount(account: Account, policy: any FRAPolicy) throws -> Bool {
        let name = policy.name
        return try engine.throwing("lock an account") {
            // Asked before the store is: what the app's evaluator does must not hold everybody up.
            let isAttached = engine.policies.isAttached(name, to: account.core)
            return try engine.change(account) { id, records throws(StoreError) in
                try AccountRules.lock(id, policy: name, isAttached: isAttached, in: records)
            }
        }
    }

    /// Ends a lock that was made by hand. That a policy is not met is no such lock: it ends when the policy is met. False when
    /// the store fails.
    /// - Throws: ``AccountError/failToUnlockAccountNotLocked``.
    @discardableResult public func unlockAccount(account: Account) throws -> Bool {
        try engine.throwing("unlock an account") {
            try engine.change(account) { id, records throws(StoreError) in try AccountRules.unlock(id, in: records) }
        }
    }

    // MARK: Mechanisms and notifications

    /// The mechanism that a notification asks; nil when it is not there any more.
    public func getMechanism(notification: PushNotification) -> PushMechanism? {
        engine.perform("read a mechanism", otherwise: nil) {
            try engine.mechanism(uid: notification.mechanismUUID) as? PushMechanism
        }
    }

    /// The mechanism that its server knows by this id.
    public func getMechanismByUUID(_ mechanismUID: String) -> Mechanism? {
        engine.perform("read a mechanism", otherwise: nil) { try engine.mechanism(uid: mechanismUID) }
    }

    /// Removes a mechanism with its notifications, all or nothing. Its account stays; with the last mechanism of a client of
    /// ``FRAClientBuilder`` it goes. False when the store fails.
    @discardableResult public func removeMechanism(mechanism: Mechanism) -> Bool {
        engine.perform("remove a mechanism", otherwise: false) { try engine.remove(mechanism) }
    }

    /// The notifications of a mechanism, the oldest first; of a client of ``FRAClientBuilder``, the newest.
    public func getAllNotifications(mechanism: PushMechanism) -> [PushNotification] {
        engine.perform("list notifications", otherwise: []) { try engine.notifications(of: mechanism) }
    }

    /// Every notification, in the same order.
    public func getAllNotifications() -> [PushNotification] {
        engine.perform("list notifications", otherwise: []) {
            try engine.notifications { (records: any AccountReader) throws(StoreError) in try records.notifications() }
        }
    }

    /// The notification with this ``PushNotification/identifier``.
    public func getNotification(identifier: String) -> PushNotification? {
        engine.perform("read a notification", otherwise: nil) { try engine.notification(id: identifier) }
    }

    /// Removes a notification. False when the store fails.
    @discardableResult public func removeNotification(notification: PushNotification) -> Bool {
        engine.perform("remove a notification", otherwise: false) { try engine.remove(notification) }
    }
}
