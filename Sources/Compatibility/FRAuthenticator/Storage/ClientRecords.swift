import SignetAuthenticator
import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A ``StorageClient`` during one transaction. It turns the engine's calls into calls of the client, and can undo the changes.
final class ClientRecords: AccountWriter {
    private let client: any StorageClient
    private let token: TokenSlot
    private let sent: SentAnswers
    private let hidesUntoldToken: Bool
    private(set) var known: Knowledge
    private var changes: [Change] = []
    private(set) var hasCalledSetter = false

    /// A change with the function that undoes it.
    private struct Change {
        let undo: (any StorageClient) -> Bool
        var isDone = false
    }

    init(
        _ client: any StorageClient, token: TokenSlot, sent: SentAnswers, hidesUntoldToken: Bool, knowing known: Knowledge
    ) {
        self.client = client
        self.hidesUntoldToken = hidesUntoldToken
        self.token = token
        self.sent = sent
        self.known = known
    }

    // MARK: Accounts

    func account(_ id: AccountID) throws(StoreError) -> SignetCore.Account? {
        if let known = known.accounts[id] { return known }
        let found = client.getAccount(accountIdentifier: id.legacyIdentifier)?.core
        if let found, found.id != id {
            throw StoreError(
                .invalid, "read an account",
                "the storage client keeps another account under the identifier \(id.legacyIdentifier); nothing was changed")
        }
        known.accounts[id] = .some(found)
        return found
    }

    /// Returns the account with a legacy identifier.
    func account(identifier: String) -> SignetCore.Account? {
        let found = client.getAccount(accountIdentifier: identifier)?.core
        if let found { known.accounts[found.id] = found }
        return found
    }

    func accounts() throws(StoreError) -> [SignetCore.Account] {
        let accounts = client.getAllAccounts().map(\.core).sorted {
            ($0.timeAdded, $0.id.legacyIdentifier) < ($1.timeAdded, $1.id.legacyIdentifier)
        }
        for account in accounts { known.accounts[account.id] = account }
        return accounts
    }

    func save(_ account: SignetCore.Account) throws(StoreError) {
        let before = known.accounts[account.id]
        try change("store an account") {
            $0.setAccount(account: Account(account))
        } undo: { client in
            switch before {
            case .some(let before?): client.setAccount(account: Account(before))
            case .some(nil): client.removeAccount(account: Account(account))
            case nil: true
            }
        }
        known.accounts[account.id] = account
    }

    func remove(account id: AccountID) throws(StoreError) {
        guard let account = try account(id) else { return }
        try change("remove an account") {
            $0.removeAccount(account: Account(account))
        } undo: {
            $0.setAccount(account: Account(account))
        }
        known.accounts[id] = .some(nil)
    }

    // MARK: Mechanisms

    func mechanism(_ uid: String) throws(StoreError) -> SignetCore.Mechanism? {
        if let known = known.mechanisms[uid] { return known }
        let found = try client.getMechanismForUUID(uuid: uid).map { object throws(StoreError) in try value(object) }
        known.mechanisms[uid] = .some(found)
        return found
    }

    func mechanisms(of account: AccountID) throws(StoreError) -> [SignetCore.Mechanism] {
        if let uids = known.mechanismsOfAccount[account] { return uids.compactMap { known.mechanisms[$0].flatMap { $0 } } }
        let owner = known.accounts[account].flatMap { $0 } ?? SignetCore.Account(id: account, timeAdded: .distantPast)
        var mechanisms: [SignetCore.Mechanism] = []
        for object in client.getMechanismsForAccount(account: Account(owner)) {
            let mechanism = try value(object)
            if mechanism.account == account { mechanisms.append(mechanism) }
        }
        mechanisms.sort { ($0.timeAdded, $0.kindName.rawValue, $0.uid) < ($1.timeAdded, $1.kindName.rawValue, $1.uid) }
        known.note(mechanisms, of: account)
        return mechanisms
    }

    func mechanisms() throws(StoreError) -> [SignetCore.Mechanism] {
        var all: [SignetCore.Mechanism] = []
        for account in try accounts() { all += try mechanisms(of: account.id) }
        return all.sorted { ($0.timeAdded, $0.kindName.rawValue, $0.uid) < ($1.timeAdded, $1.kindName.rawValue, $1.uid) }
    }

    func save(_ mechanism: SignetCore.Mechanism) throws(StoreError) {
        let before = known.mechanism(mechanism)
        try change("store a mechanism") {
            $0.setMechanism(mechanism: Mechanisms.object(for: mechanism))
        } undo: { client in
            switch before {
            case .some(let before?): client.setMechanism(mechanism: Mechanisms.object(for: before))
            case .some(nil): client.removeMechanism(mechanism: Mechanisms.object(for: mechanism))
            case nil: true
            }
        }
        known.mechanisms[mechanism.uid] = mechanism
        if known.mechanismsOfAccount[mechanism.account]?.contains(mechanism.uid) == false {
            known.mechanismsOfAccount[mechanism.account]?.append(mechanism.uid)
        }
    }

    func remove(mechanism uid: String) throws(StoreError) {
        guard let mechanism = try mechanism(uid) else { return }
        try change("remove a mechanism") {
            $0.removeMechanism(mechanism: Mechanisms.object(for: mechanism))
        } undo: {
            $0.setMechanism(mechanism: Mechanisms.object(for: mechanism))
        }
        known.mechanisms[uid] = .some(nil)
        known.mechanismsOfAccount[mechanism.account]?.removeAll { $0 == uid }
    }

    /// Returns the engine's value of a mechanism that the client returned.
    private func value(_ object: Mechanism) throws(StoreError) -> SignetCore.Mechanism {
        guard let state = object as? any MechanismState else {
            throw StoreError(
                .typeMismatch, "read a mechanism",
                "the storage client returned an object of a type that this module does not have")
        }
        return state.core
    }

    // MARK: Notifications

    func notification(id: String) throws(StoreError) -> SignetCore.PushNotification? {
        if let known = known.notifications[id] { return known }
        let found = client.getNotification(notificationIdentifier: id)?.core
        known.notifications[id] = .some(found)
        return found
    }

    func notification(messageID: String, mechanismUID: String) throws(StoreError) -> SignetCore.PushNotification? {
        let id = SignetCore.PushNotification.id(mechanismUID: mechanismUID, messageID: messageID)
        if let known = known.notifications[id] { return known }
        var found = client.getNotificationByMessageId(messageId: messageID)?.core
        // The client may have returned another mechanism's message with the same identifier.
        if let other = found, other.id != id { found = client.getNotification(notificationIdentifier: id)?.core }
        known.notifications[id] = .some(found)
        return found
    }

    func notifications() throws(StoreError) -> [SignetCore.PushNotification] {
        note(client.getAllNotifications().map(\.core))
    }

    func notifications(of mechanismUID: String) throws(StoreError) -> [SignetCore.PushNotification] {
        guard let mechanism = try mechanism(mechanismUID) else { return [] }
        return note(client.getAllNotificationsForMechanism(mechanism: Mechanisms.object(for: mechanism)).map(\.core))
            .filter { $0.message.mechanismUID == mechanismUID }
    }

    private func note(_ notifications: [SignetCore.PushNotification]) -> [SignetCore.PushNotification] {
        for notification in notifications { known.notifications[notification.id] = notification }
        return notifications.sorted { ($0.receivedAt, $0.id) > ($1.receivedAt, $1.id) }
    }

    func save(_ notification: SignetCore.PushNotification) throws(StoreError) {
        let before = known.notifications[notification.id]
        try change("store a notification") {
            $0.setNotification(notification: PushNotification(notification, origin: nil))
        } undo: {
            switch before {
            case .some(let before?): $0.setNotification(notification: PushNotification(before, origin: nil))
            case .some(nil): $0.removeNotification(notification: PushNotification(notification, origin: nil))
            case nil: true
            }
        }
        known.notifications[notification.id] = notification
    }

    func remove(notification id: String) throws(StoreError) {
        guard let notification = try notification(id: id) else { return }
        try change("remove a notification") {
            $0.removeNotification(notification: PushNotification(notification, origin: nil))
        } undo: {
            $0.setNotification(notification: PushNotification(notification, origin: nil))
        }
        known.notifications[id] = .some(nil)
    }

    // MARK: Device token and sent answers

    func deviceToken() throws(StoreError) -> StoredDeviceToken? {
        hidesUntoldToken && token.isUntold ? nil : token.token
    }

    func save(_ new: StoredDeviceToken) throws(StoreError) {
        guard let news = token.news(of: new) else { return token.see(new) }
        let (token, before, seen) = (token, token.kept, token.token)
        try change("store the device token") { client in
            client.setPushDeviceToken(pushDeviceToken: PushDeviceToken(news))
        } undo: { client in
            token.see(seen)
            token.keep(before)
            return before.map { client.setPushDeviceToken(pushDeviceToken: PushDeviceToken($0)) }
                ?? client.removePushDeviceToken()
        }
        token.keep(news)
        token.see(new)
    }

    func removeDeviceToken() throws(StoreError) {
        let (token, before, seen) = (token, token.kept, token.token)
        try change("remove the device token") {
            $0.removePushDeviceToken()
        } undo: { client in
            token.see(seen)
            token.keep(before)
            return before.map { client.setPushDeviceToken(pushDeviceToken: PushDeviceToken($0)) } ?? true
        }
        token.keep(nil)
        token.see(nil)
    }

    func isEmpty() throws(StoreError) -> Bool { client.isEmpty() }

    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? { sent.answer(to: notificationID) }
    func save(_ answer: SentAnswer) throws(StoreError) { note(answer, to: answer.notificationID) }
    func removeSentAnswer(to notificationID: String) throws(StoreError) { note(nil, to: notificationID) }

    private func note(_ answer: SentAnswer?, to notificationID: String) {
        let (sent, before) = (sent, sent.answer(to: notificationID))
        sent.note(answer, to: notificationID)
        changes.append(
            Change(
                undo: { _ in
                    sent.note(before, to: notificationID)
                    return true
                }, isDone: true))
    }

    // MARK: Undo

    private func change(
        _ operation: String, _ body: (any StorageClient) -> Bool, undo: @escaping (any StorageClient) -> Bool
    ) throws(StoreError) {
        changes.append(Change(undo: undo))
        hasCalledSetter = true
        guard body(client) else {
            throw StoreError(.failed, operation, "the storage client answered that it did not")
        }
        changes[changes.count - 1].isDone = true
    }

    /// Undoes all changes, last one first. The change that failed is included, because a client may report a failure after it
    /// made the change. Returns the error for the caller.
    func undo(after error: StoreError) -> StoreError {
        var isComplete = true
        for change in changes.reversed() {
            let isUndone = change.undo(client)
            if change.isDone, !isUndone { isComplete = false }
        }
        changes = []
        guard !isComplete else { return error }
        return StoreError(
            .outcomeUnknown, error.operation,
            "\(error.reason), and then not even to take back what it had done before; a part of it may be stored")
    }
}
