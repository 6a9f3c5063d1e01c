#if canImport(CSecretService) && canImport(Glibc)
import CSecretService
import Glibc
import SignetCore

/// The session bus of this process, for the duration of one call.
final class SessionBus {
    let library: LibSecret
    let operation: String
    let call: TimedCall
    private let connection: GObject

    /// The value of `G_BUS_TYPE_SESSION`.
    private static let session: Int32 = 2

    init(_ library: LibSecret, _ operation: String, _ call: TimedCall) throws(StoreError) {
        self.library = library
        self.operation = operation
        self.call = call
        do throws(GLibFailure) {
            let found = try library.calling { library.functions.g_bus_get_sync(Self.session, call.cancellable, $0) }
            guard let found else { throw GLibFailure(domain: "signet", code: 0, message: "GLib gave no connection") }
            connection = library.owning(found)
            // By default, GLib would end the process when the bus is lost.
            library.functions.g_dbus_connection_set_exit_on_close(found, 0)
        } catch {
            throw error.storeError(operation)
        }
    }

    /// True when the environment contains the address of the bus, in one of the two forms that GLib looks for.
    static var isNamed: Bool {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return true }
        guard let directory = getenv("XDG_RUNTIME_DIR") else { return false }
        var status = stat()
        return stat(String(cString: directory) + "/bus", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns the program that owns the bus name `name`; nil when no program owns it.
    ///
    /// The call does not start a program.
    func owner(of name: String) throws(StoreError) -> SecretServiceOwner? {
        do throws(GLibFailure) {
            let unique = try ask("GetNameOwner", [library.functions.g_variant_new_string(name)], "(s)") {
                library.functions.g_variant_get_string($0, nil).map { String(cString: $0) } ?? ""
            }
            let processID = try ask("GetConnectionUnixProcessID", [library.functions.g_variant_new_string(unique)], "(u)") {
                library.functions.g_variant_get_uint32($0)
            }
            return SecretServiceOwner(processID: processID, program: Self.program(of: processID))
        } catch {
            if error.isNoOwner { return nil }
            throw error.storeError(operation)
        }
    }

    /// Runs `body` exclusively among all callers on this bus with the same `name`, in this process or another.
    ///
    /// The lock is ownership of a bus name, which the bus releases when the connection ends for any reason.
    func withLock(_ name: String, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        let own = try ownConnection()
        defer { _ = library.functions.g_dbus_connection_close_sync(own.pointer, nil, nil) }
        while true {
            // The flag 4 means "do not queue". The reply is 1 for the new owner, and 3 if another connection owns the name.
            let arguments = [library.functions.g_variant_new_string(name), library.functions.g_variant_new_uint32(4)]
            let answer: UInt32
            do throws(GLibFailure) {
                answer = try ask("RequestName", arguments, "(u)", on: own) { library.functions.g_variant_get_uint32($0) }
            } catch {
                throw error.storeError(operation)
            }
            if answer == 1 { return try body() }
            guard call.remaining > .milliseconds(500) else {
                throw StoreError(.busy, operation, "another process holds the lock for this operation for too long; try again")
            }
            usleep(10_000)
        }
    }

    private func ownConnection() throws(StoreError) -> GObject {
        do throws(GLibFailure) {
            let address = try library.calling {
                library.functions.g_dbus_address_get_for_bus_sync(Self.session, call.cancellable, $0)
            }
            defer { library.functions.g_free(address) }
            // The flags are: authentication as a client (1), connection to a message bus (8).
            let found = try library.calling {
                library.functions.g_dbus_connection_new_for_address_sync(address, 1 | 8, nil, call.cancellable, $0)
            }
            guard let found else { throw GLibFailure(domain: "signet", code: 0, message: "GLib gave no connection") }
            return library.owning(found)
        } catch {
            throw error.storeError(operation)
        }
    }

    /// Calls a method of the bus itself, and reads the single value of its reply.
    private func ask<Value>(
        _ method: String, _ arguments: [OpaquePointer?], _ type: String, on other: GObject? = nil,
        _ read: (OpaquePointer?) -> Value
    ) throws(GLibFailure) -> Value {
        let parameters = library.functions.g_variant_new_tuple(arguments, arguments.count)
        let (seconds, attoseconds) = call.remaining.components
        let milliseconds = max(Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000), 1)
        let answer = try library.calling {
            library.functions.g_dbus_connection_call_sync(
                (other ?? connection).pointer, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method,
                parameters, nil, 1, Int32(clamping: milliseconds), call.cancellable, $0)
        }
        guard let answer else { throw GLibFailure(domain: "signet", code: 0, message: "the bus gave no answer") }
        defer { library.functions.g_variant_unref(answer) }
        guard library.functions.g_variant_get_type_string(answer).map({ String(cString: $0) }) == type else {
            throw GLibFailure(domain: "signet", code: 0, message: "the bus gave an answer of another type")
        }
        let value = library.functions.g_variant_get_child_value(answer, 0)
        defer { library.functions.g_variant_unref(value) }
        return read(value)
    }

    private static func program(of processID: UInt32) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(processID)/exe", &target, target.count)
        guard count > 0 else { return nil }
        return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: "/").last.map(
            String.init)
    }
}
#endif
