import Foundation
import SignetStorage

/// Reads and writes files with private keys, and the directory that contains them.
enum PrivateFiles {
    /// The maximum size of a file, in bytes.
    private static let maxSize = 1 << 20

    /// Reads a file.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - forbidden: The permission bits that must not be set.
    ///   - mustBeOwn: True when the file must belong to this user and must not be a symbolic link, so that no other user can
    ///     choose its contents.
    /// - Returns: The bytes; nil when the file doesn't exist.
    /// - Throws: ``ServerTLSError`` when the file cannot be read, is larger than 1 MiB, has forbidden permissions, or isn't this
    ///   user's own.
    static func bytes(of path: String, forbidden: UInt32, mustBeOwn: Bool = false) throws(ServerTLSError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (mustBeOwn ? O_NOFOLLOW : 0))
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP where mustBeOwn: throw ServerTLSError("\(path) is a symbolic link, and must be a file: replace the link")
            default: throw failure(path, "cannot be read")
            }
        }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor) else { throw failure(path, "cannot be read") }
        guard status.isFile else { throw ServerTLSError("\(path) is not a file") }
        guard status.isOwn || !mustBeOwn else {
            throw ServerTLSError(
                "\(path) belongs to another user, and that user could replace it: remove it, or change its owner")
        }
        guard status.permissions & forbidden == 0 else {
            throw ServerTLSError("\(path) is open to others, and a key must not be: chmod 600 \(path)")
        }
        guard status.size <= maxSize else { throw ServerTLSError("\(path) is too large for a certificate or a key") }
        return try attempt(path, "cannot be read") { () throws(StoreError) in
            try PrivateFile.contents(of: descriptor, path, limit: maxSize)
        }
    }

    /// Replaces a file atomically: a reader sees either the old or the new contents.
    /// - Throws: ``ServerTLSError`` when the file cannot be written. The old file is kept then.
    static func replace(_ path: String, with text: String, mode: UInt16) throws(ServerTLSError) {
        let draft = "\(path).new"
        PrivateFile.remove(draft)
        // After the move, the draft does not exist any more.
        defer { PrivateFile.remove(draft) }
        try attempt(draft, "cannot be written") { () throws(StoreError) in
            try PrivateFile.create(draft, containing: Array(text.utf8), mode: mode)
        }
        try attempt(path, "cannot be written") { () throws(StoreError) in try PrivateFile.move(draft, to: path) }
    }

    /// Runs `body` with an exclusive lock on a directory.
    ///
    /// The directory is created if it is missing. It must belong to this user, must not be writable for others, and must not be a
    /// symbolic link.
    static func withLock<R>(on path: String, _ body: () throws(ServerTLSError) -> R) throws(ServerTLSError) -> R {
        // With a slash at its end, the path would name the target of a link.
        let directory = path.count > 1 && path.hasSuffix("/") ? String(path.prefix(path.count - 1)) : path
        try attempt(directory, "cannot be made") { () throws(StoreError) in try PrivateFile.createDirectory(directory) }
        guard let status = FileStatus(at: directory) else { throw failure(directory, "cannot be used") }
        guard !status.isLink else {
            throw ServerTLSError("\(directory) is a symbolic link: name the directory itself")
        }
        guard status.isDirectory else { throw ServerTLSError("\(directory) is not a directory") }
        guard status.isOwn, status.permissions & 0o022 == 0 else {
            throw ServerTLSError(
                "\(directory) belongs to another user or can be written by others, so keys can't be stored there: "
                    + "name another directory, or run chmod 700 on your own")
        }
        let lock = try attempt(directory, "cannot be locked") { () throws(StoreError) in
            try DirectoryLock(directory, timeout: 60)
        }
        defer { lock.release() }
        return try body()
    }

    private static func attempt<R>(
        _ path: String, _ what: String, _ body: () throws(StoreError) -> R
    ) throws(ServerTLSError) -> R {
        do throws(StoreError) {
            return try body()
        } catch {
            throw ServerTLSError("\(path) \(what): \(error.reason)")
        }
    }

    private static func failure(_ path: String, _ what: String) -> ServerTLSError {
        ServerTLSError("\(path) \(what): \(String(cString: strerror(errno)))")
    }
}
