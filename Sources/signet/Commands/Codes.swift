import ArgumentParser
import Foundation
import SignetCore
import SignetStorage

struct Codes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes",
        abstract: "List the accounts that make codes, with their current codes.",
        discussion: """
            Each line has the issuer, the account, the code, and the seconds that it is valid. A counter-based account has its \
            counter instead of a code, and no code is used up: 'signet code' prints it. 'codes on NAME' names the machine that \
            generates them ('signet sync'). A query leaves the accounts with a similar name, the most similar first: a part of the \
            name, or some of its letters. Ends with 74 when records are damaged, after the list of those that can be read.

            EXAMPLES:
              signet codes
              signet codes harb
              signet codes --watch
              signet codes --json
            """)

    @Argument(help: "A part of the name of the accounts; without it all of them.", completion: .accounts(AccountCodes.kinds))
    var query: String?

    @Flag(help: "Show the codes on the terminal and refresh them each second, until Ctrl-C.")
    var watch = false

    @OptionGroup var options: VaultOptions

    @Flag(
        help: """
            Print JSON, one account a line: issuer, account, type, and code, secondsLeft and validUntil, or counter, or counterOwner, \
            or locked.
            """)
    var json = false

    func validate() throws {
        guard !watch || !json else { throw ValidationError("--watch and --json exclude each other.") }
        guard query != "" else { throw ValidationError("The query is empty.") }
    }

    func run() async throws {
        guard !watch || Console.isTerminal else {
            throw Failure(
                .usage, "terminal", "--watch refreshes a terminal, and standard output is not one; 'signet codes' prints a list")
        }
        let authenticator = try AgentAccess.authenticator(options)
        let codes = AccountCodes(watch ? authenticator.forView() : authenticator)
        let (entries, damaged) = try await codes.list(matching: query)
        if entries.isEmpty, damaged.isEmpty {
            guard let query else {
                if !json { Console.line("No account makes codes yet. Add one with 'signet enroll FILE'.") }
                return
            }
            throw Failure(.notFound, "notFound", "no account that makes codes has a name similar to '\(query)'")
        }
        if watch {
            let screen = CodeScreen(codes, query: query)
            return try await Interrupt.ending { try await screen.run(entries) }
        }
        let now = codes.now
        for line in json ? entries.map({ JSONText.line($0.json(at: now)) }) : CodeTable(entries).lines(at: now) {
            Console.line(line)
        }
        guard !damaged.isEmpty else { return }
        // On standard error, so that programs which read the list get only codes.
        for record in damaged { Console.error("signet: \(record.error)") }
        throw Failure(
            .store, "damagedRecords",
            "\(damaged.count.of("record")) cannot be read, and the list is without what is in them; see 'signet accounts'")
    }
}
