import SignetCore

#if SecretService && canImport(Glibc)
import CSecretService
#endif

/// How the keyring is asked: for how long, and whether a person may be.
package struct KeyringAccess: Sendable {
    let patience: Duration
    let unlockPatience: Duration?

    /// Runs `body`, and once more when another program came in between.
    package static func twice<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.code == .busy else { throw error }
            return try body()
        }
    }
}

#if SecretService && canImport(Glibc)
extension KeyringAccess {
    /// Runs `body` with the keyring, and once more when another program changed it in the middle: it may have taken away what
    /// `body` had found.
    func ask<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Keyring) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try askBus(operation) { bus throws(StoreError) in
            try KeyringAccess.twice { () throws(StoreError) in try body(Keyring(bus, unlockPatience: unlockPatience)) }
        }
    }

    /// Runs `body` with the session bus, on a thread of its own.
    func askBus<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (SessionBus) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        // Without a bus in the environment GLib would start one.
        guard SessionBus.isNamed else {
            throw StoreError(
                .keyUnavailable, operation,
                "there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set), so there is no keyring to ask")
        }
        return try PatientCall.run(operation, patience: patience) { library, call throws(StoreError) in
            // What GLib has to tell about its objects goes to a context of this thread, which ends with it.
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
    func ask<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Keyring) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        throw Self.notBuilt(operation)
    }

    func askBus<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (SessionBus) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        throw Self.notBuilt(operation)
    }

    fileprivate static func notBuilt(_ operation: String) -> StoreError {
        StoreError(
            .keyUnavailable, operation,
            "this program was built without the trait SecretService, or not for Linux; it cannot ask a keyring")
    }
}

/// There is none in this build, and nobody makes one. (Of an enum without cases the compiler says that its users never run.)
struct Keyring {
    private let refusal = KeyringAccess.notBuilt("ask keyring")
    private init() {}

    func requireUsable() throws(StoreError) { throw refusal }
    func requireLasting() throws(StoreError) { throw refusal }
    func items(_ attributes: [String: String]) throws(StoreError) -> [KeyringItem] { throw refusal }
    func create(label: String, _ attributes: [String: String], secret: String) throws(StoreError) { throw refusal }
    func replaceSecret(of item: KeyringItem, with secret: String) throws(StoreError) { throw refusal }
    func inTurn(_ name: String, _ body: () throws(StoreError) -> Void) throws(StoreError) { throw refusal }
}

/// There is none in this build, and nobody makes one.
struct SessionBus {
    private init() {}

    func owner(of name: String) throws(StoreError) -> SecretServiceOwner? { throw KeyringAccess.notBuilt("ask keyring") }
}

/// What a keyring would hold.
struct KeyringItem {
    let secret: Secret
}
#endif
