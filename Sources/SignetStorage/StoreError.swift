/// Why something that is stored could not be read or written. It names the operation and the kind of record, never content.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong. Absence is not among the failures of a read: a read answers nil for it, and only for it.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no vault here yet.
        case noVault
        /// What was to be made is there already.
        case exists
        /// Another process holds the store and did not let go in time.
        case busy
        /// The system refuses access.
        case denied
        /// A file or directory is open to others, belongs to someone else, or is a link.
        case unsafePlace
        /// There is no room left.
        case full
        /// The store was lost while it made a change durable: the change is there, or it is not. Read to find out.
        case outcomeUnknown
        /// What is there is not what was written.
        case corrupt
        /// It was written by a newer version.
        case newerFormat
        /// The key cannot be had now.
        case keyUnavailable
        /// Somebody was asked for the key and gave up. Nobody else is asked then.
        case givenUp
        /// The key is not the one this was sealed with.
        case keyMismatch
        /// It is an older copy of what was there before.
        case rolledBack
        /// What is stored is whole, and not of the type that was asked for.
        case otherType
        /// What was to be stored cannot be: it has no name, or no form in bytes. The caller's to mend; nothing was changed.
        case invalid
        /// The store failed for a reason of its own.
        case failed
    }

    /// What went wrong.
    public let code: Code
    /// What was being done, for example `open vault`.
    public let operation: String
    /// What is wrong and, where there is one, the way on.
    public let reason: String
    /// The platform's own number: `errno`, or SQLite's extended result code.
    public let platformStatus: Int32?

    /// Whether the same call may succeed later without anybody doing anything.
    public var isRetryable: Bool { code == .busy }

    /// Operation, reason and platform status.
    public var description: String {
        "\(operation): \(reason)" + (platformStatus.map { " (status \($0))" } ?? "")
    }

    /// An error of a store; public so that an app's own store can throw it.
    public init(_ code: Code, _ operation: String, _ reason: String, status: Int32? = nil) {
        self.code = code
        self.operation = operation
        self.reason = reason
        platformStatus = status
    }
}
