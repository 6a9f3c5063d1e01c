#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A new directory of mode 0700 for one test, and a place to put a vault.
public struct TemporaryDirectory: Sendable {
    /// Where it is.
    public let path: String

    /// The directory cannot be made.
    public struct CannotBeMade: Error, Sendable {}

    /// Makes the directory.
    /// - Throws: ``CannotBeMade``.
    public init() throws(CannotBeMade) {
        let pattern = FileManager.default.temporaryDirectory.appending(path: "signet-test-XXXXXX")
        var template = Array(pattern.path(percentEncoded: false).utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotBeMade() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs `body` with a new directory, and removes it afterwards.
    public static func with<R>(_ body: (TemporaryDirectory) async throws -> R) async throws -> R {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        return try await body(directory)
    }

    /// Removes the directory with everything in it; it is no error if it is gone.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in it.
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}
