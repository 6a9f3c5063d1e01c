import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The content of an app's ``PushStorage`` as the engine's accounts, and the changes that a transaction has made to it.
final class StorageRecords: AccountWriter {
    /// The credentials as the storage returned them.
    private let credentials: [String: PushCredential]
    /// The notifications as the storage returned them.
    private let stored: [String: PushNotification]
    private let storedToken: StoredDeviceToken?
    private let storedAccounts: [AccountID: Account]

    private var accountsByID: [AccountID: Account]
    private var mechanismsByID: [String: Mechanism] = [:]
    private var notificationsByID: [String: SignetCore.PushNotification]
    private var token: StoredDeviceToken?

    /// Creates the records of a storage's content.
    ///
    /// A credential with an invalid address is left out, and stays in the storage as it is.
    init(credentials: [PushCredential], notifications: [PushNotification], token: StoredDeviceToken?) {
        var accounts: [AccountID: Account] = [:]
        for credential in credentials {
            guard let mechanism = credential.storedMechanism else { continue }
            mechanismsByID[credential.id] = mechanism
            let details = credential.storedDetails
            if accounts[mechanism.account]?.lockingPolicy == nil {
                accounts[mechanism.account] = details.applied(to: nil, now: credential.createdAt)
            }
        }
        self.credentials = Dictionary(credentials.map { ($0.id, $0) }) { first, _ in first }
        stored = Dictionary(notifications.map { ($0.id, $0) }) { first, _ in first }
        storedToken = token
        storedAccounts = accounts
        accountsByID = accounts
        notificationsByID = stored.mapValues(\.engineForm)
        self.token = token
    }

    func account(_ id: AccountID) -> Account? { accountsByID[id] }
    func accounts() -> [Account] { accountsByID.values.sorted { ($0.timeAdded, $0.id.issuer) < ($1.timeAdded, $1.id.issuer) } }
    func mechanism(_ uid: String) -> Mechanism? { mechanismsByID[uid] }
    func mechanisms() -> [Mechanism] { mechanismsByID.values.sorted { Mechanism.isBefore($0, $1) } }
    func notification(id: String) -> SignetCore.PushNotification? { notificationsByID[id] }
    func notification(messageID: String, mechanismUID: String) -> SignetCore.PushNotification? {
        notificationsByID.values.first { $0.messageID == messageID && $0.message.mechanismUID == mechanismUID }
    }
    func notifications() -> [SignetCore.PushNotification] {
        notificationsByID.values.sorted { ($0.receivedAt, $0.id) > ($1.receivedAt, $1.id) }
    }
    func deviceToken() -> StoredDeviceToken? { token }

    func save(_ account: Account) { accountsByID[account.id] = account }
    func save(_ mechanism: Mechanism) { mechanismsByID[mechanism.uid] = mechanism }
    func save(_ notification: SignetCore.PushNotification) { notificationsByID[notification.id] = notification }
    func save(_ token: StoredDeviceToken) { self.token = token }
    func remove(account: AccountID) { accountsByID[account] = nil }
    func remove(mechanism uid: String) { mechanismsByID[uid] = nil }
    func remove(notification id: String) { notificationsByID[id] = nil }
    func removeDeviceToken() { token = nil }

    /// The changes to write to the storage.
    var changes: StorageChanges {
        var changes = StorageChanges()
        for mechanism in mechanisms() {
            let account = accountsByID[mechanism.account]
            let old = credentials[mechanism.uid]
            if let old, old.storedMechanism == mechanism, storedAccounts[mechanism.account] == account { continue }
            guard let credential = credential(mechanism, account, over: old) else { continue }
            changes.credentials.append(credential)
        }
        changes.removedCredentials = credentials.keys.filter {
            mechanismsByID[$0] == nil && credentials[$0]?.storedMechanism != nil
        }
        for notification in notifications().reversed() {
            if let old = stored[notification.id] {
                if old.engineForm != notification { changes.updatedNotifications.append(old.deciding(as: notification)) }
            } else {
                changes.newNotifications.append(PushNotification(notification))
            }
        }
        changes.removedNotifications = stored.keys.filter { notificationsByID[$0] == nil }
        if token?.token != storedToken?.token { changes.token = .some(token) }
        changes.knownToken = token
        return changes
    }

    /// Returns the credential of a mechanism, with what only the app's value has.
    private func credential(_ mechanism: Mechanism, _ account: Account?, over old: PushCredential?) -> PushCredential? {
        let lock = account?.lockingPolicy.map { AccountLock.manual(policy: $0) }
        let enrolled = EnrolledMechanism(mechanism: mechanism, account: account, lock: lock)
        guard var credential = try? PushCredential(enrolled) else { return nil }
        if let old {
            credential.otherMembers = old.otherMembers
            if storedAccounts[mechanism.account]?.policies == account?.policies { credential.policies = old.policies }
        }
        credential.secretCoding = .included
        return credential
    }
}

/// The changes to an app's ``PushStorage``.
struct StorageChanges: Sendable {
    var credentials: [PushCredential] = []
    var removedCredentials: [String] = []
    var newNotifications: [PushNotification] = []
    var updatedNotifications: [PushNotification] = []
    var removedNotifications: [String] = []
    /// The token to store, or nil in it to remove the token; nil for no change.
    var token: StoredDeviceToken??
    /// The token with the servers that have yet to be told, which the storage does not keep.
    var knownToken: StoredDeviceToken?
}

extension PushCredential {
    /// The details for the account of a stored credential.
    ///
    /// A lock by one of the credential's own policies is left out, because those are evaluated at each call. Every other lock is
    /// one that the app or the user has set.
    fileprivate var storedDetails: CredentialDetails {
        var details = details
        let isByPolicy = details.lock.policy.map { details.policyObject?[$0] != nil } ?? false
        details.lock = details.lock.isLocked && !isByPolicy ? .given(details.lock.policy, isLocked: true) : .none
        return details
    }

    /// The mechanism of a credential from an app's storage, unchecked; nil when an address is invalid.
    fileprivate var storedMechanism: Mechanism? {
        guard let registration = try? Endpoint(unchecked: registrationEndpoint),
            let authentication = try? Endpoint(unchecked: authenticationEndpoint)
        else { return nil }
        let settings = PushSettings(
            secret: secret ?? encodedSecret, registrationEndpoint: registration, authenticationEndpoint: authentication,
            platform: mark)
        return Mechanism(
            uid: id, account: details.account, kind: .push(settings), timeAdded: createdAt, userID: userId,
            resourceID: resourceId == id ? nil : resourceId)
    }
}
