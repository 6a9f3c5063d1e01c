import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What clients asked for, the newest requests only. There is no secret in it: of an address only the path is kept, without what a
/// path may say of a session, and nothing of headers and bodies.
final class Journal: Sendable {
    struct Entry: Sendable, Hashable {
        /// Counts the requests from 1.
        let number: Int
        /// When it came, by the server's clock.
        let at: Date
        let method: String
        let path: String
        let status: Int
        /// How long the answer took, up to its body.
        let duration: Duration
    }

    /// How many are kept.
    static let size = 500
    /// The longest path that is kept, in characters.
    static let longestPath = 200

    private struct Book: Sendable {
        var entries: [Entry] = []
        var count = 0
    }

    private let book = Mutex(Book())

    /// The entries, oldest first.
    var entries: [Entry] { book.withLock { $0.entries.suffix(Self.size) } }

    /// How many requests there were.
    var count: Int { book.withLock { $0.count } }

    func add(
        _ method: HTTPRequest.Method, _ path: String, _ status: HTTPResponse.Status, at moment: Date, took duration: Duration
    ) {
        book.withLock { book in
            book.count += 1
            book.entries.append(
                Entry(
                    number: book.count, at: moment, method: method.rawValue, path: String(path.prefix(Self.longestPath)),
                    status: status.code, duration: duration))
            // Now and then, not each time: to take away from the front is work.
            if book.entries.count >= 2 * Self.size { book.entries.removeFirst(book.entries.count - Self.size) }
        }
    }
}
