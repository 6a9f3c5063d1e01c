#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Files and directories that only this user can reach. Checks are made on open descriptors and never repaired silently:
/// who finds a key readable by others should know.
package enum PrivateFile {
    /// Makes `path` with mode 0600 and makes it and its directory entry durable. Nothing is left behind when it fails.
    /// - Throws: ``StoreError/Code/invalid`` where there is no directory for it.
    package static func create(_ path: String, containing bytes: [UInt8]) throws(StoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? StoreError(.invalid, "create \(path)", "there is no such directory", status: ENOENT) : failure("create \(path)")
        }
        do {
            defer { close(descriptor) }
            try writeAll(bytes, to: descriptor, path)
            guard fsync(descriptor) == 0 else { throw failure("write \(path)") }
        } catch let error as StoreError {
            unlink(path)
            throw error
        } catch {
            unlink(path)
            throw StoreError(.failed, "write \(path)", "failed")
        }
        do throws(StoreError) {
            try synchronizeDirectory(of: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Reads at most `limit` bytes of a private file.
    package static func contents(of path: String, limit: Int) throws(StoreError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { close(descriptor) }
        try check(descriptor, path, type: S_IFREG)
        return try contents(of: descriptor, path, limit: limit)
    }

    /// What is left to read of an open file, `limit` bytes at most.
    static func contents(of descriptor: Int32, _ path: String, limit: Int) throws(StoreError) -> [UInt8] {
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

    /// Checks that `path` is a regular file of this user that nobody else can reach, and no link.
    ///
    /// It is not opened: to close any descriptor of a file gives up all the locks that this process has on it, and SQLite
    /// would lose its own ("How To Corrupt An SQLite Database File", section 2.2).
    package static func check(_ path: String) throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("open \(path)") }
        try check(status, path, type: S_IFREG)
    }

    /// Checks that `path` is a directory of this user that nobody else can reach, and no link.
    package static func checkDirectory(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { close(descriptor) }
        try check(descriptor, path, type: S_IFDIR)
    }

    /// Whether something stands at `path`, a dangling link included.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Whether a regular file without content stands at `path`: what is left of one that was made and never written.
    package static func isEmpty(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Makes `path` with mode 0700 unless it exists, with its parents. Returns the directories that were made, outermost first.
    package static func createDirectory(_ path: String) throws(StoreError) -> [String] {
        if exists(path) { return [] }
        let parent = directory(of: path)
        var made = parent == path ? [] : try createDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("create \(path)") }
        made.append(path)
        return made
    }

    /// Renames within one directory and makes the change durable.
    /// - Throws: ``StoreError/Code/outcomeUnknown`` when the new name is there, and the disk did not confirm it.
    package static func move(_ path: String, to target: String) throws(StoreError) {
        guard rename(path, target) == 0 else { throw failure("create \(target)") }
        do throws(StoreError) {
            try synchronizeDirectory(of: target)
        } catch {
            throw StoreError(
                .outcomeUnknown, error.operation, "\(target) is there, but the disk did not confirm it",
                status: error.platformStatus)
        }
    }

    /// Removes a file of ours that was never finished. That it cannot be removed is no news to anybody.
    package static func remove(_ path: String) {
        unlink(path)
    }

    /// As ``remove(_:)``, for an SQLite file and what SQLite keeps beside it.
    package static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// The part of `path` before its last `/`.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes durable which names the directory of `path` has.
    package static func synchronizeDirectory(of path: String) throws(StoreError) {
        let descriptor = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(directory(of: path))") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write \(directory(of: path))") }
    }

    private static func check(_ descriptor: Int32, _ path: String, type: mode_t) throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("examine \(path)") }
        try check(status, path, type: type)
    }

    private static func check(_ status: stat, _ path: String, type: mode_t) throws(StoreError) {
        func refuse(_ reason: String) -> StoreError { StoreError(.unsafePlace, "open \(path)", reason) }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw refuse("it is a link") }
        guard status.st_mode & S_IFMT == type else {
            throw refuse(type == S_IFDIR ? "it is not a directory" : "it is not a regular file")
        }
        guard status.st_uid == geteuid() else { throw refuse("it belongs to another user (uid \(status.st_uid))") }
        guard status.st_mode & 0o077 == 0 else {
            let fix = type == S_IFDIR ? "chmod 700" : "chmod 600"
            throw refuse("others can reach it (mode 0\(String(status.st_mode & 0o7777, radix: 8))); if nobody has, \(fix) it")
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

    /// The present `errno` as an error.
    static func failure(_ operation: String) -> StoreError {
        let status = errno
        switch status {
        case ENOENT: return StoreError(.noVault, operation, "it does not exist", status: status)
        case EEXIST: return StoreError(.exists, operation, "it exists already; nothing was changed", status: status)
        case ELOOP, ENOTDIR: return StoreError(.unsafePlace, operation, "it is a link, or not a directory", status: status)
        case EACCES, EPERM, EROFS: return StoreError(.denied, operation, "the system does not allow it", status: status)
        case ENOSPC, EDQUOT: return StoreError(.full, operation, "no space is left; nothing was changed", status: status)
        default: return StoreError(.failed, operation, String(cString: strerror(status)), status: status)
        }
    }
}

/// The right to make a vault in a directory: one process at a time. The system takes it back when the process ends.
struct DirectoryLock {
    private let descriptor: Int32

    /// Waits until nobody else holds it, `patience` seconds at most.
    init(_ path: String, patience: Double) throws(StoreError) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFile.failure("open \(path)") }
        let end = ContinuousClock.now + .seconds(patience)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK, ContinuousClock.now < end else {
                let isHeld = errno == EWOULDBLOCK
                let failure = PrivateFile.failure("lock \(path)")
                close(descriptor)
                throw isHeld ? StoreError(.busy, "create vault", "another process is making a vault in \(path)") : failure
            }
            usleep(10_000)
        }
    }

    func release() {
        close(descriptor)
    }
}
