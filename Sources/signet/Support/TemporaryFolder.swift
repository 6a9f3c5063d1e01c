import Foundation
import SignetCore

/// A folder for one run, which only its owner can access.
///
/// It is deleted with its contents by ``remove()``, or else when the process exits. A killed process doesn't delete it.
struct TemporaryFolder {
    let path: String

    /// Creates the folder.
    /// - Parameters:
    ///   - prefix: The start of its name.
    ///   - parent: The directory to create it in.
    /// - Throws: ``Failure`` with the message of the system.
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

    /// Deletes the folder with everything in it.
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

/// The paths of the folders that exist.
private let standing = Mutex<Set<String>>([])
