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
    /// - Throws: ``Failure`` when the configuration cannot be used; with `json` only the exit code, after the problems were printed.
    func run(json: Bool) throws {
        guard json, let config else {
            let configuration = try imports.configuration(config, usesTLS: usesTLS)
            let summary = ConfigurationFile.summary(configuration)
            return Console.line(
                json ? JSONText.line(Self.report(configuration, [])) : "\(config ?? "the starter file"): \(summary)")
        }
        let source = try ConfigurationFile.source(of: config)
        let imported = try imports.path.map { try imports.stubOptions.journeys(at: $0, besides: source) }
        let problems: [ConfigurationProblem]
        do {
            let configuration = try ServerConfiguration(
                source, environment: ProcessInfo.processInfo.environment, usesTLS: usesTLS, importing: imported)
            return Console.line(JSONText.line(Self.report(configuration, [])))
        } catch {
            problems = error.problems
        }
        Console.line(JSONText.line(Self.report(nil, problems)))
        throw ExitCode(Failure.Exit.badInput.rawValue)
    }

    private static func report(_ configuration: ServerConfiguration?, _ problems: [ConfigurationProblem]) -> JSONValue {
        var members: [String: JSONValue] = [
            "valid": .bool(problems.isEmpty),
            "problems": .array(
                problems.map { problem in
                    JSONText.object([
                        "line": .integer(Int64(problem.position.line)), "column": .integer(Int64(problem.position.column)),
                        "code": .string(problem.code.rawValue), "subject": .string(problem.subject),
                        "message": .string(problem.message),
                    ])
                }),
        ]
        guard let configuration else { return .object(members) }
        members["realms"] = .texts(configuration.realms)
        members["users"] = .integer(Int64(configuration.users.count))
        members["clients"] = .integer(Int64(configuration.clients.count))
        members["journeys"] = .texts(configuration.journeys.names)
        return .object(members)
    }
}
