public import SignetStorage

/// An account store over a record store that may block, such as a database on another machine.
///
/// Each call blocks a thread of its own, so that it does not block the app's tasks. In all other respects it behaves like
/// ``AccountRecords``.
public struct RemoteAccountRecords: AccountStore {
    private let records: AccountRecords

    /// Creates a store of the accounts in `records`.
    public init(_ records: AccountRecords) {
        self.records = records
    }

    /// The value of ``AccountRecords/areInClearOnDisk``.
    package var areInClearOnDisk: Bool { records.areInClearOnDisk }

    /// Runs `body` with a consistent snapshot of the accounts.
    public func read<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await Blocking.runNonEscaping { () throws(StoreError) in try records.read(body) }
    }

    /// Runs `body` in a transaction.
    ///
    /// When `body` throws, nothing is changed.
    public func write<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await Blocking.runNonEscaping { () throws(StoreError) in try records.write(body) }
    }
}

extension RemoteAccountRecords: DeferredAccountStore {
    /// Runs `body` in a transaction that need not be durable when the call returns.
    package func writeDeferred<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await Blocking.runNonEscaping { () throws(StoreError) in try records.writeDeferred(body) }
    }
}
