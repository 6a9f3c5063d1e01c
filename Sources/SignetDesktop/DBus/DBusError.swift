import SignetCore

/// A failed request to a message bus or to a program on it.
///
/// It contains no values of the request. The text of another program's error is shortened and in one line.
package struct DBusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    package struct Code: ErrorCode {
        /// This machine has no GLib, or the environment names no bus that can be used.
        package static let unavailable = Code(rawValue: "unavailable")
        /// The bus refused the connection, or nothing listens at its address.
        package static let cannotConnect = Code(rawValue: "cannotConnect")
        /// The connection has ended.
        package static let closed = Code(rawValue: "closed")
        /// No answer came in time.
        package static let timeout = Code(rawValue: "timeout")
        /// The task that called was canceled.
        package static let cancelled = Code(rawValue: "cancelled")
        /// The request isn't one that D-Bus allows, or is larger than Signet sends.
        package static let invalidRequest = Code(rawValue: "invalidRequest")
        /// The reply does not have the values that its interface requires, or is larger than Signet reads.
        package static let invalidReply = Code(rawValue: "invalidReply")
        /// The other program, or the bus in its place, answered with an error; see ``DBusError/name``.
        package static let refused = Code(rawValue: "refused")
        /// The limit of this process is reached.
        package static let limit = Code(rawValue: "limit")

        /// All codes of this version.
        package static let allCases: [Code] = [
            .unavailable, .cannotConnect, .closed, .timeout, .cancelled, .invalidRequest, .invalidReply, .refused, .limit,
        ]

        /// The name of the code, for logs and scripts.
        package let rawValue: String

        /// Creates a code from its name.
        package init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of the error.
    package let code: Code
    /// The name of the error on the bus, such as `org.freedesktop.DBus.Error.ServiceUnknown`, for ``Code/refused``.
    package let name: String?
    /// A human-readable description of the error.
    package let reason: String

    /// The reason.
    package var description: String { reason }

    /// True when no program owns the requested name, and none could be started for it.
    package var isWithoutOwner: Bool {
        ["org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"].contains(name)
    }

    /// Creates an error of this process.
    package init(_ code: Code, _ reason: String) {
        self.code = code
        name = nil
        self.reason = reason
    }

    /// Creates the error of another program.
    package init(refusedAs name: String, _ message: String) {
        code = .refused
        self.name = name
        reason = "\(Self.line(name)): \(Self.line(message))"
    }

    /// Returns a text of another program as one line of at most 200 characters.
    static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            scalar.value >= 0x20 && scalar.value != 0x7F && !scalar.properties.isDefaultIgnorableCodePoint
        }
        return String(String.UnicodeScalarView(scalars.prefix(200)))
    }

    static let cancelled = DBusError(.cancelled, "the task that called was canceled")
    static let closed = DBusError(.closed, "the connection to the message bus has ended")
}
