/// A place for one item: a token, a session, a set of settings.
///
/// ``KeychainStorage`` and ``MemoryStorage`` come with the package. For any other place write a class or an actor with these
/// three methods; ``StorageDelegate`` puts a cache in front of it and keeps its calls apart.
///
/// A storage need not be Sendable. Its methods run where the caller is, and who owns the storage decides where that is: a plain
/// class with a mutable property is a correct storage, and may be sent to an actor once. To share one between tasks, make it
/// an actor, as the built-in storages are.
public protocol Storage<T> {
    /// What is stored.
    associatedtype T: Codable

    /// Stores `item` in place of what was there. When it throws, the old item must still be there or the new one: never
    /// neither, and never a part.
    func save(item: sending T) async throws
    /// The item; nil only when it is certain that there is none. What cannot be read is an error.
    func get() async throws -> T?
    /// Removes the item. It is no error when there is none.
    func delete() async throws
}
