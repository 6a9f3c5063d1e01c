import ArgumentParser
import Foundation
import SignetCore

struct Watch: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show codes and waiting logins on the whole terminal.",
        discussion: """
            Type to search: the most similar account comes first. The arrow keys select an account, and Enter copies its code. A \
            counter-based code is used up by that, so Enter asks first. Tab goes to the push messages that wait, at the top; there 'a' \
            approves the selected one, 'd' denies it, and digits give the number that the login page shows. Esc clears the search, \
            and then ends; so does Ctrl-C, with 130.

            Messages arrive through 'signet agent' or 'signet push listen', or with --listen through this command. After 10 minutes \
            without a key the codes are hidden until the next key. NO_COLOR turns colors off.

            EXAMPLES:
              signet watch
              signet watch harbor
              signet watch --listen
            """)

    @Argument(help: "The text of the search at the beginning.", completion: .accounts(AccountCodes.kinds))
    var query: String?

    @Flag(help: "Listen for push messages, if no agent does.")
    var listen = false

    @Option(help: ArgumentHelp("Clear the clipboard after so many seconds; 0 never clears it.", valueName: "seconds"))
    var clearAfter = 30

    @OptionGroup var trust: TrustOptions
    @OptionGroup var options: VaultOptions

    func validate() throws {
        guard (0...86_400).contains(clearAfter) else {
            throw ValidationError("--clear-after takes a number of seconds, at most a day.")
        }
    }

    func run() async throws {
        guard Console.isTerminal, Console.canAsk else {
            throw Failure(
                .usage, "terminal",
                "signet watch needs a terminal for its input and output; 'signet codes' and 'signet push list' print lists")
        }
        let copier = try CodeCopier(clearingAfter: clearAfter)
        let authenticator = try AgentAccess.authenticator(options, trust: trust).forView()
        let source = WatchSource(authenticator: authenticator, directory: try Session.directory())
        // Before the reading, so that a change during it is noticed.
        let stamp = source.stamp()
        let contents = try await source.contents(at: SystemWallClock().now, checksRecords: true)
        // The agent listens for all accounts whose vault it holds.
        let listening = listen ? (authenticator as? OpenedAuthenticator)?.session : nil
        let (filter, environment) = (query ?? "", ProcessInfo.processInfo.environment)
        try await Interrupt.ending {
            var loop = WatchLoop(
                source, contents, stamp: stamp, copier: copier, listening: listening, filter: filter, environment: environment)
            try await loop.run()
        }
    }
}
