#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A message on the bus (D-Bus Specification, "Message Protocol").
package struct DBusMessage: Sendable {
    /// The kind of a message.
    package enum Kind: UInt32, Sendable, Hashable {
        /// A request to an object.
        case methodCall = 1
        /// The values that a method returned.
        case methodReturn = 2
        /// The error that a method returned.
        case error = 3
        /// An event that an object reports.
        case signal = 4
    }

    /// The kind.
    package var kind: Kind
    /// The unique bus name of the sender, which the bus itself enters; nil in a message that is to be sent.
    package internal(set) var sender: String?
    /// The bus name of the receiver; nil for a signal to all connections that ask for it.
    package var destination: String?
    /// The object that is called, or that sent the signal.
    package var path: String?
    /// The interface of the method or signal.
    package var interface: String?
    /// The name of the method or signal.
    package var member: String?
    /// The name of an error.
    package var errorName: String?
    /// The number of the message at its sender.
    package internal(set) var serial: UInt32 = 0
    /// The number of the call that this message answers; 0 for a message of another kind.
    package var replySerial: UInt32 = 0
    /// True when the sender of a call reads no reply.
    package var expectsNoReply = false
    /// True when a call must not start a program that owns the name.
    package var startsNoProgram = false
    /// True when the receiver may ask the user whether a call is allowed.
    package var allowsInteraction = false
    /// The values.
    package var body: [DBusValue] = []
    /// The file descriptors, which ``DBusValue/handle(_:)`` counts from 0.
    package var descriptors: [DBusDescriptor] = []

    /// The limit of the values' size, in bytes, in both directions: 1 MiB.
    package static let maxBodySize = 1 << 20
    /// The limit of the number of values in a received message.
    package static let maxValues = 65_536
    /// The limit of the number of file descriptors in a received message.
    package static let maxDescriptors = 8

    init(_ kind: Kind) { self.kind = kind }

    /// Creates a message about a member of an object.
    private init(
        _ kind: Kind, to destination: String?, _ path: String, _ interface: String, _ member: String, _ body: [DBusValue]
    ) {
        (self.kind, self.destination, self.body) = (kind, destination, body)
        (self.path, self.interface, self.member) = (path, interface, member)
    }

    /// Creates the call of a method.
    /// - Parameters:
    ///   - destination: The bus name of the receiver.
    ///   - path: The object.
    ///   - interface: The interface of the method.
    ///   - member: The name of the method.
    ///   - body: The arguments.
    /// - Returns: The call.
    package static func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ body: [DBusValue] = []
    ) -> DBusMessage {
        DBusMessage(.methodCall, to: destination, path, interface, member, body)
    }

    /// Returns the call of a method of the bus itself.
    package static func busCall(_ member: String, _ body: [DBusValue] = []) -> DBusMessage {
        call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, body)
    }

    /// Returns a signal to all connections that ask for it, or to one of them.
    package static func signal(
        _ path: String, _ interface: String, _ member: String, _ body: [DBusValue] = [], to destination: String? = nil
    ) -> DBusMessage {
        DBusMessage(.signal, to: destination, path, interface, member, body)
    }

    /// Returns the reply to this call.
    package func reply(_ body: [DBusValue] = [], descriptors: [DBusDescriptor] = []) -> DBusMessage {
        var message = answer(.methodReturn, body)
        message.descriptors = descriptors
        return message
    }

    /// Returns an error as the answer to this call.
    package func failure(_ name: String, _ text: String) -> DBusMessage {
        var message = answer(.error, [.string(text)])
        message.errorName = name
        return message
    }

    /// Returns an answer to this call with the values.
    private func answer(_ kind: Kind, _ body: [DBusValue]) -> DBusMessage {
        var message = DBusMessage(kind)
        (message.destination, message.replySerial, message.body) = (sender, serial, body)
        return message
    }
}

/// The signals that a receiver asks for (D-Bus Specification, "Match Rules").
package struct DBusMatch: Sendable, Hashable {
    /// The unique bus name of the sender, or `org.freedesktop.DBus`.
    ///
    /// Signals name their sender by its unique name, and another connection can send any signal directly to this process, past
    /// the rules of the bus. So the sender is always compared, and it is never a well-known name.
    package var sender: String
    /// The object that sends; nil for any object.
    package var path: String?
    /// The interface of the signal; nil for all signals of the object, in their order.
    package var interface: String?
    /// The name of the signal; nil for all signals of the interface.
    package var member: String?
    /// The first value, which must be a text; nil for any value.
    package var argument: String?

    /// Creates a rule.
    package init(
        sender: String, path: String? = nil, interface: String? = nil, member: String? = nil, argument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument = argument
    }

    /// Returns the rule for the signal of the bus that a well-known name has another owner.
    package static func owner(of name: String) -> DBusMatch {
        DBusMatch(
            sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged", argument: name)
    }

    /// The rule as the bus reads it.
    package var text: String {
        var parts = ["type='signal'", part("sender", sender)]
        if let interface { parts.append(part("interface", interface)) }
        if let path { parts.append(part("path", path)) }
        if let member { parts.append(part("member", member)) }
        if let argument { parts.append(part("arg0", argument)) }
        return parts.joined(separator: ",")
    }

    /// True when the rule fits the message.
    package func matches(_ message: DBusMessage) -> Bool {
        message.kind == .signal && message.sender == sender && (interface == nil || interface == message.interface)
            && (path == nil || path == message.path) && (member == nil || member == message.member)
            && (argument == nil || argument == message.body.first?.string)
    }

    /// Returns a name with a quoted value.
    ///
    /// Within quotation marks no character is special, so an apostrophe is written outside of them with a backslash.
    private func part(_ name: String, _ value: String) -> String {
        name + "='" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// A file descriptor, which is closed when this object is deinitialized.
package final class DBusDescriptor: Sendable {
    /// The number of the descriptor in this process.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }
}
