import SignetStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads and writes files with private keys, and the directory that contains them.
enum PrivateFiles {
    /// The maximum size of a file, in bytes.
    private static let largest = 1 << 20

    /// Returns the bytes of a file; nil when the file doesn't exist.
    /// - Parameter forbidden: The permission bits that must not be set.
    /// - Throws: ``ServerTLSError`` when the file cannot be read, or has forbidden permissions.
    static func bytes(of path: String, forbidden: UInt32) throws(ServerTLSError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path, "cannot be read")
        }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor) else { throw failure(path, "cannot be read") }
        guard status.isFile else { throw ServerTLSError("\(path) is no file") }
        guard status.permissions & forbidden == 0 else {
            throw ServerTLSError("\(path) is open to others, and a key must not be: chmod 600 \(path)")
        }
        guard status.size <= largest else { throw ServerTLSError("\(path) is too large for a certificate or a key") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while case let count = read(descriptor, &chunk, chunk.count), count != 0 {
            guard count > 0 else { throw failure(path, "cannot be read") }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Replaces a file atomically: a reader sees either the old or the new contents.
    /// - Throws: ``ServerTLSError`` when the file cannot be written. The old file is kept then.
    static func replace(_ path: String, with text: String, mode: mode_t) throws(ServerTLSError) {
        let draft = "\(path).new"
        guard unlink(draft) == 0 || errno == ENOENT else { throw failure(draft, "is in the way") }
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(path, "cannot be written") }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        // Set the requested mode, because `open` applies the process's umask.
        let isWritten = rest.isEmpty && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let error = failure(path, "cannot be written")
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed else {
            unlink(draft)
            throw error
        }
        do throws(StoreError) {
            try PrivateFile.move(draft, to: path)
        } catch {
            unlink(draft)
            throw ServerTLSError("\(path) cannot be written: \(error.reason)")
        }
    }

    /// Runs `body` with an exclusive lock on a directory. The directory is created if it is missing. It must belong to this user
    /// and must not be writable for others.
    static func withLock<R>(on directory: String, _ body: () throws(ServerTLSError) -> R) throws(ServerTLSError) -> R {
        try make(directory)
        guard let status = FileStatus(at: directory) else { throw failure(directory, "cannot be used") }
        guard status.isDirectory else { throw ServerTLSError("\(directory) is no directory") }
        guard status.isOwn, status.permissions & 0o022 == 0 else {
            throw ServerTLSError(
                "\(directory) belongs to another user or can be written by others, so keys can't be stored there: "
                    + "name another directory, or run chmod 700 on your own")
        }
        let lock = open("\(directory)/.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard lock >= 0 else { throw failure(directory, "cannot be used") }
        // Closing the file releases the lock.
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure(directory, "cannot be locked") }
        }
        return try body()
    }

    /// Creates a directory and its parents, accessible for this user only.
    private static func make(_ directory: String) throws(ServerTLSError) {
        var path = directory.hasPrefix("/") ? "/" : ""
        for name in directory.split(separator: "/") {
            path += path.isEmpty || path.hasSuffix("/") ? "\(name)" : "/\(name)"
            guard mkdir(path, S_IRWXU) == 0 || errno == EEXIST else { throw failure(path, "cannot be made") }
        }
    }

    private static func failure(_ path: String, _ what: String) -> ServerTLSError {
        ServerTLSError("\(path) \(what): \(String(cString: strerror(errno)))")
    }
}
