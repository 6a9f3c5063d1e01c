#if canImport(CGDBus) && canImport(Glibc)
import CGDBus
import SignetCore

/// A connection to a message bus.
///
/// No call blocks a thread of the caller's. The connection ends with this object; its streams then end, and its calls fail with
/// ``DBusError/Code/closed``. When the bus ends, the caller opens a new connection.
package final class DBusConnection: Sendable {
    private let link: DBusLink

    /// The default time to wait for a connection or a reply.
    package static let defaultTimeout = Duration.seconds(5)

    private init(_ link: DBusLink) { self.link = link }

    deinit { link.close(.closed) }

    /// Connects to a bus.
    /// - Parameters:
    ///   - address: The address; see ``DBusAddress``.
    ///   - timeout: The time to wait.
    /// - Returns: The connection, which has a unique name.
    /// - Throws: ``DBusError``.
    package static func open(
        _ address: String, timeout: Duration = DBusConnection.defaultTimeout
    ) async throws(DBusError) -> DBusConnection {
        _ = try GDBusLibrary.load()
        let link = DBusLink()
        let opened = await withTimeout(timeout) { Opening(error: await link.open(address)) }
        guard let opened else {
            let failure = DBusError(.timeout, "the message bus did not answer in time")
            link.close(failure)
            throw failure
        }
        if let failure = opened.error { throw failure }
        return DBusConnection(link)
    }

    private struct Opening: Sendable {
        let error: DBusError?
    }

    /// The name that the bus gave to this connection, such as `:1.42`.
    package var uniqueName: String { link.uniqueName }

    /// True when the connection has ended.
    package var isClosed: Bool { link.isClosed }

    /// Ends the connection.
    package func close() { link.close(.closed) }

    // MARK: Calls

    /// Calls a method and waits for its reply.
    /// - Parameters:
    ///   - message: The call.
    ///   - timeout: The time to wait for the reply.
    /// - Returns: The reply, which comes from the connection that was called, if it was called by its unique name.
    /// - Throws: ``DBusError``: ``DBusError/Code/refused`` for an error of the other program, ``DBusError/Code/timeout``,
    ///   ``DBusError/Code/cancelled`` when the task is canceled.
    package func call(
        _ message: DBusMessage, timeout: Duration = DBusConnection.defaultTimeout
    ) async throws(DBusError) -> DBusMessage {
        let link = link
        let reply = await withTimeout(timeout) { await link.reply(to: message) }
        guard let reply else {
            throw DBusError(.timeout, "\(message.interface ?? "").\(message.member ?? "") was not answered in time")
        }
        return try reply.get()
    }

    /// Sends a message that has no reply: a signal, a reply or an error.
    /// - Throws: ``DBusError``.
    package func send(_ message: DBusMessage) throws(DBusError) {
        if let error = link.send(message) { throw error }
    }

    // MARK: Signals

    /// Returns the signals that a rule fits, from now on.
    ///
    /// The stream keeps the newest 256 signals for a slow reader. It ends with the connection.
    /// - Throws: ``DBusError`` when the bus does not take the rule; ``DBusError/Code/invalidRequest`` for a rule whose sender is
    ///   a well-known name.
    package func signals(matching rule: DBusMatch) async throws(DBusError) -> AsyncStream<DBusMessage> {
        let library = try GDBusLibrary.load()
        guard rule.sender == "org.freedesktop.DBus" || library.functions.g_dbus_is_unique_name(rule.sender) != 0 else {
            throw DBusError(.invalidRequest, "signals are taken from a unique bus name only")
        }
        let text = rule.text
        let stream = link.signals(rule) { [weak link] in
            var removal = DBusMessage.busCall("RemoveMatch", [.string(text)])
            removal.expectsNoReply = true
            _ = link?.send(removal)
        }
        _ = try await call(.busCall("AddMatch", [.string(text)]))
        return stream
    }

    // MARK: Names

    /// Returns the unique name of the connection that owns a name; nil when no program owns it.
    ///
    /// The call does not start a program.
    /// - Throws: ``DBusError``.
    package func owner(of name: String) async throws(DBusError) -> String? {
        let reply: DBusMessage
        do throws(DBusError) {
            reply = try await call(.busCall("GetNameOwner", [.string(name)]))
        } catch {
            if error.isWithoutOwner { return nil }
            throw error
        }
        guard let owner = reply.body.first?.string else {
            throw DBusError(.invalidReply, "the message bus gave no owner for \(name)")
        }
        return owner
    }

    /// Requests a well-known name, without waiting in a queue for it.
    /// - Returns: True when this connection owns the name.
    /// - Throws: ``DBusError``.
    package func requestName(_ name: String) async throws(DBusError) -> Bool {
        // The flag 4 means "do not queue". The replies are: 1 for the new owner, 4 for a connection that owns it already.
        let reply = try await call(.busCall("RequestName", [.string(name), .uint32(4)]))
        return [1, 4].contains(reply.body.first?.uint32)
    }

    /// Returns the calls of this connection's methods, from now on.
    ///
    /// Answer each with ``DBusMessage/reply(_:descriptors:)`` or ``DBusMessage/failure(_:_:)``. Without a reader of this stream,
    /// all calls are answered with an error.
    package func methodCalls() -> AsyncStream<DBusMessage> { link.methodCalls() }
}
#endif
