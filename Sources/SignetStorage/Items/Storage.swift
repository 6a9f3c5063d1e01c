/// A place for one item, such as a token, a session or a set of settings.
///
/// ``KeychainStorage`` and ``MemoryStorage`` are part of the package. For any other place, write a class or an actor with these
/// three methods. ``StorageDelegate`` adds a cache to it and serializes its calls.
///
/// A storage need not be Sendable. Its methods run in the isolation of the caller. A plain class with a mutable property is a
/// correct storage, and can be sent to an actor once. To share a storage between tasks, make it an actor, like the storages of
/// this package.
public protocol Storage<T> {
    /// The type of the item.
    associatedtype T: Codable

    /// Stores `item` in place of the old item. When it throws, the storage must still hold either the whole old item or the whole
    /// new one.
    func save(item: sending T) async throws
    /// Returns the item, or nil if the storage is empty. It throws when the item cannot be read.
    func get() async throws -> T?
    /// Removes the item. Does nothing if it does not exist.
    func delete() async throws
}
