import ArgumentParser
import Foundation
import SignetNetwork
import SignetStorage

/// The option that selects the certificate authorities for a command's servers.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "Trust the authorities in this file, in PEM, and no others: a company's own, or that of 'signet serve --tls'. "
                + "SIGNET_CA_FILE says the same.", valueName: "file"), completion: .file())
    var file: String?

    private static var variable: String { "SIGNET_CA_FILE" }

    /// Returns the absolute path of the file from the option or the environment; nil for the system's authorities.
    /// - Throws: ``Failure`` when the file doesn't exist or has no certificate. Without this check, the error would be that of an
    ///   untrusted or unreachable server.
    func authorityFile() throws -> String? {
        try file.map { try Self.path($0, "--ca-file") } ?? Self.environmentFile()
    }

    /// Returns the path of the file that the environment variable names.
    static func environmentFile() throws -> String? {
        let named = ProcessInfo.processInfo.environment[variable] ?? ""
        return named.isEmpty ? nil : try path(named, variable)
    }

    private static func path(_ named: String, _ source: String) throws -> String {
        let path = named.hasPrefix("/") ? named : "\(FileManager.default.currentDirectoryPath)/\(named)"
        // A pipe such as `<(cat a.pem b.pem)` can be read only once, so it isn't checked here.
        if let status = FileStatus(at: path, followsLinks: true), !status.isFile, !status.isDirectory { return path }
        let bytes: [UInt8]?
        do {
            bytes = try TransferFile.contents(of: path, limit: maxSize)
        } catch {
            let failure = Failure(error)
            throw Failure(failure.exit, "caFile", "\(source): \(failure.message)")
        }
        guard let bytes else {
            throw Failure(.badInput, "caFile", "\(source): \(path) is larger than \(maxSize >> 20) MiB")
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Failure(.badInput, "caFile", "\(source): \(path) holds no certificate in PEM")
        }
        return path
    }

    private static let maxSize = 4 << 20
}

extension AsyncHTTPTransport.Authorities {
    /// The authorities in a file; nil for those of the system.
    init(file: String?) {
        self = file.map { .file($0) } ?? .system
    }
}
