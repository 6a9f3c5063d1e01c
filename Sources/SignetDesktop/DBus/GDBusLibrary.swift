#if canImport(CGDBus) && canImport(Glibc)
import CGDBus

/// The functions of GIO and GLib that were loaded on this machine.
struct GDBusLibrary {
    let functions: signet_gdbus_functions

    /// The loaded functions; nil when the libraries are not installed.
    static var loaded: GDBusLibrary? { signet_gdbus_load().map { GDBusLibrary(functions: $0.pointee) } }

    /// Returns the loaded functions.
    /// - Throws: ``DBusError/Code/unavailable`` when the libraries are not installed on this machine.
    static func load() throws(DBusError) -> GDBusLibrary {
        guard let loaded else {
            let reason = signet_gdbus_failure().map { String(cString: $0) } ?? ""
            let isMissing = reason.hasPrefix("libgio-2.0.so.0: cannot open shared object file")
            let fault = isMissing ? "libgio-2.0.so.0, which is not installed" : "libgio, which cannot be loaded (\(reason))"
            throw DBusError(
                .unavailable, "the message bus needs \(fault); install it, e.g. with: apt-get install libglib2.0-0")
        }
        return loaded
    }

    /// Connects to a message bus, and blocks until that is done.
    /// - Throws: ``DBusError/Code/cannotConnect``.
    func connection(_ address: String, _ cancellable: OpaquePointer?) throws(DBusError) -> OpaquePointer {
        var error: OpaquePointer?
        // The flags are: authentication as a client (1), connection to a message bus (8).
        let found = functions.g_dbus_connection_new_for_address_sync(address, 1 | 8, nil, cancellable, &error)
        let reason = text(taking: error)
        guard let found else {
            throw DBusError(.cannotConnect, "the message bus cannot be reached: \(reason ?? "GLib gave no reason")")
        }
        return found
    }

    /// Sends a message and returns its number.
    func send(_ message: DBusMessage, on connection: OpaquePointer?) -> Result<UInt32, DBusError> {
        guard let connection else { return .failure(.closed) }
        guard isValid(message) else {
            return .failure(DBusError(.invalidRequest, "a message has a name or a value that D-Bus does not allow"))
        }
        guard let raw = built(message) else {
            return .failure(DBusError(.invalidRequest, "a message is larger than Signet sends"))
        }
        defer { functions.g_object_unref(UnsafeMutableRawPointer(raw)) }
        var error: OpaquePointer?
        let isSent = functions.g_dbus_connection_send_message(connection, raw, 0, nil, &error)
        let reason = text(taking: error)
        guard isSent != 0 else {
            return .failure(DBusError(.closed, "the message bus takes no message: \(reason ?? "GLib gave no reason")"))
        }
        return .success(functions.g_dbus_message_get_serial(raw))
    }

    /// Returns the text of a GError, in one line, and frees the error; nil without one.
    private func text(taking error: OpaquePointer?) -> String? {
        guard let error else { return nil }
        defer { functions.g_error_free(error) }
        let message = UnsafePointer<signet_gdbus_error>(error).pointee.message
        return DBusError.line(message.map { String(cString: $0) } ?? "")
    }
}

// MARK: Messages

extension GDBusLibrary {
    /// Returns a received message; nil when its values are more than Signet reads.
    func message(_ raw: OpaquePointer, _ kind: DBusMessage.Kind) -> DBusMessage? {
        var message = DBusMessage(kind)
        message.sender = functions.g_dbus_message_get_sender(raw).map { String(cString: $0) }
        message.path = functions.g_dbus_message_get_path(raw).map { String(cString: $0) }
        message.interface = functions.g_dbus_message_get_interface(raw).map { String(cString: $0) }
        message.member = functions.g_dbus_message_get_member(raw).map { String(cString: $0) }
        message.errorName = functions.g_dbus_message_get_error_name(raw).map { String(cString: $0) }
        message.serial = functions.g_dbus_message_get_serial(raw)
        message.replySerial = functions.g_dbus_message_get_reply_serial(raw)
        message.expectsNoReply = functions.g_dbus_message_get_flags(raw) & 1 != 0
        if let body = functions.g_dbus_message_get_body(raw) {
            guard functions.g_variant_get_size(body) <= DBusMessage.maxBodySize else { return nil }
            var remaining = DBusMessage.maxValues
            guard case .structure(let values)? = value(body, &remaining) else { return nil }
            message.body = values
        }
        message.descriptors = descriptors(raw)
        return message
    }

    private func descriptors(_ raw: OpaquePointer) -> [DBusDescriptor] {
        guard let list = functions.g_dbus_message_get_unix_fd_list(raw) else { return [] }
        var descriptors: [DBusDescriptor] = []
        let count = min(functions.g_unix_fd_list_get_length(list), Int32(DBusMessage.maxDescriptors))
        for index in 0..<max(count, 0) {
            // The list keeps its own descriptor and gives a copy.
            let number = functions.g_unix_fd_list_get(list, index, nil)
            guard number >= 0 else { break }
            descriptors.append(DBusDescriptor(owning: number))
        }
        return descriptors
    }

    /// Returns true when GLib can build the message.
    ///
    /// GLib's functions end the process or do nothing for a name that is not one.
    private func isValid(_ message: DBusMessage) -> Bool {
        if let name = message.destination, functions.g_dbus_is_name(name) == 0 { return false }
        if let path = message.path, functions.g_variant_is_object_path(path) == 0 { return false }
        if let name = message.interface, functions.g_dbus_is_interface_name(name) == 0 { return false }
        if let name = message.member, functions.g_dbus_is_member_name(name) == 0 { return false }
        if let name = message.errorName, functions.g_dbus_is_interface_name(name) == 0 { return false }
        let hasHeader =
            switch message.kind {
            case .methodCall: message.path != nil && message.member != nil
            case .methodReturn: message.replySerial != 0
            case .error: message.replySerial != 0 && message.errorName != nil
            case .signal: message.path != nil && message.interface != nil && message.member != nil
            }
        return hasHeader && message.body.allSatisfy { isValid($0) }
    }

    /// Returns GLib's form of a valid message; nil when its values are larger than Signet sends.
    private func built(_ message: DBusMessage) -> OpaquePointer? {
        guard let raw = functions.g_dbus_message_new() else { return nil }
        functions.g_dbus_message_set_message_type(raw, message.kind.rawValue)
        functions.g_dbus_message_set_flags(
            raw, (message.expectsNoReply ? 1 : 0) | (message.startsNoProgram ? 2 : 0) | (message.allowsInteraction ? 4 : 0))
        if let name = message.destination { functions.g_dbus_message_set_destination(raw, name) }
        if let path = message.path { functions.g_dbus_message_set_path(raw, path) }
        if let name = message.interface { functions.g_dbus_message_set_interface(raw, name) }
        if let name = message.member { functions.g_dbus_message_set_member(raw, name) }
        if let name = message.errorName { functions.g_dbus_message_set_error_name(raw, name) }
        if message.replySerial != 0 { functions.g_dbus_message_set_reply_serial(raw, message.replySerial) }
        if !message.body.isEmpty {
            let body = functions.g_variant_ref_sink(variant(.structure(message.body)))
            defer { functions.g_variant_unref(body) }
            guard functions.g_variant_get_size(body) <= DBusMessage.maxBodySize else {
                functions.g_object_unref(UnsafeMutableRawPointer(raw))
                return nil
            }
            functions.g_dbus_message_set_body(raw, body)
        }
        if !message.descriptors.isEmpty, let list = functions.g_unix_fd_list_new() {
            for descriptor in message.descriptors { _ = functions.g_unix_fd_list_append(list, descriptor.number, nil) }
            functions.g_dbus_message_set_unix_fd_list(raw, list)
            functions.g_object_unref(UnsafeMutableRawPointer(list))
        }
        return raw
    }
}
#endif
