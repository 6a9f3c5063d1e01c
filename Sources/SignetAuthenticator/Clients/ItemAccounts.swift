import SignetCore
package import SignetStorage

/// An account store that keeps all accounts as one item of a storage that the app implements. It owns the storage and makes one
/// call at a time.
///
/// A transaction reads the item, and saves it if it has changed, so a transaction is as atomic as the storage's `save`. Before it
/// saves the item it reads the item again. If another client has changed the item in the meantime, the change is not overwritten
/// and the call fails with `busy`. A short time remains between that read and the save, so no other client should use the same
/// place at the same time.
package actor ItemAccounts: AccountStore {
    private let storage: any Storage<StoredAccounts>
    private let limit: Duration
    private let lock = AsyncLock()

    /// Creates a store of the accounts in `storage`.
    ///
    /// Each call of the storage may take as long as `limit`.
    package init(_ storage: sending any Storage<StoredAccounts>, limit: Duration) {
        self.storage = storage
        self.limit = limit
    }

    package func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) async throws(StoreError) -> R {
        try await withItem { records throws(StoreError) in try body(AccountRecords.reader(records)) }
    }

    package func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R {
        try await withItem { records throws(StoreError) in try body(AccountRecords.writer(records)) }
    }

    /// Reads the item, calls `body` with its records, and saves the item if `body` has changed them.
    ///
    /// The lock is held meanwhile. After a call of the storage that is late, it is held until the storage has responded.
    private func withItem<R: Sendable>(
        _ body: (BundledRecords) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        guard await lock.lock(within: limit) else { throw tooLate }
        var isLate = false
        defer { if !isLate { lock.unlock() } }

        guard let read = await inTime({ await self.item() }) else {
            isLate = true
            throw tooLate
        }
        let before = try read.get()
        let records = try BundledRecords(before?.bytes)
        let value = try body(records)
        guard records.isChanged else { return value }

        let after = StoredAccounts(bytes: records.bytes)
        guard let saved = await inTime({ await self.keep(after, over: before) }) else {
            isLate = true
            throw StoreError(
                .outcomeUnknown, "store the accounts",
                "the storage did not answer within \(limit); read them again to find out")
        }
        try saved.get()
        return value
    }

    /// Returns the result of a call of the storage, or nil when it is late; then its end releases the lock.
    private func inTime<Value: Sendable>(_ call: @escaping @Sendable () async -> Value) async -> Value? {
        let lock = lock
        return await withTimeout(limit, late: { _ in lock.unlock() }, call)
    }

    private func item() async -> Result<StoredAccounts?, StoreError> {
        do {
            return .success(try await storage.get())
        } catch {
            return .failure(
                error as? StoreError
                    ?? StoreError(.failed, "read the accounts", "the app's storage failed (\(type(of: error)))"))
        }
    }

    private func keep(_ item: StoredAccounts, over before: StoredAccounts?) async -> Result<Void, StoreError> {
        switch await self.item() {
        case .failure(let error): return .failure(error)
        case .success(before): break
        case .success:
            return .failure(
                StoreError(
                    .busy, "store the accounts",
                    "another client has changed them in the app's storage meanwhile; nothing was stored, try again"))
        }
        do {
            return .success(try await storage.save(item: item))
        } catch {
            return .failure(
                error as? StoreError
                    ?? StoreError(
                        .outcomeUnknown, "store the accounts",
                        "the app's storage failed (\(type(of: error))); read them again to find out"))
        }
    }

    private var tooLate: StoreError {
        StoreError(.busy, "read the accounts", "the app's storage did not answer within \(limit)")
    }
}
