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
        let (records, _) = try await begin()
        defer { lock.unlock() }
        return try body(AccountRecords.reader(records))
    }

    package func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R {
        let (records, before) = try await begin()
        let value = Result { () throws(StoreError) in try body(AccountRecords.writer(records)) }
        if case .success = value, records.isChanged {
            try await end(with: StoredAccounts(bytes: records.bytes), over: before)
        } else {
            lock.unlock()
        }
        return try value.get()
    }

    /// Acquires the lock and reads the item.
    ///
    /// When it throws, the lock is released, or will be released once the storage has responded.
    private func begin() async throws(StoreError) -> (records: BundledRecords, item: StoredAccounts?) {
        let lock = lock
        guard await withTimeout(limit, late: { lock.unlock() }, { await lock.lock() }) != nil else { throw tooLate }
        let item = await withTimeout(limit, late: { _ in lock.unlock() }, { await self.item() })
        guard let item else { throw tooLate }
        do throws(StoreError) {
            let item = try item.get()
            return (try BundledRecords(item?.bytes), item)
        } catch {
            lock.unlock()
            throw error
        }
    }

    /// Saves the item and releases the lock, now or once the storage has responded.
    private func end(with item: StoredAccounts, over before: StoredAccounts?) async throws(StoreError) {
        let lock = lock
        let outcome = await withTimeout(limit, late: { _ in lock.unlock() }, { await self.keep(item, over: before) })
        guard let outcome else {
            throw StoreError(
                .outcomeUnknown, "store the accounts",
                "the storage did not answer within \(limit); read them again to find out")
        }
        lock.unlock()
        try outcome.get()
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
