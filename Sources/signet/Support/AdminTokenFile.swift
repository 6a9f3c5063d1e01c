import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file that holds the token of a server's administration, for its owner only.
struct AdminTokenFile {
    let path: String
    let token: Secret
    /// The folder that was made for it, to be removed when the server ends; nil for a file of somebody's own.
    private let folder: TemporaryFolder?

    private static let largest = 4096
    private static let shortest = 16

    /// The token in the file at `path`; a new one in a new file if there is none.
    init(at path: String) throws {
        self.path = path
        folder = nil
        guard PrivateFile.exists(path) else {
            token = try Self.make(path)
            return
        }
        let bytes = try PrivateFile.contents(of: path, limit: Self.largest)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count >= Self.shortest, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                .badInput, "admin",
                "\(path) holds no token: \(Self.shortest) characters of ASCII or more, without spaces, in one line")
        }
        token = Secret(line)
    }

    /// A new token in a folder that only its owner can look into, below `$XDG_RUNTIME_DIR` or `$TMPDIR`.
    init() throws {
        let environment = ProcessInfo.processInfo.environment
        let parent =
            [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"]].compactMap { $0 }.first { $0.hasPrefix("/") } ?? "/tmp"
        let folder: TemporaryFolder
        do throws(Failure) {
            folder = try TemporaryFolder("signet-admin", in: parent)
        } catch {
            throw Failure(error.exit, "admin", "\(error.message); name a file with --admin-token-file")
        }
        self.folder = folder
        path = "\(folder.path)/token"
        token = try Self.make(path)
    }

    /// Removes what was made for this run.
    func remove() {
        do {
            try folder?.remove()
        } catch {
            Console.error("signet: \(path) could not be removed")
        }
    }

    private static func make(_ path: String) throws -> Secret {
        let token = Base64.encode(Secret.random(byteCount: 32).bytes, as: .url)
        try PrivateFile.create(path, containing: Array("\(token)\n".utf8))
        return Secret(token.utf8)
    }
}
