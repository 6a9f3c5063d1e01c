#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A turn that all processes of a user share, and a count that tells whether anybody has changed what the turn is about.
///
/// Both are one small file: its lock is the turn, which the system takes back when a process ends, however it ends; its length
/// is the count. To read the count is one system call and waits for nobody.
package final class ProcessLock: Sendable {
    private let descriptor: Int32
    private let path: String
    /// Tasks of this process go in here first: the system's lock keeps processes apart, not tasks.
    private let turns = Turns()

    /// The file is emptied when it has grown so long, a byte a change.
    private static let longest: off_t = 1 << 20

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

    /// How often something was changed; only ever compared with itself.
    package var count: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
    }

    /// Tells everybody that something was changed. Only for who has the turn.
    package func advance() {
        if count >= Self.longest { ftruncate(descriptor, 0) }
        var byte = UInt8(ascii: ".")
        // A disk that is full keeps the others from knowing at once; they find out when their own token ends.
        _ = write(descriptor, &byte, 1)
    }

    /// Runs `body` when it is this task's turn among all tasks and processes.
    /// - Parameter patience: How long other processes are waited for. The tasks of this one are waited for as long as it takes.
    /// - Throws: ``StoreError/Code/busy`` when another process held it for so long; what `body` throws.
    package func withTurn<Value>(
        patience: Duration, _ body: () async -> Value
    ) async throws(StoreError) -> Value {
        await turns.take()
        defer { turns.pass() }
        try await lock(patience: patience)
        defer { flock(descriptor, LOCK_UN) }
        return await body()
    }

    /// Asks again and again, seldom more than twenty times a second: a thread that waits in the system could not be had back.
    private func lock(patience: Duration) async throws(StoreError) {
        let end = ContinuousClock.now + patience
        var pause = Duration.milliseconds(1)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { throw PrivateFile.failure("lock \(path)") }
            guard ContinuousClock.now < end else {
                throw StoreError(.busy, "lock \(path)", "another process has held it for \(patience); try again")
            }
            // In a task of its own, so that one that was cancelled waits as well, and does not spin.
            await Task.detached { [pause] in try? await Task.sleep(for: pause) }.value
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}
