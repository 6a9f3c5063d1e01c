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

/// A new directory of mode 0700 for one test, for example for a vault.
public struct TemporaryDirectory: Sendable {
    /// The path.
    public let path: String

    /// The error for a directory that cannot be created.
    public struct CreationError: Error, Sendable {}

    /// Creates the directory.
    /// - Parameter inMemory: True when the directory may be in memory, if the system supports that: for tests that write
    ///   thousands of times and do not test the disk.
    /// - Throws: ``CreationError``.
    public init(inMemory: Bool = false) throws(CreationError) {
        let memory = "/dev/shm"
        let systemDirectory = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        let parent = inMemory && access(memory, W_OK) == 0 ? memory : systemDirectory
        var template = Array((parent + "/signet-test-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CreationError() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs `body` with a new directory and removes the directory afterwards.
    public static func with<R>(
        inMemory: Bool = false, _ body: (TemporaryDirectory) async throws -> R
    ) async throws -> R {
        let directory = try TemporaryDirectory(inMemory: inMemory)
        defer { directory.remove() }
        return try await body(directory)
    }

    /// Removes the directory with its content.
    ///
    /// A missing directory is ignored.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of `name` in the directory.
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}
