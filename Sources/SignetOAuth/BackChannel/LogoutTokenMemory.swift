import Crypto
public import Foundation
import SignetCore

/// The memory of received logout tokens, which recognizes a token that arrives a second time (OpenID Connect Back-Channel Logout
/// 1.0 section 2.6).
///
/// A token is a repetition only after the app has ended its sessions. When the process ends, or the app fails, before that, the
/// provider can send the token again.
///
/// ``ProcessLogoutTokenMemory`` is for a service of one process, and ``RecordLogoutTokenMemory`` for processes that share a store.
/// An app may also implement this protocol with a database of its own. After ``finish(_:issuer:)`` has returned in one process,
/// ``begin(_:issuer:until:now:)`` must return false in each process.
public protocol LogoutTokenMemory: Sendable {
    /// Remembers a token whose sessions the app is about to end.
    /// - Parameters:
    ///   - id: The ID of the token, of any length.
    ///   - issuer: The issuer of the token.
    ///   - end: The time until which the token must be remembered.
    ///   - now: The current time. Tokens whose `end` is earlier may be forgotten.
    /// - Returns: False when the sessions of the token have ended already; true for a token that is new, and for one that was begun
    ///   and not finished.
    /// - Throws: `LogoutTokenError` with the code `memoryFull` when the memory is full; any error of the storage.
    func begin(_ id: String, issuer: String, until end: Date, now: Date) async throws -> Bool
    /// Remembers that the sessions of a token have ended, until the time that was stated at the beginning.
    ///
    /// Does nothing when the token isn't remembered, because it has expired.
    /// - Parameters:
    ///   - id: The ID of the token.
    ///   - issuer: The issuer of the token.
    /// - Throws: Any error of the storage.
    func finish(_ id: String, issuer: String) async throws
}

/// A memory of received logout tokens for a service of one process.
///
/// It is empty when the process starts. A token that is not expired and was received before a restart is therefore accepted again,
/// which ends the same sessions once more.
///
/// It keeps 32 bytes and a time for each token. When it is full, it first forgets the tokens that have expired. When no token has
/// expired, it accepts none, because to forget a token would allow its repetition.
public final class ProcessLogoutTokenMemory: LogoutTokenMemory {
    /// The maximum number of tokens by default.
    public static let defaultCapacity = 10_000

    private struct Entry: Sendable {
        var end: Date
        var isFinished = false
    }

    private let capacity: Int
    private let entries = Mutex<[String: Entry]>([:])

    /// Creates an empty memory.
    /// - Parameter capacity: The maximum number of tokens.
    public init(capacity: Int = defaultCapacity) { self.capacity = capacity }

    /// Remembers a token; see ``LogoutTokenMemory/begin(_:issuer:until:now:)``.
    /// - Throws: `LogoutTokenError` with the code `memoryFull`.
    public func begin(_ id: String, issuer: String, until end: Date, now: Date) throws -> Bool {
        let digest = LogoutTokenDigest.text(of: id, issuer: issuer)
        let outcome = entries.withLock { entries -> LogoutTokenOutcome in
            if let known = entries[digest], known.end >= now {
                guard !known.isFinished else { return .ended }
                entries[digest] = Entry(end: max(known.end, end))
                return .begun
            }
            if entries.count >= capacity { entries = entries.filter { $0.value.end >= now } }
            guard entries.count < capacity else { return .full }
            entries[digest] = Entry(end: end)
            return .begun
        }
        return try outcome.isBegun()
    }

    /// Remembers that the sessions of a token have ended.
    public func finish(_ id: String, issuer: String) {
        let digest = LogoutTokenDigest.text(of: id, issuer: issuer)
        entries.withLock { entries in entries[digest]?.isFinished = true }
    }
}

/// The result of an attempt to begin with a token.
enum LogoutTokenOutcome: Sendable {
    case begun, ended, full

    /// Returns true when the app may end the sessions of the token.
    /// - Throws: `LogoutTokenError` when the memory is full.
    func isBegun() throws(LogoutTokenError) -> Bool {
        switch self {
        case .begun: return true
        case .ended: return false
        case .full: throw LogoutTokenError(.memoryFull, isRetryable: true)
        }
    }
}

/// The digests under which logout tokens are remembered: their IDs may have any length.
enum LogoutTokenDigest {
    static func text(of id: String, issuer: String) -> String { digest(of: [issuer, id]) }
    static func text(ofIssuer issuer: String) -> String { digest(of: [issuer]) }

    private static func digest(of values: [String]) -> String {
        // The values are encoded as an array, so that different values have different encodings.
        let text: JSONValue = .array(values.map { .string($0) })
        return Base64.encode(Array(SHA256.hash(data: JSON.encode(text))), as: .url)
    }
}
