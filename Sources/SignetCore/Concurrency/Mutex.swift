#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock around a value, for the time of a closure.
///
/// It has the methods of `Synchronization.Mutex`, but is a class, and its value must be copyable. That type needs iOS 18 and macOS 15,
/// and the thread sanitizer does not see it on Linux. Its methods can be compiled into their callers, because a listing takes the vault's
/// lock for each record. See docs/decisions/002-own-mutex.md.
package final class Mutex<Value>: @unchecked Sendable {
    @usableFromInline var value: Value
    /// In memory of its own, because a mutex must not move.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: consuming sending Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        Self.require(pthread_mutex_init(lock, nil))
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Runs a closure on the value while no other thread does.
    ///
    /// The closure must not use the same lock.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        acquire()
        defer { release() }
        return try body(&value)
    }

    /// Runs a closure on the value, or returns nil when another thread holds the lock.
    ///
    /// The closure must not use the same lock.
    package func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        let error = pthread_mutex_trylock(lock)
        if error == EBUSY { return nil }
        Self.require(error)
        defer { release() }
        return try body(&value)
    }

    @usableFromInline
    func acquire() {
        Self.require(pthread_mutex_lock(lock))
    }

    @usableFromInline
    func release() {
        Self.require(pthread_mutex_unlock(lock))
    }

    /// Ends the program when the system refuses a lock: to go on without it would be a data race.
    private static func require(_ error: Int32) {
        precondition(error == 0, "the mutex cannot be used: error \(error)")
    }
}
