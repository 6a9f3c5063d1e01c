#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the system says of a file.
package struct FileStatus: Sendable {
    package let isFile: Bool
    package let isDirectory: Bool
    /// The bits of its mode that say who may do what.
    package let permissions: UInt32
    /// Whether it belongs to the user that this process runs as.
    package let isOwn: Bool
    /// In bytes.
    package let size: Int

    /// Of an open file; nil when the system does not say.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of a path, and of a link itself; nil when the system does not say.
    package init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isFile = status.st_mode & S_IFMT == S_IFREG
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        permissions = UInt32(status.st_mode) & 0o7777
        isOwn = status.st_uid == geteuid()
        size = Int(status.st_size)
    }
}
