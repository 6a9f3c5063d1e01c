#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that a service manager hands to a process. Unlike a ``PrivateFile``, it may belong to root.
package enum CredentialFile {
    /// Reads the file `name` of at most `limit` bytes in `directory`. Returns nil when the file or the directory does not exist.
    /// - Throws: ``StoreError/Code/insecurePermissions`` when another user could have read or written the file.
    package static func contents(_ name: String, in directory: String, limit: Int) throws(StoreError) -> [UInt8]? {
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return try absent("open \(directory)") }
        defer { close(folder) }
        try check(folder, directory, type: S_IFDIR)
        let path = "\(directory)/\(name)"
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return try absent("open \(path)") }
        defer { close(file) }
        try check(file, path, type: S_IFREG)
        return try PrivateFile.contents(of: file, path, limit: limit)
    }

    private static func absent(_ operation: String) throws(StoreError) -> [UInt8]? {
        if errno == ENOENT { return nil }
        throw PrivateFile.failure(operation)
    }

    private static func check(_ descriptor: Int32, _ path: String, type: mode_t) throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateFile.failure("examine \(path)") }
        func refuse(_ reason: String) -> StoreError { StoreError(.insecurePermissions, "open \(path)", reason) }
        guard status.st_mode & S_IFMT == type else { throw refuse("it is not a regular file") }
        guard type == S_IFDIR || status.st_nlink == 1 else { throw refuse("it has a second name (hard link)") }
        let isOurs = status.st_uid == geteuid()
        guard isOurs || status.st_uid == 0 else { throw refuse("it belongs to another user (uid \(status.st_uid))") }
        // For a directory, read permission only reveals names. The rule is the same as for files, to keep it simple.
        let forbidden: mode_t = isOurs ? 0o077 : 0o027
        guard status.st_mode & forbidden == 0 else {
            throw refuse("others can reach it (mode 0\(String(status.st_mode & 0o7777, radix: 8)))")
        }
    }
}
