import ArgumentParser
import SignetNetwork

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Who vouches for the servers that a verb asks.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Trust the authorities in this file, in PEM, and no others: a company's own, or that of 'signet serve --tls'. "
                + "SIGNET_CA_FILE says the same.", valueName: "file"), completion: .file())
    var file: String?

    private static var variable: String { "SIGNET_CA_FILE" }

    /// The file that was named, as an absolute path; nil for the system's authorities.
    /// - Throws: ``Failure`` when there is no such file: it would look like a server that cannot be trusted.
    func authorityFile() throws -> String? {
        try file.map { try Self.path($0, "--ca-file") } ?? Self.environmentFile()
    }

    /// The file that the environment names.
    static func environmentFile() throws -> String? {
        let named = ProcessInfo.processInfo.environment[variable] ?? ""
        return named.isEmpty ? nil : try path(named, variable)
    }

    private static func path(_ named: String, _ source: String) throws -> String {
        let path = named.hasPrefix("/") ? named : "\(FileManager.default.currentDirectoryPath)/\(named)"
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw Failure(.badInput, "caFile", "\(source): \(path) is no file that can be read")
        }
        return path
    }
}

extension AsyncHTTPTransport.Authorities {
    /// Those in a file, or the system's.
    init(file: String?) {
        self = file.map { .file($0) } ?? .system
    }
}
