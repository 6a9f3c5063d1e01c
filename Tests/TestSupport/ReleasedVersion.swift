package import Foundation

/// The fixtures that released versions of `signet` wrote, in one folder for each version (`scripts/freeze-formats`).
package enum ReleasedVersion {
    /// Returns the versions with a folder in the fixtures of a test target, such as `SignetStorageTests`.
    package static func all(in target: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: fixtures(of: target).path)
        return (names ?? []).filter { $0.wholeMatch(of: #/\d+\.\d+\.\d+/#) != nil }.sorted()
    }

    /// Returns the folder with what a version wrote.
    package static func folder(_ version: String, in target: String) -> URL { fixtures(of: target).appending(path: version) }

    private static func fixtures(of target: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "\(target)/Fixtures")
    }
}
