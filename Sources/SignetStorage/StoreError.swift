public import Foundation
public import SignetCore

/// An error that occurred while stored data was read or written.
///
/// It names the operation and the kind of record, never content.
public struct StoreError: RetryableError, Hashable, CustomStringConvertible {
    /// The category of a ``StoreError``.
    ///
    /// A missing record is not an error: a read returns nil for it, and for no other reason.
    public struct Code: ErrorCode {
        /// A file or directory does not exist.
        ///
        /// A missing record is not an error.
        public static let notFound = Code(rawValue: "notFound")
        /// This directory or database does not hold a vault yet.
        public static let noVault = Code(rawValue: "noVault")
        /// The vault, file or other object to create already exists.
        public static let exists = Code(rawValue: "exists")
        /// Another process holds the store and did not release it in time.
        public static let busy = Code(rawValue: "busy")
        /// The system denies access.
        public static let denied = Code(rawValue: "denied")
        /// A file or directory is accessible to other users, belongs to another user, or is a link.
        public static let insecurePermissions = Code(rawValue: "insecurePermissions")
        /// The disk, database or keychain has no space left.
        public static let full = Code(rawValue: "full")
        /// The store failed while it made a change durable: either the whole change was made or nothing.
        ///
        /// Read to find out.
        public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
        /// The stored data is not what was written.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The data was written by a newer version.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The key is not available now.
        public static let keyUnavailable = Code(rawValue: "keyUnavailable")
        /// The user was asked for the key and canceled.
        ///
        /// No further key protector is tried.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The key is not the one that the data was sealed with.
        public static let keyMismatch = Code(rawValue: "keyMismatch")
        /// The protection of the vault's key is weaker than the app or the operator requires.
        ///
        /// Nothing was read, created or changed.
        public static let protectionTooWeak = Code(rawValue: "protectionTooWeak")
        /// The data is an older copy of what was stored before.
        public static let rolledBack = Code(rawValue: "rolledBack")
        /// The stored data is intact but does not have the requested type.
        public static let typeMismatch = Code(rawValue: "typeMismatch")
        /// The caller's input is invalid, for example it has no name or cannot be encoded.
        ///
        /// Nothing was changed.
        public static let invalid = Code(rawValue: "invalid")
        /// The store failed for another reason.
        public static let failed = Code(rawValue: "failed")

        /// All codes of this version.
        public static let allCases: [Code] = [
            .notFound, .noVault, .exists, .busy, .denied, .insecurePermissions, .full, .outcomeUnknown, .corrupt, .newerFormat,
            .keyUnavailable,
            .cancelled, .keyMismatch, .protectionTooWeak, .rolledBack, .typeMismatch, .invalid, .failed,
        ]

        /// The name of the code, for logs and scripts.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
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

    /// True when the error concerns only one record, so that the rest of the store can still be read.
    package var isRecordScoped: Bool { code == .corrupt || code == .newerFormat || code == .keyMismatch }

    /// The operation, the reason and the platform status.
    public var description: String {
        "\(operation): \(reason)" + (platformStatus.map { " (status \($0))" } ?? "")
    }

    /// Creates an error.
    ///
    /// It is public so that an app's own store can throw it.
    public init(_ code: Code, _ operation: String, _ reason: String, status: Int32? = nil) {
        self.code = code
        self.operation = operation
        self.reason = reason
        platformStatus = status
    }
}

extension StoreError: LocalizedError {
    /// The same text as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
