import Foundation

/// Creates, reads and checks files and directories that only this user can access.
///
/// Where possible, checks use open descriptors. Unsafe permissions are reported and never repaired silently: a user whose key was
/// readable by others should know it.
package enum PrivateFile {
    /// Creates the file `path` and makes it and its directory entry durable.
    ///
    /// Removes the file again when a step fails.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - bytes: The contents.
    ///   - mode: The permissions. A file that others may read is private until it is complete.
    /// - Throws: ``StoreError/Code/invalid`` when the directory does not exist; ``StoreError/Code/exists`` when the file exists;
    ///   other errors of the system.
    package static func create(_ path: String, containing bytes: [UInt8], mode: UInt16 = 0o600) throws(StoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? StoreError(.invalid, "create \(path)", "there is no such directory", status: ENOENT) : failure("create \(path)")
        }
        do throws(StoreError) {
            defer { close(descriptor) }
            try writeAll(bytes, to: descriptor, path)
            guard mode == 0o600 || fchmod(descriptor, mode_t(mode)) == 0, fsync(descriptor) == 0 else {
                throw failure("write \(path)")
            }
            try synchronizeDirectory(of: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Reads a private file of at most `limit` bytes.
    /// - Throws: ``StoreError/Code/corrupt`` when the file is longer; ``StoreError/Code/insecurePermissions`` when it is not private.
    package static func contents(of path: String, limit: Int) throws(StoreError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { close(descriptor) }
        try check(descriptor, path, type: S_IFREG)
        return try contents(of: descriptor, path, limit: limit)
    }

    /// Reads the rest of an open file, at most `limit` bytes.
    package static func contents(of descriptor: Int32, _ path: String, limit: Int) throws(StoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure("read \(path)") }
            guard more > 0 else { break }
            count += more
        }
        guard count <= limit else { throw StoreError(.corrupt, "read \(path)", "longer than \(limit) bytes") }
        return Array(bytes[..<count])
    }

    /// Checks that `path` is a regular file of this user, not a link, and that other users cannot access it.
    ///
    /// The file is not opened. Closing any descriptor of a file releases all locks that this process has on it, so SQLite would
    /// lose its own ("How To Corrupt An SQLite Database File", section 2.2).
    package static func check(_ path: String) throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("open \(path)") }
        try check(status, path, type: S_IFREG)
    }

    /// Checks that `path` is a directory of this user, not a link, and that other users cannot access it.
    package static func checkDirectory(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { close(descriptor) }
        try check(descriptor, path, type: S_IFDIR)
    }

    /// Returns true when a file, directory or link exists at `path`.
    ///
    /// A dangling link counts.
    package static func exists(_ path: String) -> Bool {
        FileStatus(at: path) != nil
    }

    /// Returns true when an empty regular file exists at `path`, for example one that was created and never written.
    package static func isEmpty(_ path: String) -> Bool {
        FileStatus(at: path).map { $0.isFile && $0.size == 0 } ?? false
    }

    /// Creates the directory `path` with mode 0700, and its missing parents.
    ///
    /// Does nothing when `path` exists.
    package static func createDirectory(_ path: String) throws(StoreError) {
        if exists(path) { return }
        let parent = directory(of: path)
        if parent != path { try createDirectory(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("create \(path)") }
    }

    /// Returns `path` and those of its parents that do not exist, the deepest first.
    package static func missingDirectories(_ path: String) -> [String] {
        guard !exists(path) else { return [] }
        let parent = directory(of: path)
        return [path] + (parent == path ? [] : missingDirectories(parent))
    }

    /// Removes a directory if it is empty.
    ///
    /// Ignores errors.
    package static func removeIfEmpty(_ path: String) {
        rmdir(path)
    }

    /// Renames a file within one directory and makes the change durable.
    /// - Throws: ``StoreError/Code/outcomeUnknown`` when the file was renamed but the disk did not confirm it.
    package static func move(_ path: String, to target: String) throws(StoreError) {
        guard rename(path, target) == 0 else { throw failure("create \(target)") }
        try confirm(target)
    }

    /// Gives a file a second name in its directory.
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The path with the second name.
    /// - Throws: ``StoreError/Code/exists`` when there is a file with this name; other errors of the system.
    static func link(_ path: String, as name: String) throws(StoreError) {
        guard Foundation.link(path, name) == 0 else { throw failure("create \(name)") }
    }

    /// Makes the new name of a file durable.
    /// - Throws: ``StoreError/Code/outcomeUnknown`` when the disk did not confirm it.
    package static func confirm(_ path: String) throws(StoreError) {
        do throws(StoreError) {
            try synchronizeDirectory(of: path)
        } catch {
            throw StoreError(
                .outcomeUnknown, error.operation, "\(path) is there, but the disk did not confirm it",
                status: error.platformStatus)
        }
    }

    /// Removes a file.
    ///
    /// Ignores errors.
    package static func remove(_ path: String) {
        unlink(path)
    }

    /// Removes an SQLite file and the files that SQLite keeps beside it.
    ///
    /// Ignores errors like ``remove(_:)``.
    package static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// Returns the part of `path` before its last `/`.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the entries of the directory that contains `path` durable.
    private static func synchronizeDirectory(of path: String) throws(StoreError) {
        let descriptor = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(directory(of: path))") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write \(directory(of: path))") }
    }

    /// Checks that no other user can reach an open file or directory.
    /// - Parameters:
    ///   - descriptor: The open file or directory.
    ///   - path: The path, for errors.
    ///   - type: The required type, for example `S_IFREG`.
    ///   - mayBelongToRoot: Pass true to accept a file of root that its group can read too.
    /// - Throws: `StoreError` when the type, the owner or the permissions are wrong.
    static func check(
        _ descriptor: Int32, _ path: String, type: mode_t, mayBelongToRoot: Bool = false
    ) throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("examine \(path)") }
        try check(status, path, type: type, mayBelongToRoot: mayBelongToRoot)
    }

    private static func check(
        _ status: stat, _ path: String, type: mode_t, mayBelongToRoot: Bool = false
    ) throws(StoreError) {
        func refuse(_ reason: String) -> StoreError { StoreError(.insecurePermissions, "open \(path)", reason) }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw refuse("it is a link") }
        guard status.st_mode & S_IFMT == type else {
            throw refuse(type == S_IFDIR ? "it is not a directory" : "it is not a regular file")
        }
        let isOurs = status.st_uid == geteuid()
        guard isOurs || mayBelongToRoot && status.st_uid == 0 else {
            throw refuse("it belongs to another user (uid \(status.st_uid))")
        }
        guard status.st_mode & (isOurs ? 0o077 : 0o027) == 0 else {
            let fix = type == S_IFDIR ? "chmod 700" : "chmod 600"
            throw refuse(
                "others can reach it (mode 0\(String(status.st_mode & 0o7777, radix: 8))); if no other user has read it, \(fix) it"
            )
        }
        guard type == S_IFDIR || status.st_nlink == 1 else { throw refuse("it has a second name (hard link)") }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write \(path)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the current `errno` as an error.
    static func failure(_ operation: String) -> StoreError {
        let status = errno
        switch status {
        case ENOENT: return StoreError(.notFound, operation, "it does not exist", status: status)
        case EEXIST: return StoreError(.exists, operation, "it exists already; nothing was changed", status: status)
        case ELOOP, ENOTDIR:
            return StoreError(.insecurePermissions, operation, "it is a link, or not a directory", status: status)
        case EACCES, EPERM, EROFS: return StoreError(.denied, operation, "the system does not allow it", status: status)
        case ENOSPC, EDQUOT: return StoreError(.full, operation, "no space is left; nothing was changed", status: status)
        default: return StoreError(.failed, operation, String(cString: strerror(status)), status: status)
        }
    }
}
