/// The addresses of message buses (D-Bus Specification, "Server Addresses" and "Well-known Message Bus Instances").
///
/// Only Unix sockets are used: the bus knows the user at the other end by the system there. Addresses that start a program
/// (`unixexec:`, `autolaunch:`) and those of a network (`tcp:`, `nonce-tcp:`) are refused.
package enum DBusAddress {
    /// Returns the address of the user's session bus.
    /// - Parameter environment: The environment of the process; `DBUS_SESSION_BUS_ADDRESS` is read, and `XDG_RUNTIME_DIR`
    ///   without it.
    /// - Returns: The address, as GLib takes it.
    /// - Throws: ``DBusError/Code/unavailable`` when neither is set, or the address isn't that of a Unix socket.
    package static func session(in environment: [String: String]) throws(DBusError) -> String {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            return try checked(address, "DBUS_SESSION_BUS_ADDRESS")
        }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else {
            throw DBusError(
                .unavailable,
                "there is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set; log in at a desktop")
        }
        return "unix:path=" + escaped(directory + "/bus")
    }

    /// Returns the address of the system bus.
    /// - Parameter environment: The environment of the process; `DBUS_SYSTEM_BUS_ADDRESS` is read.
    /// - Returns: The address, as GLib takes it.
    /// - Throws: ``DBusError/Code/unavailable`` when the address isn't that of a Unix socket.
    package static func system(in environment: [String: String]) throws(DBusError) -> String {
        guard let address = environment["DBUS_SYSTEM_BUS_ADDRESS"], !address.isEmpty else {
            return "unix:path=/run/dbus/system_bus_socket"
        }
        return try checked(address, "DBUS_SYSTEM_BUS_ADDRESS")
    }

    private static func checked(_ address: String, _ variable: String) throws(DBusError) -> String {
        let parts = address.split(separator: ";")
        guard !parts.isEmpty, parts.allSatisfy({ $0.hasPrefix("unix:") }) else {
            throw DBusError(.unavailable, "\(variable) is not the address of a Unix socket; Signet uses no other bus")
        }
        return address
    }

    /// Returns a path with `%` escapes for the characters that an address does not take as they are.
    static func escaped(_ path: String) -> String {
        let digits = Array("0123456789abcdef")
        return path.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "*"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            }
        }
    }
}
