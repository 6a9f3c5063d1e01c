import ArgumentParser
import SignetServer

/// The treatment of nodes that cannot run here, for `signet serve --import` and `signet journeys convert`.
struct StubOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A node that cannot run: 'fail' ends the login with an error, 'ask' lets the client choose its outcome.",
            valueName: "fail|ask"),
        completion: .list(JourneyImport.Stubs.allCases.map(\.rawValue)), transform: Self.stubs)
    var stubs = JourneyImport.Stubs.fail

    @Sendable private static func stubs(_ name: String) throws -> JourneyImport.Stubs {
        guard let stubs = JourneyImport.Stubs(rawValue: name) else { throw ValidationError("--stubs is 'fail' or 'ask'.") }
        return stubs
    }

    /// Reads an export of AM.
    /// - Parameters:
    ///   - path: The path of the file or directory.
    ///   - configuration: A configuration file whose journeys the imported ones can run; nil for none.
    /// - Returns: The journeys.
    /// - Throws: ``Failure``.
    func journeys(at path: String, besides configuration: ConfigurationSource? = nil) throws -> JourneyImport {
        do throws(JourneyImportError) {
            return try JourneyImport(at: path, stubs: stubs, besides: configuration)
        } catch {
            let exit: Failure.Exit =
                switch error.code {
                case .notFound, .noJourney: .notFound
                case .unreadable: .notAllowed
                case .notJSON, .tooLarge: .badInput
                }
            throw Failure(exit, "journeyImport.\(error.code.rawValue)", error.description)
        }
    }
}

/// The option of `signet serve` for journeys of an AM server.
struct JourneyImportOptions: ParsableArguments {
    @Option(
        name: .customLong("import"),
        help: ArgumentHelp(
            "Journeys of an AM server: a file of frodo or Amster, an answer of AM's REST, or a directory with such files.",
            valueName: "path"), completion: .file())
    var path: String?

    @OptionGroup var stubOptions: StubOptions

    /// Returns the configuration in a file, or else in the starter file, with the imported journeys, and prints their report.
    /// - Parameters:
    ///   - file: The path of the configuration file; nil for the starter file.
    ///   - usesTLS: True if the server uses the TLS files that the configuration names.
    /// - Returns: The configuration.
    /// - Throws: ``Failure``.
    func configuration(_ file: String?, usesTLS: Bool) throws -> ServerConfiguration {
        guard let path else {
            return try file.map { try ConfigurationFile.read($0, usesTLS: usesTLS) } ?? ServerConfiguration.starter
        }
        let source = try file.map { try ConfigurationFile.source(of: $0) }
        let imported = try stubOptions.journeys(at: path, besides: source)
        for line in JourneyImportDescription(imported).startLines(path) { Console.error(line) }
        guard let file, let source else {
            do {
                return try ServerConfiguration(importing: imported)
            } catch {
                throw Failure(.software, "configuration", "the journeys cannot be used:\n\(error)", hasLines: true)
            }
        }
        return try ConfigurationFile.configuration(source, of: file, usesTLS: usesTLS, importing: imported)
    }
}
