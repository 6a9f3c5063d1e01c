#if canImport(CSecretService) && canImport(Glibc)
import CSecretService
import SignetCore

/// The keyring, for the duration of one call.
///
/// A search that finds nothing is only conclusive while the default collection is unlocked, because a locked one does not show
/// its items.
final class Keyring {
    private let bus: SessionBus
    private let service: GObject
    private let unlockTimeout: Duration?
    private var library: LibSecret { bus.library }

    init(_ bus: SessionBus, unlockTimeout: Duration?) throws(StoreError) {
        self.bus = bus
        self.unlockTimeout = unlockTimeout
        let library = bus.library
        let service = try Self.calling(bus) {
            library.functions.secret_service_open_sync(library.functions.secret_service_get_type(), nil, 0, $0, $1)
        }
        guard let service else { throw Self.noAnswer(bus) }
        self.service = library.owning(service)
    }

    /// Checks that a lasting default collection exists, and that it is unlocked or the user may be asked to unlock it.
    func requireUsable() throws(StoreError) {
        let collection = try lastingCollection()
        guard unlockTimeout != nil || !isLocked(collection) else { throw .lockedKeyring(bus.operation) }
    }

    /// Checks that the default collection is unlocked and outlives the session.
    ///
    /// Asks the user to unlock it if that is allowed.
    func requireLasting() throws(StoreError) {
        _ = try unlockedCollection()
    }

    /// Returns the items that have all of these attributes.
    ///
    /// An empty result is only returned while the keyring is unlocked.
    func items(_ attributes: [String: String]) throws(StoreError) -> [KeyringItem] {
        _ = try unlockedCollection()
        let items = try foundItems(attributes)
        // Another program may have locked the keyring during the search.
        if items.isEmpty { _ = try unlockedCollection() }
        return items
    }

    /// Adds an item.
    ///
    /// Never replaces an existing one.
    func create(label: String, _ attributes: [String: String], secret: String) throws(StoreError) {
        let collection = try unlockedCollection()
        let created = try library.withTable(attributes) { table throws(StoreError) in
            try withValue(secret) { value throws(StoreError) in
                try calling {
                    library.functions.secret_item_create_sync(collection.pointer, nil, table, label, value, 0, $0, $1)
                }
            }
        }
        guard let created else { throw Self.noAnswer(bus) }
        library.unreference(created)
    }

    /// Replaces the secret of an item.
    func replaceSecret(of item: KeyringItem, with secret: String) throws(StoreError) {
        _ = try withValue(secret) { value throws(StoreError) in
            try calling { library.functions.secret_item_set_secret_sync(item.object.pointer, value, $0, $1) }
        }
    }

    /// Runs `body` exclusively; see ``SessionBus/withLock(_:_:)``.
    func withLock(_ name: String, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        try bus.withLock(name, body)
    }
}

/// An item in the keyring, with its secret.
struct KeyringItem {
    let secret: Secret
    fileprivate let object: GObject
}

// MARK: Collections

extension Keyring {
    /// The collection that GNOME Keyring keeps in memory only.
    ///
    /// It is the default collection if no other one exists.
    private static let sessionPath = "/org/freedesktop/secrets/collection/session"

    private func lastingCollection() throws(StoreError) -> GObject {
        let found = try calling {
            library.functions.secret_collection_for_alias_sync(service.pointer, "default", 0, $0, $1)
        }
        guard let found else {
            throw StoreError(
                .keyUnavailable, bus.operation,
                "the keyring has no default collection; make one with the program that serves it, and unlock it")
        }
        let collection = library.owning(found)
        let path = library.functions.g_dbus_proxy_get_object_path(collection.pointer).map { String(cString: $0) }
        guard path != Self.sessionPath else {
            throw StoreError(
                .keyUnavailable, bus.operation,
                "the keyring's default collection would be lost with this session; make one that lasts, and unlock it")
        }
        return collection
    }

    private func isLocked(_ collection: GObject) -> Bool {
        library.functions.secret_collection_get_locked(collection.pointer) != 0
    }

    /// Returns the unlocked default collection.
    ///
    /// If it is locked, asks the user to unlock it if that is allowed, and throws otherwise.
    private func unlockedCollection() throws(StoreError) -> GObject {
        let collection = try lastingCollection()
        guard isLocked(collection) else { return collection }
        guard let unlockTimeout else { throw .lockedKeyring(bus.operation) }
        let list = library.functions.g_list_append(nil, UnsafeMutableRawPointer(collection.pointer))
        defer { library.functions.g_list_free(list) }
        bus.call.extend(by: unlockTimeout)
        let count = try calling { library.functions.secret_service_unlock_sync(service.pointer, list, $0, nil, $1) }
        bus.call.extend()
        let unlocked = try lastingCollection()
        guard count > 0, !isLocked(unlocked) else {
            throw StoreError(
                .keyUnavailable, bus.operation,
                "the keyring is locked, and the request to unlock it was dismissed; nothing was changed")
        }
        return unlocked
    }
}

// MARK: Items

extension Keyring {
    private func foundItems(_ attributes: [String: String]) throws(StoreError) -> [KeyringItem] {
        let list = try library.withTable(attributes) { table throws(StoreError) in
            // The flags are: all items (2), with their secrets (8), without unlocking anything.
            try calling { library.functions.secret_service_search_sync(service.pointer, nil, table, 2 | 8, $0, $1) }
        }
        defer { library.functions.g_list_free(list) }
        let objects = (0..<library.functions.g_list_length(list)).compactMap { index in
            library.functions.g_list_nth_data(list, index).map { library.owning(OpaquePointer($0)) }
        }
        var items: [KeyringItem] = []
        for object in objects {
            guard library.functions.secret_item_get_locked(object.pointer) == 0 else { throw .lockedKeyring(bus.operation) }
            guard let value = library.functions.secret_item_get_secret(object.pointer) else {
                // Another program removed the item between the search and the read.
                throw StoreError(.busy, bus.operation, "another program changed the keyring during this operation; try again")
            }
            defer { library.functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
            var length = 0
            let bytes = library.functions.secret_value_get(value, &length)
            items.append(KeyringItem(secret: Secret(UnsafeRawBufferPointer(start: bytes, count: length)), object: object))
        }
        return items
    }

    private func withValue<Value>(
        _ secret: String, _ body: (OpaquePointer?) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        // The secret is text, so that any keyring manager can show, export and restore it.
        let value = library.functions.secret_value_new(secret, secret.utf8.count, "text/plain")
        defer { if let value { library.functions.secret_value_unref(UnsafeMutableRawPointer(value)) } }
        return try body(value)
    }

    private func calling<Value>(
        _ body: (_ cancellable: OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>) -> Value
    ) throws(StoreError) -> Value {
        try Self.calling(bus, body)
    }

    private static func calling<Value>(
        _ bus: SessionBus, _ body: (_ cancellable: OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>) -> Value
    ) throws(StoreError) -> Value {
        do throws(GLibFailure) {
            return try bus.library.calling { body(bus.call.cancellable, $0) }
        } catch {
            throw error.storeError(bus.operation)
        }
    }

    private static func noAnswer(_ bus: SessionBus) -> StoreError {
        StoreError(.keyUnavailable, bus.operation, "the keyring gave no answer")
    }
}
#endif
