import ArgumentParser
import Foundation
import SignetAuthenticator
import SignetCore

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Print or copy the one-time code of an account.",
        discussion: """
            Standard output has the digits and nothing else. At a terminal, the seconds that the code is valid are on standard error. A \
            counter-based code is used up when it is printed; the next call prints the next one.

            The name is the account, its issuer, or issuer:account, in any case. At a terminal, a part of a name, or some of its \
            letters, shows a list of the accounts to pick from. A script gets no code for such a name, but an error with the similar \
            names.

            --copy uses wl-copy on Wayland, xclip or xsel on X11, and otherwise asks the terminal (OSC 52), also through SSH. The \
            clipboard is cleared after 30 seconds if the code is still there. A terminal's clipboard cannot be read, so it is not \
            cleared.

            EXAMPLES:
              signet code mira
              signet code 'Harbor Bank:mira' --copy
              signet code mira --wait
              signet code mira --next
              signet code mira --type hotp
              signet code mira --json
            """)

    @Argument(help: "The account: its name, its issuer, or issuer:account.", completion: .accounts(AccountCodes.kinds))
    var name: String

    /// The types of one-time codes.
    enum CodeType: String, ExpressibleByArgument, CaseIterable {
        case totp, hotp
    }

    @Option(help: "The kind, for an account that has both.")
    var type: CodeType?

    @Flag(help: "Copy the code to the clipboard instead of printing it.")
    var copy = false

    @Option(
        help: ArgumentHelp(
            "With --copy: clear the clipboard after so many seconds; 0 never clears it.", valueName: "seconds"))
    var clearAfter = 30

    @Flag(help: "The code of the next period, with its start on standard error.")
    var next = false

    @Flag(help: "Wait for the next code if this one is valid for less than 5 seconds.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: the seconds that the code must be valid.", valueName: "seconds"))
    var atLeast = CodeWait.usualSeconds

    @OptionGroup var options: VaultOptions

    @Flag(
        help: "Print JSON: code, type, issuer, account, and secondsLeft and validUntil or counter; validFrom for the next period."
    )
    var json = false

    func validate() throws {
        guard !next || !wait else { throw ValidationError("--next and --wait exclude each other.") }
        guard !copy || !json else { throw ValidationError("--copy and --json exclude each other.") }
        guard atLeast > 0 else { throw ValidationError("--at-least takes a number of seconds, 1 or more.") }
        guard wait || atLeast == CodeWait.usualSeconds else { throw ValidationError("--at-least needs --wait.") }
        guard copy || clearAfter == 30 else { throw ValidationError("--clear-after needs --copy.") }
        guard (0...86_400).contains(clearAfter) else {
            throw ValidationError("--clear-after takes a number of seconds, at most a day.")
        }
    }

    func run() async throws {
        let copier = copy ? try CodeCopier(clearingAfter: clearAfter) : nil
        let codes = AccountCodes(try AgentAccess.authenticator(options, lookup: true))
        let kinds: Set<Mechanism.KindName> = type.map { [$0 == .totp ? .totp : .hotp] } ?? AccountCodes.kinds
        // A program that reads JSON does not answer questions.
        let found = try await codes.code(name, kinds, period: next ? .next : .current, asks: !json && PickList.isPossible)
        var code = found.code
        if wait {
            let waiting = CodeWait(seconds: atLeast, now: { codes.now }, sleep: { try await Task.sleep(for: $0) })
            code = try await waiting.code(
                after: code, announcing: { if Console.showsToUser { Console.error("The next code comes in \($0) s.") } },
                read: { try await codes.code(of: found.selection) })
        }
        if let copier {
            try copier.copy(code.digits, validity: Self.validity(of: code, in: codes))
        } else if json {
            Console.line(JSONText.line(Self.description(of: code, found.selection, in: codes)))
        } else {
            Self.show(code, in: codes)
        }
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
        let codes = AccountCodes(try AgentAccess.authenticator(nil, lookup: true))
        show(try await codes.code(name, asks: PickList.isPossible).code, in: codes)
    }

    /// Prints the digits, and for a user at a terminal how long they are valid.
    ///
    /// The start of a code that is not valid yet is always reported, because the digits do not show it.
    private static func show(_ code: OneTimeCode, in codes: AccountCodes) {
        Console.line(TerminalText(code.digits))
        if case .time(let start, _) = code.basis, start > codes.now {
            Console.error("Valid from \(start.text).")
        } else if Console.isTerminal, Console.showsToUser, let seconds = code.secondsLeft(at: codes.now) {
            Console.error("\(seconds) s left")
        }
    }

    /// Returns the end of a sentence about a code: how long it is valid, or from when.
    private static func validity(of code: OneTimeCode, in codes: AccountCodes) -> TerminalText {
        switch code.basis {
        case .counter: ""
        case .time(let start, _) where start > codes.now: ", valid from \(start.text)"
        case .time: ", \(code.secondsLeft(at: codes.now) ?? 0) s left"
        }
    }

    private static func description(of code: OneTimeCode, _ selection: Selection, in codes: AccountCodes) -> JSONValue {
        let members: [String: JSONValue] = [
            "code": .string(code.digits), "type": .string(selection.mechanism.kindName.rawValue),
            "issuer": .string(selection.account.account.id.issuer), "account": .string(selection.account.account.id.accountName),
        ]
        return .object(members.merging(code.validity(at: codes.now)) { first, _ in first })
    }
}
