import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// A ``StorageClient`` during one transaction.
///
/// It turns the engine's calls into calls of the client, and can undo the changes.
final class ClientRecords: AccountWriter {
    private(set) var state: ClientBox.State
    private(set) var cache: ReadCache
    private(set) var hasCalledSetter = false
    private let initial: (token: StoredDeviceToken?, sentAnswers: [String: SentAnswer])
    private var changes: [Change] = []

    /// A change with the function that undoes it.
    private struct Change {
        let undo: (any StorageClient) -> Bool
        var isDone = false
    }

    /// The calls of a client that store and remove one kind of value.
    private struct Calls<Value: Sendable>: Sendable {
        let name: String
        let set: @Sendable (any StorageClient, Value) -> Bool
        let remove: @Sendable (any StorageClient, Value) -> Bool
    }

    private static let account = Calls<SignetCore.Account>(name: "an account") {
        $0.setAccount(account: Account($1))
    } remove: {
        $0.removeAccount(account: Account($1))
    }
    private static let mechanism = Calls<SignetCore.Mechanism>(name: "a mechanism") {
        $0.setMechanism(mechanism: Mechanism.make($1))
    } remove: {
        $0.removeMechanism(mechanism: Mechanism.make($1))
    }
    private static let notification = Calls<SignetCore.PushNotification>(name: "a notification") {
        $0.setNotification(notification: PushNotification($1))
    } remove: {
        $0.removeNotification(notification: PushNotification($1))
    }
    private static let token = Calls<StoredDeviceToken>(name: "the device token") {
        $0.setPushDeviceToken(pushDeviceToken: PushDeviceToken($1))
    } remove: { client, _ in
        client.removePushDeviceToken()
    }

    init(_ state: ClientBox.State, _ cache: ReadCache) {
        self.state = state
        self.cache = cache
        initial = (state.token, state.sentAnswers)
    }

    // MARK: Accounts

    func account(_ id: AccountID) throws(StoreError) -> SignetCore.Account? {
        if let entry = cache.accounts[id] { return entry.value }
        let found = state.client.getAccount(accountIdentifier: id.legacyIdentifier)?.core
        if let found, found.id != id {
            throw StoreError(
                .invalid, "read an account",
                "the storage client keeps another account under the identifier \(id.legacyIdentifier); nothing was changed")
        }
        cache.accounts[id] = ReadCache.Entry(found)
        return found
    }

    /// Returns the account with a legacy identifier.
    func account(identifier: String) -> SignetCore.Account? {
        let found = state.client.getAccount(accountIdentifier: identifier)?.core
        if let found { cache.accounts[found.id] = .present(found) }
        return found
    }

    func accounts() throws(StoreError) -> [SignetCore.Account] {
        let accounts = state.client.getAllAccounts().map(\.core).sorted {
            ($0.timeAdded, $0.id.legacyIdentifier) < ($1.timeAdded, $1.id.legacyIdentifier)
        }
        for account in accounts { cache.accounts[account.id] = .present(account) }
        return accounts
    }

    func save(_ account: SignetCore.Account) throws(StoreError) {
        try store(account, over: cache.accounts[account.id], Self.account)
        cache.accounts[account.id] = .present(account)
    }

    func remove(account id: AccountID) throws(StoreError) {
        guard let account = try account(id) else { return }
        try remove(account, Self.account)
        cache.accounts[id] = .absent
    }

    // MARK: Mechanisms

    func mechanism(_ uid: String) throws(StoreError) -> SignetCore.Mechanism? {
        if let entry = cache.mechanisms[uid] { return entry.value }
        let found = state.client.getMechanismByUUID(uid)?.core
        cache.mechanisms[uid] = ReadCache.Entry(found)
        return found
    }

    func mechanisms(of account: AccountID) throws(StoreError) -> [SignetCore.Mechanism] {
        if let uids = cache.mechanismsOfAccount[account] { return uids.compactMap { cache.mechanisms[$0]?.value } }
        let owner = cache.accounts[account]?.value ?? SignetCore.Account(id: account, timeAdded: .distantPast)
        let mechanisms = state.client.getMechanismsForAccount(account: Account(owner)).map(\.core)
            .filter { $0.account == account }.sorted(by: SignetCore.Mechanism.isBefore)
        cache.add(mechanisms, of: account)
        return mechanisms
    }

    func mechanisms() throws(StoreError) -> [SignetCore.Mechanism] {
        var all: [SignetCore.Mechanism] = []
        for account in try accounts() { all += try mechanisms(of: account.id) }
        return all.sorted(by: SignetCore.Mechanism.isBefore)
    }

    func save(_ mechanism: SignetCore.Mechanism) throws(StoreError) {
        let (uid, uids) = (mechanism.uid, cache.mechanismsOfAccount[mechanism.account])
        // A mechanism that is not in the list of its account's mechanisms is known not to exist.
        try store(mechanism, over: cache.mechanisms[uid] ?? (uids == nil ? nil : .absent), Self.mechanism)
        cache.mechanisms[uid] = .present(mechanism)
        if let uids, !uids.contains(uid) { cache.mechanismsOfAccount[mechanism.account] = uids + [uid] }
    }

    func remove(mechanism uid: String) throws(StoreError) {
        guard let mechanism = try mechanism(uid) else { return }
        try remove(mechanism, Self.mechanism)
        cache.mechanisms[uid] = .absent
        cache.mechanismsOfAccount[mechanism.account]?.removeAll { $0 == uid }
    }

    // MARK: Notifications

    func notification(id: String) throws(StoreError) -> SignetCore.PushNotification? {
        if let entry = cache.notifications[id] { return entry.value }
        let found = find(id)
        cache.notifications[id] = ReadCache.Entry(found)
        return found
    }

    /// Returns the notification with an identifier of the ForgeRock SDK.
    func notification(identifier: String) -> SignetCore.PushNotification? {
        state.client.getNotification(notificationIdentifier: identifier).map { seen($0.core) }
    }

    func notification(messageID: String, mechanismUID: String) throws(StoreError) -> SignetCore.PushNotification? {
        let id = SignetCore.PushNotification.id(mechanismUID: mechanismUID, messageID: messageID)
        if let entry = cache.notifications[id] { return entry.value }
        var found = state.client.getNotificationByMessageId(messageId: messageID)?.core
        // The client may have returned another mechanism's message with the same identifier.
        if let other = found, other.id != id { found = find(id) }
        if let found { seen(found) }
        cache.notifications[id] = ReadCache.Entry(found)
        return found
    }

    /// Returns the notification with an id of the engine.
    ///
    /// The client knows other identifiers. A notification that was never seen is searched among all.
    private func find(_ id: String) -> SignetCore.PushNotification? {
        if let identifier = state.identifiers[id],
            let found = state.client.getNotification(notificationIdentifier: identifier)?.core, found.id == id
        {
            return found
        }
        return state.client.getAllNotifications().map { seen($0.core) }.first { $0.id == id }
    }

    /// Remembers the identifier under which the client knows a notification.
    @discardableResult private func seen(_ notification: SignetCore.PushNotification) -> SignetCore.PushNotification {
        state.identifiers[notification.id] = notification.legacyIdentifier
        return notification
    }

    func notifications() throws(StoreError) -> [SignetCore.PushNotification] { newestFirst(state.client.getAllNotifications()) }

    func notifications(of mechanismUID: String) throws(StoreError) -> [SignetCore.PushNotification] {
        guard let mechanism = try mechanism(mechanismUID) else { return [] }
        return newestFirst(state.client.getAllNotificationsForMechanism(mechanism: Mechanism.make(mechanism)))
            .filter { $0.message.mechanismUID == mechanismUID }
    }

    private func newestFirst(_ objects: [PushNotification]) -> [SignetCore.PushNotification] {
        let notifications = objects.map(\.core)
        for notification in notifications { cache.notifications[notification.id] = .present(seen(notification)) }
        return notifications.sorted { ($0.receivedAt, $0.id) > ($1.receivedAt, $1.id) }
    }

    func save(_ notification: SignetCore.PushNotification) throws(StoreError) {
        try store(notification, over: cache.notifications[notification.id], Self.notification)
        cache.notifications[notification.id] = .present(seen(notification))
    }

    func remove(notification id: String) throws(StoreError) {
        guard let notification = try notification(id: id) else { return }
        try remove(notification, Self.notification)
        cache.notifications[id] = .absent
        state.identifiers[id] = nil
    }

    // MARK: Device token and sent answers

    func deviceToken() throws(StoreError) -> StoredDeviceToken? { state.token }

    func save(_ token: StoredDeviceToken) throws(StoreError) {
        guard token != state.token else { return }
        try store(token, over: ReadCache.Entry(state.token), Self.token)
        state.token = token
    }

    func removeDeviceToken() throws(StoreError) {
        let before = state.token
        try change("remove the device token") {
            $0.removePushDeviceToken()
        } undo: { client in
            before.map { Self.token.set(client, $0) } ?? true
        }
        state.token = nil
    }

    func isEmpty() throws(StoreError) -> Bool { state.client.isEmpty() }

    func sentAnswer(to notificationID: String) throws(StoreError) -> SentAnswer? { state.sentAnswers[notificationID] }
    func save(_ answer: SentAnswer) throws(StoreError) { state.sentAnswers[answer.notificationID] = answer }
    func removeSentAnswer(to notificationID: String) throws(StoreError) { state.sentAnswers[notificationID] = nil }

    // MARK: Changes and undo

    private func store<Value>(
        _ value: Value, over before: ReadCache.Entry<Value>?, _ calls: Calls<Value>
    ) throws(StoreError) {
        try change("store \(calls.name)") {
            calls.set($0, value)
        } undo: { client in
            switch before {
            case .present(let before): calls.set(client, before)
            case .absent: calls.remove(client, value)
            case nil: true
            }
        }
    }

    private func remove<Value>(_ value: Value, _ calls: Calls<Value>) throws(StoreError) {
        try change("remove \(calls.name)") {
            calls.remove($0, value)
        } undo: {
            calls.set($0, value)
        }
    }

    private func change(
        _ operation: String, _ body: (any StorageClient) -> Bool, undo: @escaping (any StorageClient) -> Bool
    ) throws(StoreError) {
        changes.append(Change(undo: undo))
        hasCalledSetter = true
        guard body(state.client) else {
            throw StoreError(.failed, operation, "the storage client answered that it did not")
        }
        changes[changes.count - 1].isDone = true
    }

    /// Undoes all changes, last one first.
    ///
    /// The change that failed is included, because a client may report a failure after it made the change. Returns the error for
    /// the caller.
    func undo(after error: StoreError) -> StoreError {
        (state.token, state.sentAnswers) = initial
        var isComplete = true
        for change in changes.reversed() {
            let isUndone = change.undo(state.client)
            if change.isDone, !isUndone { isComplete = false }
        }
        guard !isComplete else { return error }
        return StoreError(
            .outcomeUnknown, error.operation,
            "\(error.reason), and then not even to take back what it had done before; a part of it may be stored")
    }
}
