import Foundation
import SignetStorage

/// Reads a picture file into memory.
///
/// It checks the type and the size of the file first.
enum PictureFile {
    /// Returns the contents of a file.
    ///
    /// Throws, without reading it, for a directory, a pipe, a device, and a file of more than ``PictureReader/maximumBytes``.
    static func contents(of path: String) throws(PictureError) -> WipedMemory {
        guard !path.utf8.contains(0) else { throw .unreadable("the name has a NUL character in it") }
        // O_NONBLOCK: opening a named pipe must not wait for its writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }

        guard let status = FileStatus(of: descriptor) else { throw failure() }
        guard status.isFile else { throw .unreadable("it is not a regular file") }
        try PictureReader.checkSize(status.size)
        return try contents(of: descriptor, count: status.size)
    }

    private static func contents(of descriptor: CInt, count: Int) throws(PictureError) -> WipedMemory {
        let file = WipedMemory(count: count)
        try file.withBytes { (bytes) throws(PictureError) in
            var filled = 0
            while filled < count {
                let got = read(descriptor, bytes.baseAddress?.advanced(by: filled), count - filled)
                if got < 0 && errno == EINTR { continue }
                guard got >= 0 else { throw failure() }
                guard got > 0 else { throw .unreadable("it became shorter while it was read") }
                filled += got
            }
        }
        return file
    }

    private static func failure() -> PictureError {
        switch errno {
        case ENOENT: .notThere
        case EACCES, EPERM: .denied
        default: .unreadable(String(cString: strerror(errno)))
        }
    }
}
