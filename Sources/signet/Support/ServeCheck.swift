import ArgumentParser
import Foundation
import SignetCore
import SignetServer

/// The check of a configuration without serving it: `signet serve --check`.
struct ServeCheck {
    let config: String?
    let imports: JourneyImportOptions
    let usesTLS: Bool

    /// Prints a summary, or with `json` a line of JSON with all problems.
    /// - Parameter json: True for JSON.
    /// - Throws: ``Failure`` when the configuration cannot be used; with `json` only the exit code, after the problems were printed.
    func run(json: Bool) throws {
        guard json else {
            let configuration = try imports.configuration(config, usesTLS: usesTLS)
            return Console.line("\(config ?? "the starter file"): \(ConfigurationFile.summary(configuration))")
        }
        let source: ConfigurationSource?
        let imported: JourneyImport?
        do {
            source = try config.map { try ConfigurationFile.source(of: $0) }
            imported = try imports.path.map { try imports.stubOptions.journeys(at: $0, besides: source) }
        } catch {
            let failure = Failure(error)
            Self.printReport(problems: [Self.problem(failure)])
            throw ExitCode(failure.exit.rawValue)
        }
        do {
            let configuration = try configuration(source, importing: imported)
            Self.printReport(configuration, problems: [], imported)
        } catch let error as ConfigurationError {
            Self.printReport(problems: error.problems.map(Self.problem), imported)
            // The mistakes of a file are the user's; the starter file has none of its own.
            throw ExitCode((source == nil ? Failure.Exit.software : .badInput).rawValue)
        }
    }

    private func configuration(
        _ source: ConfigurationSource?, importing imported: JourneyImport?
    ) throws -> ServerConfiguration {
        guard let source else { return try imported.map { try ServerConfiguration(importing: $0) } ?? .starter }
        return try ServerConfiguration(
            source, environment: ProcessInfo.processInfo.environment, usesTLS: usesTLS, importing: imported)
    }

    private static func problem(_ problem: ConfigurationProblem) -> JSONValue {
        JSONText.object([
            "line": .integer(Int64(problem.position.line)), "column": .integer(Int64(problem.position.column)),
            "code": .string(problem.code.rawValue), "subject": .string(problem.subject), "message": .string(problem.message),
        ])
    }

    /// Returns a problem that has no place in the configuration file: a file that cannot be read.
    private static func problem(_ failure: Failure) -> JSONValue {
        .object(["code": .string(failure.code), "message": .string(Redaction.withoutSecrets(failure.message))])
    }

    private static func printReport(
        _ configuration: ServerConfiguration? = nil, problems: [JSONValue], _ imported: JourneyImport? = nil
    ) {
        var members: [String: JSONValue] = ["valid": .bool(problems.isEmpty), "problems": .array(problems)]
        members["findings"] = imported.flatMap { JourneyImportDescription($0).json["findings"] }
        if let configuration {
            members["realms"] = .texts(configuration.realms)
            members["users"] = .integer(Int64(configuration.users.count))
            members["clients"] = .integer(Int64(configuration.clients.count))
            members["journeys"] = .texts(configuration.journeys.names)
        }
        Console.line(JSONText.line(.object(members)))
    }
}
