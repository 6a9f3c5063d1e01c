import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// The engine's account store over an app's ``PushStorage``. It makes one call of the engine at a time.
///
/// A storage has no transactions: when it fails during a change, the values that it has stored before stay.
actor StorageAccounts: AccountStore {
    private let storage: any PushStorage
    private let limit: Duration
    private let lock = AsyncLock()
    /// The token with the servers that have yet to be told, which the storage does not keep.
    private var knownToken: StoredDeviceToken?

    /// Creates a store over a storage, each call of which may take as long as `limit`.
    init(_ storage: any PushStorage, limit: Duration) {
        self.storage = storage
        self.limit = limit
    }

    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) async throws(StoreError) -> R {
        await lock.lock()
        defer { lock.unlock() }
        return try body(try await records())
    }

    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R {
        await lock.lock()
        defer { lock.unlock() }
        let records = try await records()
        let value = try body(records)
        try await apply(records.changes)
        return value
    }

    private func records() async throws(StoreError) -> StorageRecords {
        let credentials = try await call("read the credentials") { try await $0.getAllPushCredentials() }
        let notifications = try await call("read the notifications") { try await $0.getAllPushNotifications() }
        let token = try await call("read the device token") { try await $0.getCurrentPushDeviceToken() }
        let stored = token.map { token in
            knownToken?.token == token.token ? knownToken : StoredDeviceToken(token: token.token, timeAdded: token.createdAt)
        }
        return StorageRecords(credentials: credentials, notifications: notifications, token: stored ?? nil)
    }

    /// Writes new values before it removes old ones.
    private func apply(_ changes: StorageChanges) async throws(StoreError) {
        for credential in changes.credentials {
            try await call("store a credential") { try await $0.storePushCredential(credential) }
        }
        for notification in changes.newNotifications {
            try await call("store a notification") { try await $0.storePushNotification(notification) }
        }
        for notification in changes.updatedNotifications {
            try await call("update a notification") { try await $0.updatePushNotification(notification) }
        }
        for id in changes.removedNotifications {
            _ = try await call("remove a notification") { try await $0.removePushNotification(notificationId: id) }
        }
        for id in changes.removedCredentials {
            _ = try await call("remove a credential") { try await $0.removePushCredential(credentialId: id) }
        }
        switch changes.token {
        case .none: break
        case .some(let token?):
            let value = PushDeviceToken(token: token.token, createdAt: token.timeAdded)
            try await call("store the device token") { try await $0.storePushDeviceToken(value) }
        case .some(nil): try await call("remove the device token") { try await $0.clearPushDeviceTokens() }
        }
        knownToken = changes.knownToken
    }

    /// Calls the storage.
    /// - Throws: `StoreError.Code.busy` when the storage does not answer in time; `StoreError.Code.failed` when it fails.
    private func call<R: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (any PushStorage) async throws -> R
    ) async throws(StoreError) -> R {
        let storage = storage
        let outcome = await withTimeout(limit) { () async -> Result<R, StoreError> in
            do {
                return .success(try await body(storage))
            } catch {
                return .failure(
                    error as? StoreError
                        ?? StoreError(.failed, operation, "the app's push storage failed (\(type(of: error)))"))
            }
        }
        guard let outcome else {
            throw StoreError(.busy, operation, "the app's push storage did not answer within \(limit)")
        }
        return try outcome.get()
    }
}
