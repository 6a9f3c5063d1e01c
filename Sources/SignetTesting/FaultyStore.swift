import SignetCore
public import SignetStorage

/// A record store that fails on request.
///
/// A test chooses the error, the operation and the occasion: the nth call, all calls, or the calls that satisfy a condition. A
/// commit can fail before or after the change became durable.
///
///     let store = FaultyStore(MemoryStore())
///     store.inject(StoreFault(.full, at: .commit))
public final class FaultyStore: RecordStore, DeferredWriting {
    private struct State {
        var faults: [StoreFault] = []
        var calls: [StoreCall] = []
        var counts: [StoreCall.Operation: Int] = [:]
    }

    private let inner: any RecordStore
    private let state = Mutex(State())

    /// Creates a store that forwards its calls to `inner`.
    public init(_ inner: any RecordStore) {
        self.inner = inner
    }

    /// Adds a fault.
    ///
    /// When several faults apply to a call, the first added one is used.
    public func inject(_ fault: StoreFault) {
        state.withLock { $0.faults.append(fault) }
    }

    /// Removes all faults and forgets the calls.
    ///
    /// Calls are counted from one again.
    public func reset() {
        state.withLock { $0 = State() }
    }

    /// The calls since the creation of the store, or since the last ``reset()``, in order.
    public var calls: [StoreCall] { state.withLock { $0.calls } }

    /// Reads a consistent state, with the faults of ``StoreCall/Operation/begin`` and of the operations in `body`.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try call(.begin, isWriting: false)
        return try inner.read { (records: any RecordReader) throws(StoreError) in
            try body(FaultyReader(records: records, store: self, isWriting: false))
        }
    }

    /// Reads and changes records, with the faults of ``StoreCall/Operation/begin``, ``StoreCall/Operation/commit``, and of the
    /// operations in `body`.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try transact(.atReturn, body)
    }

    /// Reads and changes records in one deferred transaction, with the faults of ``write(_:)``.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try transact(.deferred, body)
    }

    private func transact<R>(
        _ durability: Durability, _ body: (any RecordWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try call(.begin, isWriting: true)
        var late: StoreError?
        let value = try inner.write(durability) { (records: any RecordWriter) throws(StoreError) in
            let value = try body(FaultyWriter(records: records, store: self))
            guard let fault = record(.commit, nil, isWriting: true) else { return value }
            guard fault.isDurable else { throw fault.error }
            late = fault.error
            return value
        }
        if let late { throw late }
        return value
    }

    fileprivate func call(
        _ operation: StoreCall.Operation, _ kind: RecordKind? = nil, isWriting: Bool
    ) throws(StoreError) {
        if let fault = record(operation, kind, isWriting: isWriting) { throw fault.error }
    }

    /// Records a call, and returns the fault that applies to it.
    private func record(_ operation: StoreCall.Operation, _ kind: RecordKind?, isWriting: Bool) -> StoreFault? {
        state.withLock { state in
            state.counts[operation, default: 0] += 1
            let call = StoreCall(
                operation: operation, number: state.counts[operation, default: 0], kind: kind, isWriting: isWriting)
            state.calls.append(call)
            return state.faults.first { $0.applies(to: call) }
        }
    }
}

/// One call to a ``FaultyStore``.
public struct StoreCall: Sendable, Hashable {
    /// The operation of a call.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// A transaction begins.
        case begin
        /// One record is read.
        case record
        /// A page of records is read.
        case records
        /// A record is written.
        case put
        /// A record is removed.
        case remove
        /// A write transaction is committed.
        case commit
    }

    /// The operation.
    public let operation: Operation
    /// The number of this call among the calls of the same operation, from one.
    public let number: Int
    /// The kind of the records; nil for the begin and commit of a transaction.
    public let kind: RecordKind?
    /// A Boolean value that indicates whether the call belongs to a write transaction.
    public let isWriting: Bool
}

/// A fault of a ``FaultyStore``: the operation that fails, the occasion and the error.
public struct StoreFault: Sendable {
    /// The occasion on which an operation fails.
    public enum Occasion: Sendable {
        /// Each call fails.
        case always
        /// Only the nth call fails, counted from one.
        case call(Int)
        /// The calls that satisfy the condition fail.
        case when(@Sendable (StoreCall) -> Bool)
    }

    /// The error that is thrown.
    public let error: StoreError
    /// The operation that fails.
    public let operation: StoreCall.Operation
    /// The occasion on which it fails.
    public let occasion: Occasion
    /// For a commit, a Boolean value that indicates whether the change becomes durable although the commit fails, as when a
    /// server's response is lost.
    public let isDurable: Bool

    /// Creates a fault that throws an error with this code.
    public init(
        _ code: StoreError.Code, at operation: StoreCall.Operation, _ occasion: Occasion = .always, isDurable: Bool = false
    ) {
        self.init(StoreError(code, operation.rawValue, "on purpose"), at: operation, occasion, isDurable: isDurable)
    }

    /// Creates a fault that throws this error.
    public init(
        _ error: StoreError, at operation: StoreCall.Operation, _ occasion: Occasion = .always, isDurable: Bool = false
    ) {
        self.error = error
        self.operation = operation
        self.occasion = occasion
        self.isDurable = isDurable
    }

    func applies(to call: StoreCall) -> Bool {
        guard call.operation == operation else { return false }
        return switch occasion {
        case .always: true
        case .call(let number): call.number == number
        case .when(let condition): condition(call)
        }
    }
}

private struct FaultyReader: RecordReader {
    let records: any RecordReader
    let store: FaultyStore
    let isWriting: Bool

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? {
        try store.call(.record, key.kind, isWriting: isWriting)
        return try records.record(key)
    }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try store.call(.records, kind, isWriting: isWriting)
        return try records.records(kind, after: name, limit: limit)
    }
}

private struct FaultyWriter: RecordWriter {
    let records: any RecordWriter
    let store: FaultyStore

    private var reader: FaultyReader { FaultyReader(records: records, store: store, isWriting: true) }

    func record(_ key: RecordKey) throws(StoreError) -> [UInt8]? { try reader.record(key) }

    func records(_ kind: RecordKind, after name: [UInt8]?, limit: Int) throws(StoreError) -> [StoredRecord] {
        try reader.records(kind, after: name, limit: limit)
    }

    func put(_ bytes: [UInt8], _ key: RecordKey) throws(StoreError) {
        try store.call(.put, key.kind, isWriting: true)
        try records.put(bytes, key)
    }

    func remove(_ key: RecordKey) throws(StoreError) {
        try store.call(.remove, key.kind, isWriting: true)
        try records.remove(key)
    }
}
