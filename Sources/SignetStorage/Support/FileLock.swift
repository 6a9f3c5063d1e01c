import Foundation
import SignetCore

/// A lock that all processes of a user share, with a count of the changes that were made under it.
///
/// Lock and count share one small file. The lock is a file lock, which the system releases when the process ends for any reason.
/// The count is the length of the file, which is read with one system call and without waiting.
package final class FileLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// Serializes the tasks of this process, because the system's file lock only separates processes.
    private let taskLock = AsyncLock()

    /// The length, in bytes, at which the file is truncated to zero.
    ///
    /// Each change adds one byte.
    private static let maxLength: off_t = 1 << 20

    /// Opens the file.
    ///
    /// Creates a missing file with mode 0600, and a missing directory with mode 0700.
    /// - Throws: ``StoreError/Code/insecurePermissions`` when other users can access the file; ``StoreError/Code/denied``,
    ///   ``StoreError/Code/failed``.
    package init(path: String) throws(StoreError) {
        try PrivateFile.createDirectory(PrivateFile.directory(of: path))
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.failure("open \(path)") }
        do {
            try PrivateFile.check(path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// The number of changes.
    ///
    /// Only compare it with an earlier value of the same lock.
    package var generation: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
    }

    /// Counts a change, so that other processes notice it.
    ///
    /// The caller must hold the lock.
    package func incrementGeneration() {
        if generation >= Self.maxLength { ftruncate(descriptor, 0) }
        var byte = UInt8(ascii: ".")
        // On a full disk, other processes notice the change only when their own token expires.
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
        try await acquire(timeout: timeout)
        defer { flock(descriptor, LOCK_UN) }
        return try await body()
    }

    /// Polls for the lock with pauses that grow from 1 to 50 milliseconds.
    ///
    /// A thread that blocks in the system call could not be interrupted.
    private func acquire(timeout: Duration) async throws(StoreError) {
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
struct DirectoryLock {
    private let descriptor: Int32

    /// Waits at most `timeout` seconds for other holders, and takes the lock.
    /// - Throws: ``StoreError/Code/busy`` when another process still holds the lock.
    init(_ path: String, timeout: Double) throws(StoreError) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFile.failure("open \(path)") }
        let end = ContinuousClock.now + .seconds(timeout)
        do throws(StoreError) {
            while try !FileLock.tryLock(descriptor, path) {
                guard ContinuousClock.now < end else {
                    throw StoreError(.busy, "lock \(path)", "another process is creating a vault or a key in it")
                }
                usleep(10_000)
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    func release() { close(descriptor) }
}
