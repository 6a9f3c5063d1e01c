import SignetCore
import SignetServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The configuration file of a desk server.
enum ConfigurationFile {
    private static let largest = 4 << 20

    /// What the file at `path` says. Everything that is wrong with it is told at once, each with its line.
    static func read(_ path: String) throws -> ServerConfiguration {
        guard let text = String(validating: try contents(path), as: UTF8.self) else {
            throw Failure(.badInput, "configuration", "\(path) is no text in UTF-8")
        }
        do {
            return try ServerConfiguration(yaml: text)
        } catch {
            let count = error.problems.count == 1 ? "1 problem" : "\(error.problems.count) problems"
            let lines = error.problems.map { "\n\(path):\($0)" }.joined()
            throw Failure(.badInput, "configuration", "\(path): \(count)\(lines)")
        }
    }

    /// What a configuration has, for a person: `2 realms, 1 user, 1 client, 50 journeys`.
    static func summary(_ configuration: ServerConfiguration) -> String {
        [
            ("realm", configuration.realms.count), ("user", configuration.users.count), ("client", configuration.clients.count),
            ("journey", configuration.journeys.names.count),
        ].map { "\($1) \($0)\($1 == 1 ? "" : "s")" }.joined(separator: ", ")
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else {
            let reason = String(cString: strerror(errno))
            throw Failure(errno == ENOENT ? .notFound : .notAllowed, "configuration", "\(path) cannot be read: \(reason)")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else {
            throw Failure(.badInput, "configuration", "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        guard count <= largest else {
            throw Failure(.badInput, "configuration", "\(path) is larger than \(largest >> 20) MiB")
        }
        return Array(bytes[..<count])
    }
}
