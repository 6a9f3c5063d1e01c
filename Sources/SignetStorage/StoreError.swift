/// An error that occurred while stored data was read or written. It names the operation and the kind of record, never content.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The category of a ``StoreError``. A missing record is not an error: a read returns nil for it, and for no other reason.
    public enum Code: String, Sendable, CaseIterable {
        /// This place does not hold a vault yet.
        case noVault
        /// The vault, file or other object to create already exists.
        case exists
        /// Another process holds the store and did not release it in time.
        case busy
        /// The system denies access.
        case denied
        /// A file or directory is accessible to other users, belongs to another user, or is a link.
        case unsafePlace
        /// The disk, database or keychain has no space left.
        case full
        /// The store failed while it made a change durable: either the whole change was made or nothing. Read to find out.
        case outcomeUnknown
        /// The stored data is not what was written.
        case corrupt
        /// The data was written by a newer version.
        case newerFormat
        /// The key is not available now.
        case keyUnavailable
        /// The user was asked for the key and canceled. No further key protector is tried.
        case givenUp
        /// The key is not the one that the data was sealed with.
        case keyMismatch
        /// The data is an older copy of what was stored before.
        case rolledBack
        /// The stored data is intact but does not have the requested type.
        case otherType
        /// The caller's input is invalid, for example it has no name or cannot be encoded. Nothing was changed.
        case invalid
        /// The store failed for another reason.
        case failed
    }

    /// The category of the error.
    public let code: Code
    /// The operation that failed, for example `open vault`.
    public let operation: String
    /// The cause and, if there is one, the remedy.
    public let reason: String
    /// The status code of the platform: `errno`, SQLite's extended result code, an `OSStatus` of the keychain, or a response code
    /// of the TPM.
    public let platformStatus: Int32?

    /// True when the same call may succeed later without any action by the user or the app.
    public var isRetryable: Bool { code == .busy }

    /// The operation, the reason and the platform status.
    public var description: String {
        "\(operation): \(reason)" + (platformStatus.map { " (status \($0))" } ?? "")
    }

    /// Creates an error. It is public so that an app's own store can throw it.
    public init(_ code: Code, _ operation: String, _ reason: String, status: Int32? = nil) {
        self.code = code
        self.operation = operation
        self.reason = reason
        platformStatus = status
    }
}
