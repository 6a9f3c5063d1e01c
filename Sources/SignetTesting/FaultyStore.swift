public import SignetStorage
import Synchronization

/// A record store that works until a test says what is to fail: any error, at any operation, at the nth call, always, or where
/// a condition holds. A commit can fail before or after the change became durable.
///
///     let store = FaultyStore(MemoryStore())
///     store.inject(StoreFault(.full, at: .commit))
public final class FaultyStore: RecordStore {
    private struct State {
        var faults: [StoreFault] = []
        var calls: [StoreCall] = []
        var counts: [StoreCall.Operation: Int] = [:]
    }

    private let inner: any RecordStore
    private let state = Mutex(State())

    /// A store that does what `inner` does.
    public init(_ inner: any RecordStore) {
        self.inner = inner
    }

    /// Adds a fault. Where several fit a call, the one that was added first counts.
    public func inject(_ fault: StoreFault) {
        state.withLock { $0.faults.append(fault) }
    }

    /// Takes every fault away, and forgets the calls: they are counted from one again.
    public func heal() {
        state.withLock { $0 = State() }
    }

    /// What was called since the beginning, or since it was healed, in order.
    public var calls: [StoreCall] { state.withLock { $0.calls } }

    /// Reads a consistent state, with the faults of ``StoreCall/Operation/begin`` and of what `body` calls.
    public func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        try call(.begin, isWriting: false)
        return try inner.read { (records: any RecordReader) throws(StoreError) in
            try body(FaultyReader(records: records, store: self, isWriting: false))
        }
    }

    /// Reads and changes, with the faults of ``StoreCall/Operation/begin``, ``StoreCall/Operation/commit``, and of what
    /// `body` calls.
    public func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        try call(.begin, isWriting: true)
        var late: StoreError?
        let value = try inner.write { (records: any RecordWriter) throws(StoreError) in
            let value = try body(FaultyWriter(records: records, store: self))
            guard let fault = note(.commit, nil, isWriting: true) else { return value }
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
        if let fault = note(operation, kind, isWriting: isWriting) { throw fault.error }
    }

    /// Counts a call, and gives the fault that it meets.
    private func note(_ operation: StoreCall.Operation, _ kind: RecordKind?, isWriting: Bool) -> StoreFault? {
        state.withLock { state in
            state.counts[operation, default: 0] += 1
            let call = StoreCall(
                operation: operation, number: state.counts[operation, default: 0], kind: kind, isWriting: isWriting)
            state.calls.append(call)
            return state.faults.first { $0.applies(to: call) }
        }
    }
}

/// One call that a ``FaultyStore`` took.
public struct StoreCall: Sendable, Hashable {
    /// What was called.
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
        /// A transaction that wrote ends.
        case commit
    }

    /// What was called.
    public let operation: Operation
    /// The how manyeth call of this operation it is, from one.
    public let number: Int
    /// The kind of the record or records; nil for a transaction's begin and end.
    public let kind: RecordKind?
    /// Whether it belongs to a transaction that may write.
    public let isWriting: Bool
}

/// What is to fail in a ``FaultyStore``, when, and how.
public struct StoreFault: Sendable {
    /// When an operation fails.
    public enum Occasion: Sendable {
        /// Each time.
        case always
        /// The nth time, from one, and not before nor after.
        case call(Int)
        /// Where the condition holds.
        case when(@Sendable (StoreCall) -> Bool)
    }

    /// What is thrown.
    public let error: StoreError
    /// What fails.
    public let operation: StoreCall.Operation
    /// When it fails.
    public let occasion: Occasion
    /// For a commit: whether the change is there all the same, as when the answer of a server is lost.
    public let isDurable: Bool

    /// A fault that throws an error with this code.
    public init(
        _ code: StoreError.Code, at operation: StoreCall.Operation, _ occasion: Occasion = .always, isDurable: Bool = false
    ) {
        self.init(StoreError(code, operation.rawValue, "on purpose"), at: operation, occasion, isDurable: isDurable)
    }

    /// A fault that throws this very error.
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
