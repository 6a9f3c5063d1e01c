import SignetCore

#if canImport(CSecretService) && canImport(Glibc)
import CSecretService
#endif

/// The settings for keyring calls: the timeout, and the time that the user has to unlock the keyring, or nil if the user must not
/// be asked.
package struct KeyringAccess: Sendable {
    let timeout: Duration
    let unlockTimeout: Duration?

    /// Runs `body`, and runs it once more when it throws ``StoreError/Code/busy`` because of another program.
    package static func twice<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.code == .busy else { throw error }
            return try body()
        }
    }

    /// Runs `body` with the keyring.
    ///
    /// Runs it once more when another program changed the keyring during the call, for example removed an item that `body` had
    /// found.
    func ask<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Keyring) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try askBus(operation) { bus throws(StoreError) in
            try KeyringAccess.twice { () throws(StoreError) in try body(Keyring(bus, unlockTimeout: unlockTimeout)) }
        }
    }
}

#if canImport(CSecretService) && canImport(Glibc)
extension KeyringAccess {
    /// Runs `body` with the session bus, on a thread of its own.
    func askBus<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (SessionBus) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        // Without a bus in the environment, GLib would start one.
        guard SessionBus.isNamed else {
            throw StoreError(
                .keyUnavailable, operation,
                "there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set), so there is no keyring to ask")
        }
        return try TimedCall.run(operation, timeout: timeout) { library, call throws(StoreError) in
            // GLib delivers the events of its objects to a context that belongs to this thread and is released with it.
            let context = library.functions.g_main_context_new()
            library.functions.g_main_context_push_thread_default(context)
            defer {
                while library.functions.g_main_context_iteration(context, 0) != 0 {}
                library.functions.g_main_context_pop_thread_default(context)
                library.functions.g_main_context_unref(context)
            }
            return try body(SessionBus(library, operation, call))
        }
    }
}
#else
extension KeyringAccess {
    func askBus<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (SessionBus) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        throw Self.notBuilt(operation)
    }

    fileprivate static func notBuilt(_ operation: String) -> StoreError {
        StoreError(
            .keyUnavailable, operation,
            "this program can ask a keyring only on Linux with glibc, and was built for another system")
    }
}

/// A placeholder for systems without the Secret Service.
///
/// It has no instances. It is not an enum without cases, because the compiler would warn that its callers never run.
struct Keyring {
    private let refusal = KeyringAccess.notBuilt("ask keyring")

    init(_ bus: SessionBus, unlockTimeout: Duration?) throws(StoreError) { throw refusal }

    func requireUsable() throws(StoreError) { throw refusal }
    func requireLasting() throws(StoreError) { throw refusal }
    func items(_ attributes: [String: String]) throws(StoreError) -> [KeyringItem] { throw refusal }
    func create(label: String, _ attributes: [String: String], secret: String) throws(StoreError) { throw refusal }
    func replaceSecret(of item: KeyringItem, with secret: String) throws(StoreError) { throw refusal }
    func withLock(_ name: String, _ body: () throws(StoreError) -> Void) throws(StoreError) { throw refusal }
}

/// A placeholder for systems without the Secret Service.
///
/// It has no instances.
struct SessionBus {
    private init() {}

    func owner(of name: String) throws(StoreError) -> SecretServiceOwner? { throw KeyringAccess.notBuilt("ask keyring") }
}

/// A placeholder for an item in the keyring.
struct KeyringItem {
    let secret: Secret
}
#endif
