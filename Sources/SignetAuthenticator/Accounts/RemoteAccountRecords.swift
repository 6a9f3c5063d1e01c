public import SignetStorage

/// Accounts as records of a store that may let its caller wait: a database on another machine. Each call waits on a thread of
/// its own, so that no task of the app is held up; otherwise as ``AccountRecords``.
public struct RemoteAccountRecords: AccountStore {
    private let records: AccountRecords

    /// The accounts in `records`.
    public init(_ records: AccountRecords) {
        self.records = records
    }

    /// As ``AccountRecords/areInClearOnDisk``.
    package var areInClearOnDisk: Bool { records.areInClearOnDisk }

    /// Reads a consistent state.
    public func read<R: Sendable>(
        _ body: @Sendable (any AccountReader) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await Blocking.lend { () throws(StoreError) in try records.read(body) }
    }

    /// Reads and changes, all or nothing.
    public func write<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try await Blocking.lend { () throws(StoreError) in try records.write(body) }
    }
}
