import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetTransfer

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the accounts that make codes to a file, for another authenticator.",
        discussion: """
            Without names, all accounts are written. The file holds the secrets in clear, so signet asks for a confirmation at the \
            terminal; --yes confirms it. With --encrypt the file opens with a passphrase of its own, which is typed, or read from \
            --file-passphrase-fd. Push accounts and locked accounts are not in the file, and neither is what its format cannot hold: \
            cxf has time-based codes only. Records that cannot be read are left out, with exit code 74. For a copy to keep, make a \
            backup: 'signet backup create'.

            EXAMPLES:
              signet export codes.txt
              signet export codes.txt mira 'Harbor Bank:noa'
              signet export --format aegis --encrypt aegis.json
              signet export --format cxf accounts.json
              signet export --yes - | gpg -e -r mira > codes.gpg
            """)

    /// The names of the formats.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case otpauth, aegis, cxf

        var kind: ExportFormat {
            switch self {
            case .otpauth: .otpauth
            case .aegis: .aegis
            case .cxf: .cxf
            }
        }
    }

    @Argument(help: "The file to write, or '-' for standard output.", completion: .file())
    var file: String

    @Argument(
        help: "The accounts to write: the name of each, its issuer, or issuer:account. All without a name.",
        completion: .accounts([.totp, .hotp]))
    var names: [String] = []

    @Option(help: "The format: otpauth, one URI a line; aegis, an Aegis vault; cxf, the FIDO Credential Exchange Format.")
    var format: Format = .otpauth

    @Flag(help: "Encrypt the file with a passphrase of its own. Only with --format aegis.")
    var encrypt = false

    @Flag(help: "Overwrite the file if it is there.")
    var replace = false

    @Flag(help: "Write the secrets in clear without asking.")
    var yes = false

    @OptionGroup var filePassphrase: FilePassphraseOptions
    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: file, format, encrypted, exported, skipped, leftOut; on standard error if the file goes to '-'.")
    var json = false

    private static let confirmation = Confirmation(
        warning: "The list contains the secrets in clear text: a reader of it can generate your codes.", action: "write it",
        withoutTerminal: "the list holds the secrets in clear", declined: "nothing was written")

    func validate() throws {
        guard !encrypt || format.kind.canBeEncrypted else {
            throw ValidationError("a file of the format \(format.rawValue) cannot be encrypted; use --format aegis")
        }
        guard encrypt || filePassphrase.descriptor == nil else {
            throw ValidationError("--file-passphrase-fd is for a file that --encrypt encrypts")
        }
    }

    func run() async throws {
        try TransferFile.checkIsFree(file, replacing: replace)
        if !yes, !encrypt { try await Self.confirmation.ask() }
        let (session, lostCount) = try Session.salvage(options)
        let ids = try await session.offline { try await Self.chosen(names, with: $0) }
        let passphrase = try encrypt ? filePassphrase.newPassphrase(of: "this file", isArchive: false) : nil
        let export = try await session.offline { try await $0.exportFile(as: format.kind, of: ids, passphrase: passphrase) }
        let isWhole = export.damagedCount == 0 && lostCount == nil
        let damagedCount = max(export.damagedCount, lostCount ?? 0)
        guard export.count > 0 else {
            for line in export.skipped.lines { Console.error(line) }
            guard isWhole else { throw Self.notWhole(damagedCount, "nothing was written") }
            throw Failure(
                .notFound, "nothingToExport", "no account here can be exported as \(format.rawValue); nothing was written")
        }
        if file == TransferFile.standardStream {
            Console.bytes(export.content.bytes)
            for line in report(export) { Console.error(line) }
        } else {
            try TransferFile.write(export.content.bytes, to: file, replacing: replace)
            for line in report(export) { Console.line(line) }
        }
        guard isWhole else { throw Self.notWhole(damagedCount, "the list is incomplete") }
    }

    /// Returns the accounts with these names; nil for all accounts.
    private static func chosen(_ names: [String], with authenticator: Authenticator) async throws -> Set<AccountID>? {
        guard !names.isEmpty else { return nil }
        let accounts = try await authenticator.accounts()
        return Set(try names.map { try Selection.account($0, in: accounts).account.id })
    }

    private static func notWhole(_ damagedCount: Int, _ what: String) -> Failure {
        Failure(.store, "damagedRecords", "\(what): \(damagedCount.of("record")) cannot be read; see 'signet accounts'")
    }

    private func report(_ export: FileExport) -> [TerminalText] {
        if json {
            let members: [String: JSONValue] = [
                "file": .string(file), "format": .string(format.rawValue), "encrypted": .bool(encrypt),
                "exported": .integer(Int64(export.count)), "skipped": export.skipped.json, "leftOut": export.leftOut.json,
            ]
            return [JSONText.line(.object(members))]
        }
        let destination = file == TransferFile.standardStream ? "standard output" : file
        let protection = encrypt ? "encrypted" : "in clear"
        return ["Wrote \(export.count.of("secret")) \(protection) to \(destination)"] + export.skipped.lines
            + export.leftOut.lines(for: "in the list")
    }
}
