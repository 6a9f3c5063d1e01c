package import SignetStorage

/// An operation on accounts, as a value.
///
/// A store performs it in one transaction; the asynchronous ``Authenticator`` and the synchronous API perform the same
/// operations.
///
/// An operation calls its store in the order of protocol/authenticator.md section 7.6, because an app's own storage client can
/// observe that order. It makes all its checks before its first change: when it is rejected, it throws an error of its own, and
/// the transaction completes without a change. When it throws a `StoreError`, the transaction is rolled back.
package struct AccountOperation<Value: Sendable, Failure: Error>: Sendable {
    /// Performs the operation in a transaction.
    package let body: @Sendable (any AccountWriter) throws(Failure) -> Value

    /// Creates an operation.
    package init(_ body: @escaping @Sendable (any AccountWriter) throws(Failure) -> Value) { self.body = body }
}

/// A question about accounts, as a value.
///
/// A store answers it from one consistent snapshot.
package struct AccountQuery<Value: Sendable, Failure: Error>: Sendable {
    /// Answers the query from a snapshot.
    package let body: @Sendable (any AccountReader) throws(Failure) -> Value

    /// Creates a query.
    package init(_ body: @escaping @Sendable (any AccountReader) throws(Failure) -> Value) { self.body = body }
}

/// An account store that can commit a transaction without waiting until it is durable.
package protocol DeferredAccountStore: AccountStore {
    /// Runs `body` in a transaction, and returns when every process sees the changes.
    ///
    /// They become durable as `DeferredWriting` of SignetStorage says.
    func writeDeferred<R: Sendable>(
        _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) async throws(StoreError) -> R
}

extension AccountStore {
    /// Performs an operation whose loss in a power failure the caller can bear.
    ///
    /// In a store without ``DeferredAccountStore``, the changes are durable when the call returns.
    package func performDeferred<Value>(_ operation: AccountOperation<Value, StoreError>) async throws(StoreError) -> Value {
        guard let store = self as? any DeferredAccountStore else { return try await perform(operation) }
        return try await store.writeDeferred(operation.body)
    }

    /// Performs an operation that only the store can make fail, in one transaction.
    package func perform<Value>(_ operation: AccountOperation<Value, StoreError>) async throws(StoreError) -> Value {
        try await write(operation.body)
    }

    /// Performs an operation in one transaction.
    /// - Throws: The error of the operation's checks, or `StoreError`. Nothing is changed then.
    package func perform<Value>(_ operation: AccountOperation<Value, any Error>) async throws -> Value {
        try await write { records throws(StoreError) in try outcome(of: operation.body, in: records) }.get()
    }

    /// Answers a query that only the store can make fail.
    package func fetch<Value>(_ query: AccountQuery<Value, StoreError>) async throws(StoreError) -> Value {
        try await read(query.body)
    }

    /// Answers a query.
    /// - Throws: The error of the query's checks, or `StoreError`.
    package func fetch<Value>(_ query: AccountQuery<Value, any Error>) async throws -> Value {
        try await read { records throws(StoreError) in try outcome(of: query.body, in: records) }.get()
    }
}

extension ImmediateAccountStore {
    /// Performs an operation whose loss in a power failure the caller can bear.
    ///
    /// In a store of an app, the changes are durable when the call returns.
    package func performDeferred<Value>(_ operation: AccountOperation<Value, StoreError>) throws(StoreError) -> Value {
        guard let records = self as? AccountRecords else { return try perform(operation) }
        return try records.writeDeferred(operation.body)
    }

    /// Performs an operation that only the store can make fail, in one transaction.
    package func perform<Value>(_ operation: AccountOperation<Value, StoreError>) throws(StoreError) -> Value {
        try write(operation.body)
    }

    /// Performs an operation in one transaction.
    /// - Throws: The error of the operation's checks, or `StoreError`. Nothing is changed then.
    package func perform<Value>(_ operation: AccountOperation<Value, any Error>) throws -> Value {
        try write { records throws(StoreError) in try outcome(of: operation.body, in: records) }.get()
    }

    /// Answers a query that only the store can make fail.
    package func fetch<Value>(_ query: AccountQuery<Value, StoreError>) throws(StoreError) -> Value {
        try read(query.body)
    }

    /// Answers a query.
    /// - Throws: The error of the query's checks, or `StoreError`.
    package func fetch<Value>(_ query: AccountQuery<Value, any Error>) throws -> Value {
        try read { records throws(StoreError) in try outcome(of: query.body, in: records) }.get()
    }
}

/// Runs the body of an operation or query.
///
/// A rejection becomes a value, so that the transaction completes.
private func outcome<Records, Value>(
    of body: (Records) throws -> Value, in records: Records
) throws(StoreError) -> Result<Value, any Error> {
    do {
        return .success(try body(records))
    } catch let error as StoreError {
        throw error
    } catch {
        return .failure(error)
    }
}
