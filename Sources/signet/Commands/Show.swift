import ArgumentParser
import Foundation
import SignetAuthenticator
import SignetCore

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the settings of an account that makes codes, or its secret for another authenticator.",
        discussion: """
            --qr draws the QR code that another authenticator scans, and --secret prints the secret in Base32 to type it there. \
            Both ask first, because a reader of the secret can generate the codes of the account; --yes confirms it. Without them, the \
            settings are printed and the secret is left out. A locked account shows no secret. Several accounts go to another \
            authenticator with 'signet export', and all of them into a backup with 'signet backup create'.

            EXAMPLES:
              signet show mira
              signet show 'Harbor Bank:mira' --qr
              signet show mira --secret
            """)

    @Argument(help: "The account: its name, its issuer, or issuer:account.", completion: .accounts(AccountCodes.kinds))
    var name: String

    @Option(help: "The kind, for an account that has both.")
    var type: Code.CodeType?

    @Flag(help: "Draw the QR code of the account.")
    var qr = false

    @Flag(help: "Print the secret.")
    var secret = false

    @Flag(help: "Show the secret without asking, also where standard output is not a terminal.")
    var yes = false

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON with the members of the enrollment; with --secret the secret is in it.")
    var json = false

    func validate() throws {
        guard !qr || !secret else { throw ValidationError("--qr and --secret exclude each other.") }
        guard !qr || !json else { throw ValidationError("--qr and --json exclude each other.") }
        guard qr || secret || !yes else {
            throw ValidationError("--yes confirms that a secret is shown: it needs --qr or --secret.")
        }
    }

    func run() async throws {
        let showsSecret = qr || secret
        guard !showsSecret || yes || Console.isTerminal else {
            throw Failure(
                .notAllowed, "notConfirmed",
                "the secret would go to a file or a program, not to a terminal; pass --yes if that is what you want")
        }
        let codes = AccountCodes(OpenedAuthenticator(session: try Session.open(options)))
        let kinds: Set<Mechanism.KindName> = type.map { [$0 == .totp ? .totp : .hotp] } ?? AccountCodes.kinds
        let selection = try await codes.selection(name, kinds, asks: !json && PickList.isPossible)
        guard let enrollment = selection.enrollment else {
            throw Failure(.notFound, "notFound", "\(selection.title) makes no codes")
        }
        if showsSecret {
            if let lock = selection.account.lock { throw AuthenticatorError.locked(lock) }
            if !yes { try await Self.confirmation(selection).ask() }
        }
        if qr { return try Self.draw(enrollment) }
        let text = enrollment.oath.map { $0.secret.withUnsafeBytes { Base32.encode($0) } } ?? ""
        if json {
            var members = EnrollmentDescription(enrollment, renamedFrom: enrollment.account, replaced: []).json.object ?? [:]
            if secret { members["secret"] = .string(text) }
            Console.line(JSONText.line(.object(members)))
        } else if secret {
            Console.line(TerminalText(Console.isTerminal ? Self.inGroups(text) : text))
        } else {
            Console.line("\(enrollment.account.issuer): \(enrollment.account.accountName)")
            let description = EnrollmentDescription(enrollment, renamedFrom: enrollment.account, replaced: [])
            for (name, value) in description.lines { Console.line("  \(name): \(value)") }
        }
    }

    private static func confirmation(_ selection: Selection) -> Confirmation {
        // Two devices that count alone soon have different counters.
        let counter: TerminalText =
            selection.mechanism.kindName == .hotp ? " Both authenticators then use the same counter: use only one of them." : ""
        return Confirmation(
            warning:
                "This shows the secret of \(selection.title): a reader of the secret can generate the codes.\(counter)",
            action: "show it", withoutTerminal: "the secret of \(selection.title) would be shown",
            declined: "the secret was not shown")
    }

    /// Draws the enrollment on standard output.
    private static func draw(_ enrollment: Enrollment) throws {
        let drawing = try QRDrawing(text: EnrollmentURI.printListed(enrollment))
        if Console.isTerminal, let size = TerminalSize(of: STDOUT_FILENO), size.columns < drawing.terminalColumns {
            throw Failure(
                .unavailable, "terminal",
                "the window has \(size.columns) columns, and the QR code needs \(drawing.terminalColumns): make the window wider or"
                    + " the font smaller")
        }
        Console.bytes(Array(drawing.terminalText(ansi: Console.isTerminal).utf8))
        if Console.isTerminal, Console.showsToUser { Console.error("The window shows the secret until you clear it.") }
    }

    /// Returns a secret in groups of four characters, which are easier to type.
    static func inGroups(_ text: String) -> String {
        var result = ""
        for (position, character) in text.enumerated() {
            if position > 0, position.isMultiple(of: 4) { result += " " }
            result.append(character)
        }
        return result
    }
}

extension Selection {
    /// The mechanism as an enrollment for another authenticator; nil when it makes no codes.
    var enrollment: Enrollment? {
        guard let oath = mechanism.oath else { return nil }
        let account = account.account
        return Enrollment(
            account: account.id, oath: oath, oathResourceID: mechanism.resourceID, userID: mechanism.userID,
            imageURL: account.imageURL, backgroundColor: account.backgroundColor, policies: account.policies)
    }
}
