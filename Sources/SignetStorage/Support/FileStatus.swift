import Foundation

/// The metadata of a file: type, permissions, owner and size.
package struct FileStatus: Sendable {
    package let isFile: Bool
    package let isDirectory: Bool
    package let isLink: Bool
    /// The permission bits of the file's mode.
    package let permissions: UInt32
    /// True when the file belongs to the effective user of this process.
    package let isOwn: Bool
    /// The size of the file in bytes.
    package let size: Int
    /// The numbers of the file system and of the file in it, by which two paths are known to lead to one file.
    package let identity: Identity

    /// The identity of a file.
    package struct Identity: Sendable, Hashable {
        private let device: UInt64
        private let inode: UInt64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    /// Reads the status of an open file; nil if the system call fails.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the status of the file at a path, or of the link itself; nil if the system call fails.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - followsLinks: Pass true to read the status of the file that a symbolic link leads to.
    package init?(at path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isFile = status.st_mode & S_IFMT == S_IFREG
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isLink = status.st_mode & S_IFMT == S_IFLNK
        permissions = UInt32(status.st_mode) & 0o7777
        isOwn = status.st_uid == geteuid()
        size = Int(status.st_size)
        identity = Identity(status)
    }
}
