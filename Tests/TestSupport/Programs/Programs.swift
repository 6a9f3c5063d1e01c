import Foundation

/// Finds programs.
package enum Programs {
    /// Returns the names that have no executable in `PATH`.
    package static func missing(_ names: [String]) -> [String] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return names.filter { name in
            !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }

    /// Returns the path of what `scripts/setup` installs outside of the repository, below the folder of all build products.
    package static func installed(_ path: String) -> String {
        (ProcessInfo.processInfo.environment["SIGNET_SCRATCH"] ?? "/var/tmp/signet") + "/" + path
    }

    /// Returns the path of a program of this package, which the build puts next to the tests.
    ///
    /// When the program has not been built, the returned path does not exist, and starting it fails with an error that contains
    /// the path.
    package static func built(_ name: String) -> String {
        for start in ["/proc/self/exe"] + CommandLine.arguments {
            var folder = URL(filePath: start).resolvingSymlinksInPath().deletingLastPathComponent()
            while folder.pathComponents.count > 1 {
                let path = folder.appending(path: name).path(percentEncoded: false)
                var isFolder = ObjCBool(false)
                if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
                    FileManager.default.isExecutableFile(atPath: path)
                {
                    return path
                }
                folder.deleteLastPathComponent()
            }
        }
        return "/not built/\(name)"
    }
}
