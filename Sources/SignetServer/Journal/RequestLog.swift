import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What clients asked a server for, what became of push messages, and what the server asked SNS for: the newest entries, for a test to
/// look at and to wait for.
///
/// It belongs to one process: of several instances that share their state each has its own. What asks for the console and for
/// the administration is not in it, unless the server could not answer it.
public final class RequestLog: Sendable {
    /// How many entries are kept.
    public static let size = 2000
    /// The longest path that is kept, in characters.
    static let longestPath = 200

    private struct Book: Sendable {
        /// A ring: the entry of number n stands at (n - first) modulo the size.
        var entries: [RequestLogEntry] = []
        var count = 0
        var first = 1
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastReader = 0
    }

    private let contextPath: String
    private let book = Mutex(Book())

    init(contextPath: String = "") { self.contextPath = contextPath }

    /// The entries, oldest first.
    public var entries: [RequestLogEntry] { book.withLock { Self.entries(in: $0) } }

    /// The number of the newest entry, which is how many there have been; 0 before the first.
    public var last: Int { book.withLock { $0.count } }

    /// The entries that a filter lets through, oldest first.
    /// - Parameter filter: What is wanted.
    public func entries(matching filter: RequestLogFilter) -> [RequestLogEntry] {
        entries.filter { filter.matches($0, contextPath: contextPath) }
    }

    /// Waits until there is an entry that a filter lets through, and gives the oldest one; at once if there is one already.
    /// - Parameters:
    ///   - filter: What is wanted. With ``RequestLogFilter/after`` it only looks at what comes from then on.
    ///   - patience: How long to wait, by the machine's clock.
    /// - Throws: ``RequestLogTimeout`` when there was none in time, `CancellationError` when the task was cancelled.
    public func waitForEntry(matching filter: RequestLogFilter, within patience: Duration = .seconds(10)) async throws
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
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        try Task.checkCancellation()
        guard let found else { throw RequestLogTimeout(filter: filter, newest: entries.suffix(RequestLogTimeout.shown)) }
        return found
    }

    /// Forgets the entries. Their numbers are not used again.
    public func clear() {
        book.withLock { book in
            book.first = book.count + 1
            book.entries = []
        }
    }

    func add(_ event: RequestLogEntry.Event, at moment: Date, faults: [String] = []) {
        book.withLock { book in
            book.count += 1
            let entry = RequestLogEntry(number: book.count, at: moment, event: event, faults: faults)
            if book.entries.count < Self.size {
                book.entries.append(entry)
            } else {
                book.entries[(book.count - book.first) % Self.size] = entry
            }
            for reader in book.readers.values { reader.yield() }
        }
    }

    private static func entries(in book: Book) -> [RequestLogEntry] {
        guard book.entries.count == size else { return book.entries }
        let start = (book.count - book.first + 1) % size
        return Array(book.entries[start...] + book.entries[..<start])
    }

    private func listen() -> (Int, AsyncStream<Void>) {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = book.withLock { book in
            book.lastReader += 1
            book.readers[book.lastReader] = continuation
            return book.lastReader
        }
        return (id, signals)
    }

    private func stopListening(_ id: Int) {
        let reader = book.withLock { $0.readers.removeValue(forKey: id) }
        reader?.finish()
    }
}

/// What a test waited for did not come in time.
public struct RequestLogTimeout: Error, Sendable, CustomStringConvertible {
    /// What was waited for.
    public let filter: RequestLogFilter
    /// The newest entries that there were instead, oldest first.
    public let newest: [RequestLogEntry]

    /// How many entries it tells.
    static let shown = 5

    init(filter: RequestLogFilter, newest: some Collection<RequestLogEntry>) {
        self.filter = filter
        self.newest = Array(newest)
    }

    /// What was waited for, and what there was, a line each.
    public var description: String {
        "no entry of the journal came that has \(filter); the newest are:"
            + (newest.isEmpty ? " none" : newest.map { "\n  \($0.summary)" }.joined())
    }
}

extension RequestLogEntry {
    /// The entry in a line, for a person.
    var summary: String {
        let faults = faults.isEmpty ? "" : " [\(self.faults.joined(separator: ", "))]"
        return switch event {
        case .request(let request): "\(number) \(request.method) \(request.path) \(request.status)\(faults)"
        case .push(let push): "\(number) push \(push.step.rawValue) \(push.reason ?? push.messageID)\(faults)"
        case .letter(let letter): "\(number) letter to \(letter.user)\(faults)"
        case .sns(let request): "\(number) SNS \(request.action) \(request.status)\(faults)"
        }
    }
}
