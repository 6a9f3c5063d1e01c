import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The help of signet")
struct HelpTests {
    /// A command of `signet --experimental-dump-help`.
    private struct Command {
        let path: [String]
        let discussion: String

        /// The lines of the examples.
        var examples: [Substring] {
            Array(discussion.split(separator: "\n").drop { $0 != "EXAMPLES:" }.dropFirst())
        }
    }

    /// Returns a command and all commands below it, without the argument parser's own `help`.
    private static func commands(in dump: JSONValue, below path: [String] = []) -> [Command] {
        let name = dump["commandName"]?.string ?? "?"
        guard path != ["signet"] || name != "help" else { return [] }
        let path = path + [name]
        let subcommands = dump["subcommands"]?.array ?? []
        return [Command(path: path, discussion: dump["discussion"]?.string ?? "")]
            + subcommands.flatMap { commands(in: $0, below: path) }
    }

    private static func commands(of cli: CommandLineFixture) async throws -> [Command] {
        let dump = try await cli.signet("--experimental-dump-help").succeeds().json
        let commands = commands(in: try #require(dump["command"]))
        try #require(commands.count > 30)
        return commands
    }

    /// Returns the lines that are wider than the terminal, and those that end although the next word has room.
    ///
    /// The argument parser leaves one column free. Examples and usages have their own line breaks, and it does not wrap its last
    /// line, which names the help of subcommands.
    private static func misplacedLines(in help: String, columns: Int) -> [Substring] {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let wide = lines.filter { line in
            line.count > columns && line.drop { $0 == " " }.contains(" ") && !line.hasPrefix("  See 'signet help ")
        }
        let short = zip(lines, lines.dropFirst()).filter { line, next in
            guard !line.isEmpty, let word = next.split(separator: " ").first else { return false }
            let indent = next.prefix { $0 == " " }.count
            let isText = indent == 0 && line.first != " "
            // The texts of options are in column 26, the first line beside the name of the option.
            let isMeaning = indent == 26 && Array(line.dropFirst(25).prefix(2)).first == " " && line.count > 26
            return (isText || isMeaning) && line.count + 1 + word.count < columns
        }
        return wide + short.map { $0.0 }
    }

    @Test("The help of each command fits the terminal, and no line of a paragraph ends early", arguments: [60, 80, 120])
    func wrapsHelp(columns: Int) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            for command in try await Self.commands(of: cli) {
                let arguments = command.path.dropFirst() + ["--help"]
                let process = try cli.start(Array(arguments), environment: ["COLUMNS": String(columns)])
                let help = try await process.end().succeeds().output
                let misplaced = Self.misplacedLines(in: help, columns: columns)
                #expect(misplaced == [], "\(command.path)")
            }
        }
    }

    @Test("Each command has examples that fit a narrow terminal, and names no file of the repository")
    func hasExamples() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            for command in try await Self.commands(of: cli) {
                let hasExamples = !command.examples.isEmpty
                #expect(hasExamples, "\(command.path)")
                let wide = command.examples.filter { $0.count >= 60 || !$0.hasPrefix("  ") }
                #expect(wide == [], "\(command.path)")
                let arguments = command.path.dropFirst() + ["--help"]
                let help = try await cli.start(Array(arguments)).end().succeeds().output
                let namesFile = help.replacing(HelpText.documentation, with: "").contains("docs/")
                #expect(!namesFile, "\(command.path)")
            }
        }
    }

    @Test("A usage is wrapped between arguments, never inside of one")
    func wrapsUsage() {
        let usage = "USAGE: signet code <name> [--type <type>] [--json]"
        let wrapped = HelpText.wrappingUsage(in: "a\n\(usage)\n\nb", columns: 30)
        #expect(wrapped == "a\nUSAGE: signet code <name>\n       [--type <type>]\n       [--json]\n\nb")
        #expect(HelpText.wrappingUsage(in: usage, columns: 80) == usage)
        // Other lines are those of the argument parser.
        let other = String(repeating: "word ", count: 40)
        #expect(HelpText.wrappingUsage(in: other, columns: 40) == other)
    }

    @Test(
        "A mistyped command after help is answered with the same error as without help",
        arguments: [
            (["help", "pusk"], ["pusk"], "did you mean 'signet push'?"),
            (["help", "push", "lsten"], ["push", "lsten"], "did you mean 'signet push listen'?"),
            (["help", "pusk", "listen"], ["pusk", "listen"], "did you mean 'signet push'?"),
            (["help", "accounts", "remov"], ["accounts", "remov", "mira"], "did you mean 'signet accounts remove'?"),
            (["help", "weather"], ["weather"], "there is no command 'signet weather'\n"),
        ])
    func refusesMistypedCommandAfterHelp(help: [String], plain: [String], suggestion: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let refused = try await cli.start(help).end()
            refused.fails(64, suggestion, "Usage: signet")
            let other = try await cli.start(plain).end()
            #expect(other.status == 64 && other.errors == refused.errors)
        }
    }

    @Test("A URI after help is refused without its secret")
    func hidesSecretAfterHelp() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("help", OATHSample.uri())
            outcome.fails(64, "there is no command 'signet <URI>'")
            #expect(!outcome.errors.contains(OATHSample.secretText))
        }
    }

    @Test(
        "The names of a command after help print the help of that command",
        arguments: [
            (["help"], ["--help"]), (["help", "push"], ["push", "--help"]), (["help", "code"], ["code", "--help"]),
            (["help", "push", "listen"], ["push", "listen", "--help"]),
            (["help", "accounts", "list"], ["accounts", "list", "--help"]),
        ])
    func printsHelpOfNamedCommand(help: [String], option: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let shown = try await cli.start(help).end().succeeds().output
            let expected = try await cli.start(option).end().succeeds().output
            #expect(shown.hasPrefix("OVERVIEW: ") && shown == expected)
        }
    }

    @Test("A mistyped command, option or account is answered with the most similar one")
    func suggestsSimilarNames() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("cod").fails(
                64, "there is no command 'signet cod'; did you mean 'signet code'?", "Usage: signet")
            try await cli.signet("enrll", "x.png").fails(64, "did you mean 'signet enroll'?")
            try await cli.signet("accounts", "remov", "mira").fails(64, "did you mean 'signet accounts remove'?")
            try await cli.signet("comp").fails(64, "did you mean 'signet completions'?")
            let unknown = try await cli.signet("weather")
            unknown.fails(64, "there is no command 'signet weather'\n")
            try await cli.signet("code", "mira", "--typ", "hotp").fails(64, "Did you mean '--type'?")
            // A command that is not shown is not suggested either.
            try await cli.signet("clear-clipboar").fails(64, "there is no command 'signet clear-clipboar'\n")
            let secret = try await cli.signet(OATHSample.uri())
            secret.fails(64, "there is no command 'signet <URI>'")
            #expect(!secret.errors.contains(OATHSample.secretText))

            try await cli.signet("enroll", OATHSample.uri(issuer: "Service", account: "mira@example.com")).succeeds()
            try await cli.signet("code", "servce").fails(66, "makes codes; did you mean 'Service:mira@example.com'?")
            try await cli.signet("code", "example").fails(66, "did you mean 'Service:mira@example.com'?")
            try await cli.signet("accounts", "lock", "srvice").fails(66, "did you mean 'Service:mira@example.com'?")
            let far = try await cli.signet("code", "harbor")
            far.fails(66, "no account called 'harbor' makes codes")
            #expect(!far.errors.contains("did you mean"))
        }
    }
}
