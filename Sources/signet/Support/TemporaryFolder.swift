import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A folder for one run that only its owner can look into. It goes with everything in it when it is removed, or else with the
/// process, wherever that calls itself ended; a killed one leaves it.
struct TemporaryFolder {
    let path: String

    /// - Parameters:
    ///   - prefix: How its name begins.
    ///   - parent: The directory to make it in.
    /// - Throws: ``Failure``, with what the system says.
    init(_ prefix: String, in parent: String) throws(Failure) {
        var template = Array("\(parent.hasSuffix("/") ? String(parent.dropLast()) : parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .notAllowed, "temporaryFolder", "no folder can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        _ = Self.removesAtExit
        standing.withLock { _ = $0.insert(path) }
    }

    /// Removes it with everything in it.
    func remove() throws {
        guard standing.withLock({ $0.remove(path) }) != nil else { return }
        try FileManager.default.removeItem(atPath: path)
    }

    private static let removesAtExit: Void = {
        atexit {
            for path in standing.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        }
    }()
}

/// The folders that are there.
private let standing = Mutex<Set<String>>([])
