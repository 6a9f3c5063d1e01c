#if os(Linux)
import Glibc

/// A disk of a few kilobytes in memory, to be full on purpose.
package struct SmallDisk: Sendable {
    package let path: String

    /// Whether one can be mounted here: it takes root, and a container that allows it.
    package static let isPossible: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        defer { directory.remove() }
        guard let disk = try? SmallDisk(at: directory.file("disk"), kilobytes: 64) else { return false }
        disk.unmount()
        return true
    }()

    /// Runs `body` with an empty disk at `path`, which is made.
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
        // Also while somebody still has a file of it open.
        let detach: Int32 = 2
        umount2(path, detach)
    }

    /// Leaves no byte.
    package func fill() throws(CannotStart) {
        let descriptor = open(path + "/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CannotStart("\(path)/filler", error: errno) }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        guard errno == ENOSPC else { throw CannotStart("\(path)/filler", error: errno) }
    }

    /// Takes back what ``fill()`` took.
    package func empty() { unlink(path + "/filler") }
}
#endif
