import Foundation
import SignetCore
import SignetStorage

/// The file with a server's administration token; only its owner can access it.
struct AdminTokenFile {
    let path: String
    let token: Secret
    /// The temporary folder of the file, deleted when the server ends; nil for a file that the user named.
    private let folder: TemporaryFolder?

    private static let maxSize = 4096
    private static let minLength = 16

    /// Reads the token from the file at `path`, or creates a new file with a new token.
    init(at path: String) throws {
        self.path = path
        folder = nil
        guard PrivateFile.exists(path) else {
            token = try Self.make(path)
            return
        }
        let bytes = try PrivateFile.contents(of: path, limit: Self.maxSize)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count >= Self.minLength, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                .badInput, "admin",
                "\(path) holds no token: \(Self.minLength) characters of ASCII or more, without spaces, in one line")
        }
        token = Secret(line)
    }

    /// Creates a token in a private folder in `$XDG_RUNTIME_DIR`, `$TMPDIR` or `/tmp`.
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

    /// Deletes the temporary folder of this run.
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
