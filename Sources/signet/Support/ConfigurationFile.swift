import SignetCore
import SignetServer

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The configuration file of a desk server.
enum ConfigurationFile {
    private static let largest = 4 << 20

    /// What the file at `path` says, once what it refers to is there as well: files for TLS, and a key for SNS. Everything that is wrong is
    /// told at once, each with its line.
    /// - Parameter usesTLS: Whether the server is to show what the file names.
    static func read(_ path: String, usesTLS: Bool) throws -> ServerConfiguration {
        guard let bytes = try TransferFile.contents(of: path, limit: largest) else {
            throw Failure(.badInput, "configuration", "\(path) is larger than \(largest >> 20) MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badInput, "configuration", "\(path) is no text in UTF-8")
        }
        do {
            return try ServerConfiguration(
                yaml: text, environment: ProcessInfo.processInfo.environment, usesTLS: usesTLS)
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
}
