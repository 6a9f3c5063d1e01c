import Foundation

/// A file that a service manager hands to a process.
///
/// Unlike a ``PrivateFile``, it may belong to root.
package enum CredentialFile {
    /// Reads the file `name` of at most `limit` bytes in `directory`.
    ///
    /// Returns nil when the file or the directory does not exist.
    /// - Throws: ``StoreError/Code/insecurePermissions`` when another user could have read or written the file.
    package static func contents(_ name: String, in directory: String, limit: Int) throws(StoreError) -> [UInt8]? {
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return try absent("open \(directory)") }
        defer { close(folder) }
        try PrivateFile.check(folder, directory, type: S_IFDIR, mayBelongToRoot: true)
        let path = "\(directory)/\(name)"
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return try absent("open \(path)") }
        defer { close(file) }
        try PrivateFile.check(file, path, type: S_IFREG, mayBelongToRoot: true)
        return try PrivateFile.contents(of: file, path, limit: limit)
    }

    private static func absent(_ operation: String) throws(StoreError) -> [UInt8]? {
        if errno == ENOENT { return nil }
        throw PrivateFile.failure(operation)
    }
}
