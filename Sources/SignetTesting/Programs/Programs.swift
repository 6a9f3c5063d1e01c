import Foundation

/// Where programs are.
package enum Programs {
    /// Those of these names that are not in the path.
    package static func missing(_ names: [String]) -> [String] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return names.filter { name in
            !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }

    /// A program of this package, which the build puts beside the tests. When it is not built, what is returned is a name that
    /// nothing has, and starting it says so.
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
