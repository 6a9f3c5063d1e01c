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
    /// - Parameter inMemory: Whether it may lie in memory, where the system has such a place: for tests that write thousands of
    ///   times, and are not about what a disk does.
    /// - Throws: ``CannotBeMade``.
    public init(inMemory: Bool = false) throws(CannotBeMade) {
        let memory = "/dev/shm"
        let usual = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        let parent = inMemory && access(memory, W_OK) == 0 ? memory : usual
        var template = Array((parent + "/signet-test-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotBeMade() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs `body` with a new directory, and removes it afterwards.
    public static func with<R>(
        inMemory: Bool = false, _ body: (TemporaryDirectory) async throws -> R
    ) async throws -> R {
        let directory = try TemporaryDirectory(inMemory: inMemory)
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
