import SignetCore

extension StateStore {
    /// Runs a transaction as ``write(_:)`` does, and a computation with its result while its changes are made durable.
    /// - Parameters:
    ///   - body: The transaction.
    ///   - prepare: The computation. It may run more than once and for a transaction that fails in the end, so it has no effects.
    /// - Returns: The value that `body` returned, and the one that `prepare` returned for it.
    /// - Throws: The errors of ``write(_:)`` and of `prepare`; the transaction is committed in the latter case.
    func write<R: Sendable, P: Sendable>(
        _ body: @escaping @Sendable (inout ServerTransaction) throws -> R,
        preparing prepare: @escaping @Sendable (R) async throws -> P
    ) async throws -> (R, P) {
        let preparation = Mutex<Task<P, any Error>?>(nil)
        let result = try await write { tx in
            let result = try body(&tx)
            let task = Task { try await prepare(result) }
            preparation.withLock { $0 = task }
            return result
        }
        guard let task = preparation.withLock({ $0 }) else { throw CancellationError() }
        return (result, try await task.value)
    }
}
