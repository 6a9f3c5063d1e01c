#if canImport(CSecretService) && canImport(Glibc)
import CSecretService
import SignetCore

/// The functions of libsecret and GLib that were loaded on this machine.
struct LibSecret {
    let functions: signet_secret_library

    /// The loaded functions; nil when the libraries are not installed.
    static var loaded: LibSecret? { signet_secret_library().map { LibSecret(functions: $0.pointee) } }

    /// Returns the loaded functions.
    /// - Throws: ``StoreError/Code/keyUnavailable`` when the libraries are not installed on this machine.
    static func load(_ operation: String) throws(StoreError) -> LibSecret {
        guard let loaded else {
            let reason = String(cString: signet_secret_library_failure())
            // The loader's reason names the library again, and says more than this only when the library is there.
            let isMissing = reason.hasPrefix("libsecret-1.so.0: cannot open shared object file")
            let fault = isMissing ? "libsecret-1.so.0, which is not installed" : "libsecret, which cannot be loaded (\(reason))"
            throw StoreError(
                .keyUnavailable, operation,
                "the keyring needs \(fault); install it, e.g. with: apt-get install libsecret-1-0")
        }
        return loaded
    }

    /// Calls a function that reports errors with a GError.
    func calling<Value>(_ body: (UnsafeMutablePointer<OpaquePointer?>) -> Value) throws(GLibFailure) -> Value {
        var error: OpaquePointer?
        let value = body(&error)
        guard let error else { return value }
        defer { functions.g_error_free(error) }
        let content = UnsafePointer<signet_error>(error).pointee
        throw GLibFailure(
            domain: functions.g_quark_to_string(content.domain).map { String(cString: $0) } ?? "", code: content.code,
            message: content.message.map { String(cString: $0) } ?? "")
    }

    /// Returns an owner of the reference `object`, which is released together with the owner.
    func owning(_ object: OpaquePointer) -> GObject { GObject(self, object) }

    func unreference(_ object: OpaquePointer?) {
        if let object { functions.g_object_unref(UnsafeMutableRawPointer(object)) }
    }

    /// Runs `body` with a GHashTable of strings.
    func withTable<Value>(
        _ texts: [String: String], _ body: (OpaquePointer?) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let table = functions.g_hash_table_new_full(
            functions.g_str_hash, functions.g_str_equal, functions.g_free, functions.g_free)
        defer { functions.g_hash_table_unref(table) }
        for (name, text) in texts {
            _ = functions.g_hash_table_insert(table, functions.g_strdup(name), functions.g_strdup(text))
        }
        return try body(table)
    }
}

/// A reference to a GObject, which is released when this object is deinitialized.
final class GObject {
    let pointer: OpaquePointer
    private let library: LibSecret

    init(_ library: LibSecret, _ pointer: OpaquePointer) {
        self.library = library
        self.pointer = pointer
    }

    deinit {
        library.unreference(pointer)
    }
}

/// The content of a GError.
struct GLibFailure: Error {
    let domain: String
    let code: Int32
    let message: String

    /// True when the requested name has no owner on the bus.
    var isNoOwner: Bool { domain == "g-dbus-error-quark" && (code == 2 || code == 3) }

    /// Converts the error to a ``StoreError``.
    ///
    /// Tests/SecretServicePrototypes checks the numbers against the headers.
    func storeError(_ operation: String) -> StoreError {
        switch (domain, code) {
        case ("secret-error", 2): return .lockedKeyring(operation)
        case ("secret-error", 3), ("g-dbus-error-quark", 19), ("g-dbus-error-quark", 41), ("g-dbus-error-quark", 42):
            return StoreError(
                .busy, operation, "another program changed the keyring during this operation; try again (\(shortMessage))")
        case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3):
            return StoreError(
                .keyUnavailable, operation,
                "no program serves the keyring on the session bus; start GNOME Keyring, KWallet or KeePassXC, and unlock it")
        case ("g-dbus-error-quark", 9): return StoreError(.denied, operation, "the session bus refused it (\(shortMessage))")
        case ("g-io-error-quark", 19), ("g-io-error-quark", 24), ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 12),
            ("g-dbus-error-quark", 20):
            return StoreError(.keyUnavailable, operation, "the keyring did not answer (\(shortMessage))")
        default: return StoreError(.keyUnavailable, operation, "the request to the keyring failed (\(shortMessage))")
        }
    }

    /// The message for the error's text.
    ///
    /// It may come from any program on the bus, so it is shortened and put in one line.
    private var shortMessage: String {
        let line = message.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint && $0.value >= 0x20 }.prefix(200)
        return "\(domain)/\(code): \(String(String.UnicodeScalarView(line)))"
    }
}

extension StoreError {
    /// Returns the error for a locked keyring, in which an item may exist although it cannot be read.
    static func lockedKeyring(_ operation: String) -> StoreError {
        StoreError(.keyUnavailable, operation, "the keyring is locked; unlock it and try again; nothing was changed")
    }
}
#endif
