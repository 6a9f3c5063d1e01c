import Foundation
import SignetCore

/// The newest entries about client requests, push messages, sent emails, and the server's own requests to SNS and to clients.
///
/// A test can inspect them and wait for them.
///
/// The log belongs to one process: servers that share their state have separate logs. Requests for the console and the
/// administration API are only logged when the server fails to answer them (status 5xx).
public final class RequestLog: Sendable {
    /// The maximum number of entries that are kept.
    public static let size = 2000
    /// The maximum length of a logged path, in characters.
    static let maxPathLength = 200

    private struct State: Sendable {
        /// The entries, as a ring buffer: entry number n is at index (n - first) modulo the size.
        var entries: [RequestLogEntry] = []
        var count = 0
        var first = 1
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastReader = 0
    }

    private let contextPath: String
    private let state = Mutex(State())

    init(contextPath: String = "") { self.contextPath = contextPath }

    /// The entries, oldest first.
    public var entries: [RequestLogEntry] { state.withLock { Self.entries(in: $0) } }

    /// The number of the newest entry, which is also the total number of entries so far; 0 before the first one.
    public var last: Int { state.withLock { $0.count } }

    /// Returns the entries that match a filter, oldest first.
    public func entries(matching filter: RequestLogFilter) -> [RequestLogEntry] {
        entries.filter { filter.matches($0, contextPath: contextPath) }
    }

    /// Waits until an entry matches a filter.
    ///
    /// Returns at once when one exists already.
    /// - Parameters:
    ///   - filter: The filter. With ``RequestLogFilter/after``, it matches only newer entries.
    ///   - timeout: The longest time to wait, by the machine's clock.
    /// - Returns: The oldest matching entry.
    /// - Throws: ``RequestLogTimeout`` when no entry matched in time, `CancellationError` when the task was canceled.
    public func waitForEntry(matching filter: RequestLogFilter, within timeout: Duration = .seconds(10)) async throws
        -> RequestLogEntry
    {
        let (id, signals) = listen()
        defer { stopListening(id) }
        let found = try await withThrowingTaskGroup(of: RequestLogEntry?.self) { group in
            group.addTask {
                for await _ in signals {
                    if let entry = self.entries(matching: filter).first { return entry }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        try Task.checkCancellation()
        guard let found else { throw RequestLogTimeout(filter: filter, newest: entries.suffix(RequestLogTimeout.shown)) }
        return found
    }

    /// Removes the entries.
    ///
    /// Their numbers are not reused.
    public func clear() {
        state.withLock { state in
            state.first = state.count + 1
            state.entries = []
        }
    }

    func add(_ event: RequestLogEntry.Event, at date: Date, faults: [String] = []) {
        state.withLock { state in
            state.count += 1
            let entry = RequestLogEntry(number: state.count, at: date, event: event, faults: faults)
            if state.entries.count < Self.size {
                state.entries.append(entry)
            } else {
                state.entries[(state.count - state.first) % Self.size] = entry
            }
            for reader in state.readers.values { reader.yield() }
        }
    }

    private static func entries(in state: State) -> [RequestLogEntry] {
        guard state.entries.count == size else { return state.entries }
        let start = (state.count - state.first + 1) % size
        return Array(state.entries[start...] + state.entries[..<start])
    }

    private func listen() -> (Int, AsyncStream<Void>) {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return state.lastReader
        }
        return (id, signals)
    }

    private func stopListening(_ id: Int) {
        let reader = state.withLock { $0.readers.removeValue(forKey: id) }
        reader?.finish()
    }
}

/// The error for a wait in which no log entry matched in time.
public struct RequestLogTimeout: Error, Sendable, CustomStringConvertible {
    /// The filter that no entry matched.
    public let filter: RequestLogFilter
    /// The newest entries at the timeout, oldest first.
    public let newest: [RequestLogEntry]

    /// The number of entries that the error contains.
    static let shown = 5

    init(filter: RequestLogFilter, newest: some Collection<RequestLogEntry>) {
        self.filter = filter
        self.newest = Array(newest)
    }

    /// The filter, and the newest entries on one line each.
    public var description: String {
        "no entry of the request log arrived that matches \(filter); the newest are:"
            + (newest.isEmpty ? " none" : newest.map { "\n  \($0.summary)" }.joined())
    }
}

extension RequestLogEntry {
    /// The entry as one line of text for a tester.
    var summary: String {
        let faults = faults.isEmpty ? "" : " [\(self.faults.joined(separator: ", "))]"
        return switch event {
        case .request(let request): "\(number) \(request.method) \(request.path) \(request.status)\(faults)"
        case .push(let push): "\(number) push \(push.step.rawValue) \(push.reason ?? push.messageID)\(faults)"
        case .email(let email): "\(number) email to \(email.user)\(faults)"
        case .sns(let request): "\(number) SNS \(request.action) \(request.status)\(faults)"
        case .logout(let logout): "\(number) logout token to \(logout.client) \(logout.status)\(faults)"
        }
    }
}
