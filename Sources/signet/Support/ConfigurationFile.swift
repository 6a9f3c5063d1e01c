import Foundation
import SignetCore
import SignetServer

/// The configuration file of a development server.
enum ConfigurationFile {
    private static let maxSize = 4 << 20

    /// Reads the configuration file at `path`.
    ///
    /// Checks the files to which it refers as well: those for TLS, and a key for SNS.
    /// - Parameters:
    ///   - path: The path of the file; `-` for standard input.
    ///   - usesTLS: True if the server uses the TLS files that the configuration names.
    /// - Returns: The configuration, which has no errors.
    /// - Throws: ``Failure`` when the file cannot be read, is larger than 4 MiB, or has errors. All errors are reported together,
    ///   each with its line.
    static func read(_ path: String, usesTLS: Bool) throws -> ServerConfiguration {
        try configuration(try source(of: path), of: path, usesTLS: usesTLS)
    }

    /// Returns the file at `path`, with its YAML parsed; `-` is standard input.
    /// - Throws: ``Failure`` when the file cannot be read, is larger than 4 MiB, or is not UTF-8.
    static func source(of path: String) throws -> ConfigurationSource {
        guard let bytes = try TransferFile.contents(of: path, limit: maxSize) else {
            throw Failure(.badInput, "configuration", "\(path) is larger than \(maxSize >> 20) MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badInput, "configuration", "\(path) is not text in UTF-8")
        }
        return ConfigurationSource(text)
    }

    /// Reads the content of a configuration file, as ``read(_:usesTLS:)`` does.
    /// - Parameters:
    ///   - source: The file.
    ///   - path: The path of the file, for messages.
    ///   - usesTLS: True if the server uses the TLS files that the configuration names.
    ///   - imported: Journeys of an AM server, which replace those of the file with the same names.
    /// - Returns: The configuration, which has no errors.
    /// - Throws: ``Failure`` with all errors.
    static func configuration(
        _ source: ConfigurationSource, of path: String, usesTLS: Bool, importing imported: JourneyImport? = nil
    ) throws -> ServerConfiguration {
        do {
            return try ServerConfiguration(
                source, environment: ProcessInfo.processInfo.environment, usesTLS: usesTLS, importing: imported)
        } catch {
            let count = error.problems.count == 1 ? "1 problem" : "\(error.problems.count) problems"
            let lines = error.problems.map { "\n\(path):\($0)" }.joined()
            throw Failure(.badInput, "configuration", "\(path): \(count)\(lines)", hasLines: true)
        }
    }

    /// Returns the number of its parts, for the user: `2 realms, 1 user, 1 client, 50 journeys`.
    static func summary(_ configuration: ServerConfiguration) -> String {
        [
            ("realm", configuration.realms.count), ("user", configuration.users.count), ("client", configuration.clients.count),
            ("journey", configuration.journeys.names.count),
        ].map { "\($1) \($0)\($1 == 1 ? "" : "s")" }.joined(separator: ", ")
    }
}
