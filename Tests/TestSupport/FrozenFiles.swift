package import Foundation

/// Files of a vault or a server state that a test opens, and must not change in the fixtures.
package enum FrozenFiles {
    /// Copies files into a new directory, with the modes that a vault and a server require: 0700, and 0600 for each file.
    /// - Parameters:
    ///   - names: The names of the files.
    ///   - folder: The folder of the fixtures.
    ///   - path: The path of the new directory.
    /// - Throws: The error of the file system.
    package static func copy(_ names: [String], from folder: URL, to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in names {
            let copy = "\(path)/\(name)"
            try FileManager.default.copyItem(atPath: folder.appending(path: name).path, toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
        }
    }
}
