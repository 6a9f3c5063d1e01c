#if os(Linux)
import Glibc
import SignetTesting

/// A file system of a few kilobytes in memory, for tests of a full disk.
package struct SmallDisk: Sendable {
    package let path: String

    /// A Boolean value that indicates whether such a file system can be mounted here.
    ///
    /// Mounting requires root, and a container that permits it.
    package static let isPossible: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        defer { directory.remove() }
        guard let disk = try? SmallDisk(at: directory.file("disk"), kilobytes: 64) else { return false }
        disk.unmount()
        return true
    }()

    /// Creates the directory `path`, runs `body` with an empty file system mounted there, and unmounts it afterwards.
    package static func with<R>(
        _ path: String, kilobytes: Int, _ body: (SmallDisk) async throws -> sending R
    ) async throws -> sending R {
        let disk = try SmallDisk(at: path, kilobytes: kilobytes)
        defer { disk.unmount() }
        return try await body(disk)
    }

    private init(at path: String, kilobytes: Int) throws(CannotStart) {
        self.path = path
        guard mkdir(path, 0o700) == 0, mount("signet-test", path, "tmpfs", 0, "size=\(kilobytes)k,mode=700") == 0 else {
            throw CannotStart("no disk at \(path)", error: errno)
        }
    }

    private func unmount() {
        // `MNT_DETACH` unmounts the file system even while a process has one of its files open.
        let detach: Int32 = 2
        umount2(path, detach)
    }

    /// Fills the file system completely.
    /// - Throws: ``CannotStart``.
    package func fill() throws(CannotStart) {
        let descriptor = open(path + "/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CannotStart("\(path)/filler", error: errno) }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        guard errno == ENOSPC else { throw CannotStart("\(path)/filler", error: errno) }
    }

    /// Makes the file system read-only.
    ///
    /// No process may have one of its files open for writing.
    /// - Throws: ``CannotStart``.
    package func makeReadOnly() throws(CannotStart) {
        let readOnlyRemount: UInt = 1 | 32
        guard mount(nil, path, nil, readOnlyRemount, nil) == 0 else { throw CannotStart("read-only \(path)", error: errno) }
    }

    /// Frees the space that ``fill()`` used.
    package func empty() { unlink(path + "/filler") }
}
#endif
