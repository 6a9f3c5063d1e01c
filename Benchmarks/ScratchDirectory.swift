import Foundation

/// A directory for one measurement.
struct ScratchDirectory {
    let path: String

    init() throws {
        let name = "signet-bench-\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: 0 ... .max))"
        let url = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path(percentEncoded: false)
    }

    /// Removes it and what is in it.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
