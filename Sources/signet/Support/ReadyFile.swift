import SignetCore
import SignetStorage

/// The file with which `signet serve` tells other programs that it is ready, and how to reach it.
///
/// It contains passwords and a link to the console, so only its owner can access it, from the moment it exists. It appears under
/// its name with its whole content when the server listens, and is removed when the server ends. The file of another server is
/// replaced then, and not before, because this server may fail to start.
final class ReadyFile: Sendable {
    private let path: String
    /// The content that this server has written; nil before that.
    private let written = Mutex<[UInt8]?>(nil)

    /// Checks that the file can be written or replaced.
    /// - Throws: ``Failure`` when the path is empty, or that of anything else than such a file or an empty one.
    init(at path: String) throws {
        self.path = path
        try Self.check(path)
    }

    /// Writes the content, as one line of JSON.
    /// - Throws: ``Failure`` when the path is that of anything else than such a file by now, or the file cannot be written.
    func write(_ ready: JSONValue) throws {
        try Self.check(path)
        let content = Array("\(JSONText.line(ready))\n".utf8)
        try TransferFile.write(content, to: path, replacing: true)
        written.withLock { $0 = content }
    }

    /// Removes the file, unless another server has replaced it.
    func remove() {
        guard let content = written.withLock({ $0 }), FileStatus(at: path)?.isFile == true,
            (try? TransferFile.contents(of: path, limit: content.count)) == content
        else { return }
        PrivateFile.remove(path)
    }

    private static func check(_ path: String) throws {
        try TransferFile.checkIsFree(path, replacing: true)
        guard FileStatus(at: path) != nil else { return }
        let content = try TransferFile.contents(of: path, limit: 1 << 20)
        guard let content, content.isEmpty || (try? JSON.value(of: content))?["url"]?.string != nil else {
            throw Failure(.notAllowed, "readyFile", "\(path) was not written by 'signet serve', and was left as it is")
        }
    }
}
