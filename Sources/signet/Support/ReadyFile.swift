import SignetCore
import SignetStorage

/// The file with which `signet serve` tells other programs that it is ready, and how to reach it.
///
/// It contains passwords and a link to the console, so only its owner can access it, from the moment it exists. It appears under
/// its name with its whole content, and is removed when the server ends.
struct ReadyFile {
    private let path: String

    /// Removes the file of an earlier server, so that it isn't taken for the new one's.
    /// - Throws: ``Failure`` when the path is empty, or that of anything else than such a file or an empty one.
    init(at path: String) throws {
        self.path = path
        try TransferFile.checkIsFree(path, replacing: true)
        guard FileStatus(at: path) != nil else { return }
        let content = try TransferFile.contents(of: path, limit: 1 << 20)
        guard let content, content.isEmpty || (try? JSON.value(of: content))?["url"]?.string != nil else {
            throw Failure(.notAllowed, "readyFile", "\(path) was not written by 'signet serve', and was left as it is")
        }
        PrivateFile.remove(path)
    }

    /// Writes the content, as one line of JSON.
    func write(_ ready: JSONValue) throws {
        try TransferFile.write(Array("\(JSONText.line(ready))\n".utf8), to: path, replacing: true)
    }

    /// Removes the file.
    func remove() { PrivateFile.remove(path) }
}
