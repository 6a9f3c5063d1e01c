import ArgumentParser
import SignetAuthenticator
import SignetCore

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Print the one-time code of an account, and nothing else.",
        discussion: """
            A counter-based code is used up when it is printed; the next call prints the next one.

            EXAMPLES:
              signet code mira
              signet code 'Harbor Bank:mira'
              signet code mira --type hotp
              signet code mira --json
            """)

    @Argument(help: "The account: its name, its issuer, or issuer:account.", completion: .accounts([.totp, .hotp]))
    var name: String

    /// The types of one-time codes.
    enum CodeType: String, ExpressibleByArgument, CaseIterable {
        case totp, hotp
    }

    @Option(help: "The kind, for an account that has both.")
    var type: CodeType?

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: code, type, issuer, account, and secondsLeft and validUntil or counter.")
    var json = false

    func run() async throws {
        let session = try Session.open(options)
        let kinds: Set<Mechanism.KindName> = type.map { [$0 == .totp ? .totp : .hotp] } ?? [.totp, .hotp]
        let (selection, code) = try await Self.code(name, kinds, session)
        Console.line(json ? JSONText.line(description(of: code, selection, session)) : TerminalText(code.digits))
    }

    /// Returns the name in `signet code NAME` without options, and nil for every other command.
    ///
    /// Scripts run this form often, so it bypasses the argument parser, which takes as long as opening the vault.
    static func plainName(in arguments: some Collection<String>) -> String? {
        guard arguments.count == 2, arguments.first == configuration.commandName else { return nil }
        return arguments.dropFirst().first { !$0.hasPrefix("-") }
    }

    /// Runs `signet code NAME`.
    static func printCode(_ name: String) async throws {
        Console.line(TerminalText(try await code(name, [.totp, .hotp], try Session.open()).code.digits))
    }

    private static func code(
        _ name: String, _ kinds: Set<Mechanism.KindName>, _ session: Session
    ) async throws -> (selection: Selection, code: OneTimeCode) {
        let selection = try await Selection.find(name, kinds: kinds, with: OpenedAuthenticator(session: session))
        return (selection, try await session.offline { try await $0.code(for: selection.mechanism.uid) })
    }

    private func description(of code: OneTimeCode, _ selection: Selection, _ session: Session) -> JSONValue {
        var members: [String: JSONValue] = [
            "code": .string(code.digits), "type": .string(selection.mechanism.kindName.rawValue),
            "issuer": .string(selection.account.account.id.issuer), "account": .string(selection.account.account.id.accountName),
        ]
        switch code.basis {
        case .time(_, let end):
            members["validUntil"] = .string(end.text)
            members["secondsLeft"] = code.secondsLeft(at: session.now).map { .integer(Int64($0)) }
        case .counter(let counter):
            members["counter"] = .integer(Int64(clamping: counter))
        }
        return .object(members)
    }
}
