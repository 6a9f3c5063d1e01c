import FRAuthenticator

/// The storage client of the app, with the methods that the document names: a dictionary for each kind of object.
class CustomStorageClient: StorageClient {
    private var accounts: [String: Account] = [:]
    private var mechanisms: [String: Mechanism] = [:]
    private var notifications: [String: PushNotification] = [:]

    init() {}

    @discardableResult func setAccount(account: Account) -> Bool {
        accounts[account.identifier] = account
        return true
    }

    @discardableResult func removeAccount(account: Account) -> Bool {
        accounts.removeValue(forKey: account.identifier) != nil
    }

    func getAccount(accountIdentifier: String) -> Account? { accounts[accountIdentifier] }

    func getAllAccounts() -> [Account] { Array(accounts.values) }

    @discardableResult func setMechanism(mechanism: Mechanism) -> Bool {
        mechanisms[mechanism.identifier] = mechanism
        return true
    }

    @discardableResult func removeMechanism(mechanism: Mechanism) -> Bool {
        mechanisms.removeValue(forKey: mechanism.identifier) != nil
    }

    func getMechanismsForAccount(account: Account) -> [Mechanism] {
        mechanisms.values.filter { $0.issuer == account.issuer && $0.accountName == account.accountName }
    }

    func getMechanismForUUID(uuid: String) -> Mechanism? { mechanisms.values.first { $0.mechanismUUID == uuid } }

    @discardableResult func setNotification(notification: PushNotification) -> Bool {
        notifications[notification.identifier] = notification
        return true
    }

    @discardableResult func removeNotification(notification: PushNotification) -> Bool {
        notifications.removeValue(forKey: notification.identifier) != nil
    }

    func getAllNotificationsForMechanism(mechanism: Mechanism) -> [PushNotification] {
        notifications.values.filter { $0.mechanismUUID == mechanism.mechanismUUID }
    }

    @discardableResult func isEmpty() -> Bool { accounts.isEmpty && mechanisms.isEmpty && notifications.isEmpty }
}
