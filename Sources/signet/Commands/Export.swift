import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetTransfer

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the accounts that make codes as a list of otpauth URIs, for another authenticator.",
        discussion: """
            The list holds the secrets in clear, so signet asks for a confirmation at the terminal; --yes confirms it. Push accounts \
            and locked accounts are not in it. Records that cannot be read are left out, with exit code 74. For a copy to keep, \
            make a backup: 'signet backup create'.

            EXAMPLES:
              signet export codes.txt
              signet export --yes - | gpg -e -r mira > codes.gpg
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case otpauth
    }

    @Argument(help: "The file to write, or '-' for standard output.", completion: .file())
    var file: String

    @Option(help: "The format: otpauth, one URI a line.")
    var format: Format = .otpauth

    @Flag(help: "Overwrite the file if it is there.")
    var replace = false

    @Flag(help: "Write the secrets in clear without asking.")
    var yes = false

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: file, exported, skipped, leftOut; on standard error when the list goes to standard output.")
    var json = false

    private static let confirmation = Confirmation(
        warning: "The list contains the secrets in clear text: a reader of it can generate your codes.", action: "write it",
        withoutTerminal: "the list holds the secrets in clear", declined: "nothing was written")

    func run() async throws {
        try TransferFile.checkIsFree(file, replacing: replace)
        if !yes { try await Self.confirmation.ask() }
        let (session, lostCount) = try Session.salvage(options)
        let export = try await session.offline { try await $0.otpauthURIs() }
        let isWhole = export.damagedCount == 0 && lostCount == nil
        let damagedCount = max(export.damagedCount, lostCount ?? 0)
        guard !export.uris.isEmpty else {
            for line in export.skipped.lines { Console.error(line) }
            guard isWhole else { throw Self.notWhole(damagedCount, "nothing was written") }
            throw Failure(.notFound, "nothingToExport", "no account here can be exported as otpauth; nothing was written")
        }
        let list = Array((export.uris.joined(separator: "\n") + "\n").utf8)
        if file == TransferFile.standardStream {
            Console.bytes(list)
            for line in report(export) { Console.error(line) }
        } else {
            try TransferFile.write(list, to: file, replacing: replace)
            for line in report(export) { Console.line(line) }
        }
        guard isWhole else { throw Self.notWhole(damagedCount, "the list is incomplete") }
    }

    private static func notWhole(_ damagedCount: Int, _ what: String) -> Failure {
        Failure(.store, "damagedRecords", "\(what): \(damagedCount.of("record")) cannot be read; see 'signet accounts'")
    }

    private func report(_ export: URIExport) -> [TerminalText] {
        if json {
            let members: [String: JSONValue] = [
                "file": .string(file), "exported": .integer(Int64(export.uris.count)), "skipped": export.skipped.json,
                "leftOut": export.leftOut.json,
            ]
            return [JSONText.line(.object(members))]
        }
        let destination = file == TransferFile.standardStream ? "standard output" : file
        return ["Wrote \(export.uris.count.of("secret")) in clear to \(destination)"] + export.skipped.lines
            + export.leftOut.lines(for: "in the list")
    }
}
