import SignetAuthenticator
import SignetCore
import SignetStorage

/// The store behind a client.
enum StoreKind: Sendable {
    /// The app's own storage client.
    case client(ClientBox)
    /// Records with transactions.
    case records(AccountRecords)
}

/// The app's own ``StorageClient``, with access for one caller at a time.
final class ClientBox: Sendable {
    private let state: Mutex<State>

    struct State {
        let client: any StorageClient
        /// The number of changes.
        ///
        /// Values that were read at another number may be out of date.
        var generation = 0
        /// The device token as the client has it.
        ///
        /// The client is asked for it once.
        var token: StoredDeviceToken?
        /// The answers that were sent and that have an unknown outcome.
        ///
        /// They are in memory, because a storage client can't store them. When the server has accepted an answer and its response
        /// was lost, the server rejects the repeated answer. Only with this record does the engine know that the rejection
        /// doesn't mean failure.
        var sentAnswers: [String: SentAnswer] = [:]
        /// The identifiers under which the client knows the notifications that were seen, by the engine's ids.
        var identifiers: [String: String] = [:]
    }

    init(_ client: sending any StorageClient) {
        let token = client.getPushDeviceToken()?.stored
        state = Mutex(State(client: client, token: token))
    }

    var generation: Int { state.withLock { $0.generation } }

    /// Runs `body` with exclusive access to the client.
    ///
    /// If `body` throws, its changes are undone.
    fileprivate func transaction<R: Sendable>(
        _ cache: inout ReadCache, _ body: @Sendable (any AccountWriter) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let known = cache
        let outcome: Result<(R, ReadCache), StoreError> = state.withLock { state in
            let records = ClientRecords(state, known.generation == state.generation ? known : ReadCache())
            let outcome = Result { () throws(StoreError) in try body(records) }.mapError { records.undo(after: $0) }
            let hasChanged = records.hasCalledSetter
            (state.token, state.sentAnswers) = (records.state.token, records.state.sentAnswers)
            state.identifiers = records.state.identifiers
            if hasChanged { state.generation += 1 }
            var cache = records.cache
            cache.generation = state.generation
            return outcome.map { ($0, cache) }
        }
        cache = ReadCache()
        let value: R
        (value, cache) = try outcome.get()
        return value
    }
}

/// The store of a client during one operation.
///
/// Values that the operation has read from a storage client, or written to it, are not read again, unless another operation has
/// changed the store.
final class ClientStore: ImmediateAccountStore {
    private let kind: StoreKind
    private let cache: Mutex<ReadCache>

    init(_ kind: StoreKind, _ cache: ReadCache = ReadCache()) {
        self.kind = kind
        self.cache = Mutex(cache)
    }

    /// The number of changes at the end of the last transaction on a storage client.
    var generation: Int { cache.withLock { $0.generation } }

    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R {
        if case .records(let records) = kind { return try records.read(body) }
        return try write { records throws(StoreError) in try body(records) }
    }

    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        switch kind {
        case .records(let records): try records.write(body)
        case .client(let client): try cache.withLock { cache throws(StoreError) in try client.transaction(&cache, body) }
        }
    }
}

/// The values that an operation has seen in a storage client.
struct ReadCache: Sendable {
    /// A value that was looked up.
    enum Entry<Value: Sendable>: Sendable {
        /// The client has no such value.
        case absent
        /// The client's value.
        case present(Value)

        init(_ value: Value?) { self = value.map { .present($0) } ?? .absent }

        var value: Value? { if case .present(let value) = self { value } else { nil } }
    }

    /// The number of changes of the client at which the values were seen.
    var generation = 0
    var accounts: [AccountID: Entry<SignetCore.Account>] = [:]
    var mechanisms: [String: Entry<SignetCore.Mechanism>] = [:]
    /// The identifiers of an account's mechanisms, oldest first.
    var mechanismsOfAccount: [AccountID: [String]] = [:]
    var notifications: [String: Entry<SignetCore.PushNotification>] = [:]

    mutating func add(_ mechanisms: [SignetCore.Mechanism], of account: AccountID) {
        for mechanism in mechanisms { self.mechanisms[mechanism.uid] = .present(mechanism) }
        mechanismsOfAccount[account] = mechanisms.map(\.uid)
    }
}
