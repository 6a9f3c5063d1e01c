import SignetCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock that all processes of a user share, and a count of the changes that were made under it.
///
/// Both are one small file. The lock is the file's, which the system releases when a process ends, however it ends; the count is the
/// file's length, which is read with one system call and without waiting.
package final class FileLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// Keeps the tasks of this process apart; the system's lock keeps processes apart only.
    private let taskLock = AsyncLock()

    /// The length at which the file is emptied: a byte is a change.
    private static let maxLength: off_t = 1 << 20

    /// Opens the file, and makes it, with mode 0600, and its directory, with 0700, where they are not there.
    /// - Throws: ``StoreError/Code/unsafePlace`` when others can reach it; ``StoreError/Code/denied``, ``StoreError/Code/failed``.
    package init(path: String) throws(StoreError) {
        _ = try PrivateFile.createDirectory(PrivateFile.directory(of: path))
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

    /// The number of changes; only ever compared with itself.
    package var generation: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
    }

    /// Counts a change, so that other processes notice it. The caller holds the lock.
    package func incrementGeneration() {
        if generation >= Self.maxLength { ftruncate(descriptor, 0) }
        var byte = UInt8(ascii: ".")
        // On a full disk other processes don't notice the change at once, but when their own token ends.
        _ = write(descriptor, &byte, 1)
    }

    /// Runs `body` while no other task and no other process holds the lock.
    /// - Parameter timeout: The time that other processes are waited for. Tasks of this process are waited for as long as it takes.
    /// - Throws: ``StoreError/Code/busy`` when another process held the lock for so long.
    package func withLock<Value>(
        timeout: Duration, _ body: () async -> Value
    ) async throws(StoreError) -> Value {
        await taskLock.lock()
        defer { taskLock.unlock() }
        try await acquire(timeout: timeout)
        defer { flock(descriptor, LOCK_UN) }
        return await body()
    }

    /// Polls, at most twenty times a second after the first tries: a thread that waits in the system could not be interrupted.
    private func acquire(timeout: Duration) async throws(StoreError) {
        let end = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(1)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { throw PrivateFile.failure("lock \(path)") }
            guard ContinuousClock.now < end else {
                throw StoreError(.busy, "lock \(path)", "another process has held it for \(timeout); try again")
            }
            // In a task of its own, so that a canceled caller waits too and does not spin.
            await Task.detached { [pause] in try? await Task.sleep(for: pause) }.value
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}
