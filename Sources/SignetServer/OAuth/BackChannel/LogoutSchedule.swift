import SignetCore

/// The tokens that a worker has found in the state, and those that it sends at the moment.
///
/// It limits the number of attempts at the same time, for each client and in all. A client that does not answer therefore does not
/// delay the tokens of the others.
final class LogoutSchedule: Sendable {
    /// A token to send.
    struct Entry: Sendable, Hashable {
        let client: ClientKey
        /// The name of the token's row.
        let name: String
    }

    private struct State: Sendable {
        var isSearchDue = false
        /// The names of the tokens that wait for their attempt, in order; without empty lists.
        var found: [ClientKey: [String]] = [:]
        /// The names of the tokens that are being sent; without empty sets.
        var sending: [ClientKey: Set<String>] = [:]

        func sendingCount(_ client: ClientKey) -> Int { sending[client]?.count ?? 0 }

        /// Takes the next token of the client with the fewest attempts in progress.
        mutating func take() -> Entry? {
            guard sending.values.reduce(0, { $0 + $1.count }) < LogoutSchedule.maxConcurrentDeliveries else { return nil }
            let client = found.keys.min { sendingCount($0) < sendingCount($1) }
            guard let client, sendingCount(client) < LogoutSchedule.maxConcurrentDeliveriesPerClient,
                var names = found[client], !names.isEmpty
            else { return nil }
            let name = names.removeFirst()
            found[client] = names.isEmpty ? nil : names
            sending[client, default: []].insert(name)
            // More tokens of the client may be in the state.
            if names.isEmpty { isSearchDue = true }
            return Entry(client: client, name: name)
        }
    }

    /// The maximum number of tokens that are sent to all clients at the same time.
    static let maxConcurrentDeliveries = 16
    /// The maximum number of tokens that are sent to one client at the same time.
    static let maxConcurrentDeliveriesPerClient = 4

    /// The signals to look for tokens in the state, or to send those that were found.
    ///
    /// Several signals that arrive while the worker is busy become one.
    let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() {
        (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Makes the worker look for tokens in the state.
    func requestSearch() {
        state.withLock { $0.isSearchDue = true }
        continuation.yield()
    }

    /// Returns true when a search was requested since the last call.
    func takeSearch() -> Bool {
        state.withLock { state in
            defer { state.isSearchDue = false }
            return state.isSearchDue
        }
    }

    /// Returns true when tokens of the client that an earlier search found wait for their attempt.
    func hasFound(_ client: ClientKey) -> Bool { state.withLock { $0.found[client] != nil } }

    /// Adds the tokens that a search has found, without those that are being sent.
    func add(_ names: [String], of client: ClientKey) {
        state.withLock { state in
            let sending = state.sending[client] ?? []
            let new = names.filter { !sending.contains($0) }
            if !new.isEmpty { state.found[client] = new }
        }
    }

    /// Returns the next token to send; nil when none waits, or when too many are being sent.
    ///
    /// The client with the fewest attempts in progress comes first. When the last found token of a client is taken, a search is
    /// requested at once.
    func next() -> Entry? {
        let (entry, isSearchDue) = state.withLock { ($0.take(), $0.isSearchDue) }
        if isSearchDue { continuation.yield() }
        return entry
    }

    /// Records the end of an attempt, so that another one can begin.
    func finish(_ entry: Entry) {
        state.withLock { state in
            state.sending[entry.client]?.remove(entry.name)
            if state.sending[entry.client]?.isEmpty == true { state.sending[entry.client] = nil }
        }
        continuation.yield()
    }
}
