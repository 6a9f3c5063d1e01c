import Foundation
import SignetCore

/// A lock that all processes of a user share, with a count of the changes that were made under it.
///
/// Lock and count share one small file. The lock is a file lock, which the system releases when the process ends for any reason.
/// The count is the length of the file, which is read with one system call and without waiting.
package final class FileLock: Sendable {
    private let path: String
    /// The open file; nil while it does not exist.
    private let file = Mutex<Int32?>(nil)
    /// Serializes the tasks of this process, because the system's file lock only separates processes.
    private let taskLock = AsyncLock()

    /// The length, in bytes, at which the file is truncated to zero.
    ///
    /// Each change adds one byte.
    private static let maxLength: off_t = 1 << 20

    /// Opens the file if it exists.
    ///
    /// A missing file is created when the lock is first taken or a change is first counted, with mode 0600, and a missing
    /// directory with mode 0700.
    /// - Throws: ``StoreError/Code/insecurePermissions`` when other users can access the file; ``StoreError/Code/denied``,
    ///   ``StoreError/Code/failed``.
    package init(path: String) throws(StoreError) {
        self.path = path
        _ = try descriptor(creating: false)
    }

    deinit { if let descriptor = file.withLock({ $0 }) { close(descriptor) } }

    /// Returns the open file; nil when it does not exist and must not be created.
    private func descriptor(creating: Bool) throws(StoreError) -> Int32? {
        try file.withLock { (file) throws(StoreError) -> Int32? in
            if let descriptor = file { return descriptor }
            if creating { try PrivateFile.createDirectory(PrivateFile.directory(of: path)) }
            let descriptor = open(path, O_RDWR | (creating ? O_CREAT : 0) | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0o600)
            guard descriptor >= 0 else {
                if errno == ENOENT, !creating { return nil }
                throw PrivateFile.failure("open \(path)")
            }
            do throws(StoreError) {
                try PrivateFile.check(path)
            } catch {
                close(descriptor)
                throw error
            }
            file = descriptor
            return descriptor
        }
    }

    /// The number of changes.
    ///
    /// Only compare it with an earlier value of the same lock.
    package var generation: Int64 {
        do throws(StoreError) {
            guard let descriptor = try descriptor(creating: false) else { return 0 }
            var status = stat()
            return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
        } catch {
            return -1
        }
    }

    /// Counts a change, so that other processes notice it.
    ///
    /// The caller must hold the lock.
    package func incrementGeneration() {
        // On a full disk, other processes notice the change only when their own token expires.
        guard let descriptor = try? descriptor(creating: true) else { return }
        if generation >= Self.maxLength { ftruncate(descriptor, 0) }
        var byte = UInt8(ascii: ".")
        _ = write(descriptor, &byte, 1)
    }

    /// Runs `body` while no other task and no other process holds the lock.
    /// - Parameters:
    ///   - timeout: The time to wait for other processes. The wait for tasks of this process has no limit.
    ///   - body: The work that needs the lock.
    /// - Returns: The value that `body` returns.
    /// - Throws: ``StoreError/Code/busy`` when another process held the lock for that long; the error of `body`.
    package func withLock<Value>(timeout: Duration, _ body: () async throws -> Value) async throws -> Value {
        await taskLock.lock()
        defer { taskLock.unlock() }
        guard let descriptor = try descriptor(creating: true) else {
            throw StoreError(.failed, "lock \(path)", "it cannot be created")
        }
        try await acquire(descriptor, timeout: timeout)
        defer { flock(descriptor, LOCK_UN) }
        return try await body()
    }

    /// Polls for the lock with pauses that grow from 1 to 50 milliseconds.
    ///
    /// A thread that blocks in the system call could not be interrupted.
    private func acquire(_ descriptor: Int32, timeout: Duration) async throws(StoreError) {
        let end = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(1)
        while try !Self.tryLock(descriptor, path) {
            guard ContinuousClock.now < end else {
                throw StoreError(.busy, "lock \(path)", "another process has held it for \(timeout); try again")
            }
            // The sleep runs in a task of its own, so that a canceled caller waits too instead of spinning.
            await Task.detached { [pause] in try? await Task.sleep(for: pause) }.value
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Takes the system's lock on an open file or directory without waiting.
    ///
    /// Returns false when another process holds it.
    fileprivate static func tryLock(_ descriptor: Int32, _ path: String) throws(StoreError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EINTR || errno == EWOULDBLOCK else { throw PrivateFile.failure("lock \(path)") }
        return false
    }
}

/// A lock on a directory that allows one process at a time to create or reset what is in it.
///
/// The system releases it when the process ends.
package struct DirectoryLock {
    private let descriptor: Int32

    /// Waits at most `timeout` seconds for other holders, and takes the lock.
    /// - Throws: ``StoreError/Code/busy`` when another process still holds the lock.
    package init(_ path: String, timeout: Double) throws(StoreError) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFile.failure("open \(path)") }
        let end = ContinuousClock.now + .seconds(timeout)
        do throws(StoreError) {
            while try !FileLock.tryLock(descriptor, path) {
                guard ContinuousClock.now < end else {
                    throw StoreError(.busy, "lock \(path)", "another process is creating files in it")
                }
                usleep(10_000)
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Releases the lock.
    package func release() { close(descriptor) }

    /// True when the directory at `path` is the locked one: it was not removed while this process waited.
    func isHeld(at path: String) -> Bool {
        var (locked, found) = (stat(), stat())
        return fstat(descriptor, &locked) == 0 && lstat(path, &found) == 0 && locked.st_dev == found.st_dev
            && locked.st_ino == found.st_ino
    }
}
