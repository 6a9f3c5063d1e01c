import Foundation
import SignetCore
import SignetServer
import SignetStorage

/// Parses the location of the state of `signet serve`.
enum StateLocation {
    /// Parses `memory`, `postgresql:…`, or the path of a file.
    ///
    /// The default is the file `server.sqlite` in the default directory, beside the vault.
    /// - Parameters:
    ///   - text: The location from the command's option; nil for the default.
    ///   - keyPath: The path of a file with the server's key. Without it, a key for a database is created in the default
    ///     directory.
    /// - Returns: The location, with the key if there is one. A relative path is completed with the current directory.
    /// - Throws: ``Failure`` when the key file is missing, a database location contains a password, the location is another URI or
    ///   a directory, or the default directory is unknown; `StoreError` when a key file cannot be read or written.
    static func read(_ text: String?, keyPath: String?) throws -> ServerState {
        let key = try keyPath.map { path in
            guard PrivateFile.exists(path) else {
                throw Failure(.notFound, "serve", "--state-key \(path): there is no such file")
            }
            return try secret(at: path)
        }
        switch text {
        case "memory": return .memory
        case let text? where text.hasPrefix("postgresql:") || text.hasPrefix("postgres:"):
            guard !holdsPassword(text) else {
                throw Failure(
                    .usage, "serve",
                    "--state: other users see the arguments of a program; give the password in ~/.pgpass, or in a file that $PGPASSFILE names"
                )
            }
            return .postgreSQL(text, key: try key ?? sharedKey())
        case let text? where isURI(text):
            // The URI may be an enrollment URI, whose secret must not become the name of a directory or a part of an error.
            throw Failure(
                .usage, "serve",
                "--state takes memory, postgresql:… or a file, and no other URI; write a file as its path alone, such as ./NAME")
        case let text?:
            let path = text.hasPrefix("/") ? text : FileManager.default.currentDirectoryPath + "/" + text
            if let status = FileStatus(at: path, followsLinks: true), status.isDirectory {
                throw Failure(
                    .badInput, "serve", "--state: \(text) is a directory; name a file in it, such as \(fileName(in: text))")
            }
            return .file(path, key: key)
        case nil: return .file(try defaultDirectory().path + "/server.sqlite", key: key)
        }
    }

    /// Returns the description of the location for the user.
    static func words(_ text: String?) -> String {
        switch text {
        case "memory": "state is in memory"
        case let text? where text.hasPrefix("postgres"): "state is in PostgreSQL"
        case let text?: "state is in \(text)"
        case nil: "state is in \((try? defaultDirectory().path) ?? "")/server.sqlite"
        }
    }

    private static func fileName(in directory: String) -> String {
        directory.hasSuffix("/") ? "\(directory)server.sqlite" : "\(directory)/server.sqlite"
    }

    private static func defaultDirectory() throws -> VaultDirectory {
        guard let directory = VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw Failure(
                .unavailable, "serve", "there is no directory for the state: set HOME or SIGNET_HOME, or use --state memory")
        }
        return directory
    }

    private static func secret(at path: String) throws -> Secret {
        Secret(try PrivateFile.contents(of: path, limit: 4096))
    }

    /// Returns this machine's key, for a database without a key file in the options.
    ///
    /// Creates it if necessary.
    private static func sharedKey() throws -> Secret {
        let path = try defaultDirectory().path + "/server.key"
        if !PrivateFile.exists(path) {
            try PrivateFile.createDirectory(PrivateFile.directory(of: path))
            do throws(StoreError) {
                try PrivateFile.create(path, containing: Secret.random(byteCount: 32).bytes)
            } catch  where error.code == .exists {
                // Another server has created the file first.
            }
        }
        return try secret(at: path)
    }

    /// Returns true for a text that begins with a scheme (RFC 3986 section 3.1).
    private static func isURI(_ text: String) -> Bool {
        let text = text.utf8.drop { $0 <= 0x20 }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text.first?.isASCIILetterOrDigit == true else { return false }
        return text[..<colon].allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
    }

    private static func holdsPassword(_ text: String) -> Bool {
        let authority = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst().first ?? ""
        let person = authority.contains("@") ? authority.prefix { $0 != "@" } : ""
        return person.contains(":") || text.contains("password=")
    }
}
