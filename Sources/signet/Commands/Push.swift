import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage

struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Receive push messages and answer them.",
        discussion: """
            EXAMPLES:
              signet push listen
              signet push list
              signet push approve 3f2a --number 42
            """,
        subcommands: [Listen.self, List.self, Approve.self, Deny.self])

    struct Listen: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "listen", abstract: "Wait for push messages on the server's push stream and store them in the vault.",
            discussion: """
                Runs until it is interrupted. Reconnects after a lost connection, and then also gets the messages that arrived \
                meanwhile. With --once it ends after the first message that can still be answered.

                EXAMPLES:
                  signet push listen
                  signet push listen --once --timeout 60
                """)

        @Argument(help: "The account; without it all accounts that take push messages.", completion: .accounts([.push]))
        var name: String?

        @Flag(help: "End after the first message that waits for an answer.")
        var once = false

        @Option(name: .customLong("timeout"), help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
        var seconds: Int?

        @OptionGroup var trust: TrustOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, one message a line.")
        var json = false

        func validate() throws {
            if let seconds, seconds < 1 { throw ValidationError("--timeout takes a number of seconds, 1 or more.") }
        }

        func run() async throws {
            let session = try Session.open(options, trust: trust)
            let selections = try await Selection.push(name, with: OpenedAuthenticator(session: session))
            try await PushListening(session, to: selections, once: once, seconds: seconds, json: json).run()
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the push messages that wait for an answer.",
            discussion: """
                EXAMPLES:
                  signet push list
                  signet push list --all --json
                """)

        @Flag(help: "Also those that were answered or have expired.")
        var all = false

        @OptionGroup var options: VaultOptions

        @Flag(help: "Print JSON, one message a line.")
        var json = false

        func run() async throws {
            let authenticator = try AgentAccess.authenticator(options)
            let (found, accounts) = (try await authenticator.notifications(), try await authenticator.accounts())
            let now = SystemWallClock().now
            let notifications = found.filter { all || $0.state(at: now) == .pending }
            if !json, notifications.isEmpty { Console.line(all ? "No messages." : "No message waits for an answer.") }
            for notification in notifications {
                Console.line(NotificationDescription(notification, of: accounts, at: now).line(json: json))
            }
        }
    }

    struct Approve: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "approve", abstract: "Answer a push message with yes.",
            discussion: """
                EXAMPLES:
                  signet push approve 3f2a
                  signet push approve 3f2a --number 42
                """)

        @Argument(help: "The message's id, or as much of its beginning as is unique.", completion: .messages)
        var id: String

        @Option(help: "The number that the login page shows, when the message asks for it.")
        var number: Int?

        @Flag(help: "Simulate a successful fingerprint check, on a machine without a reader.")
        var simulateBiometric = false

        @OptionGroup var trust: TrustOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print the answered message as JSON.")
        var json = false

        func run() async throws {
            let presence = TerminalPresence(isSimulated: simulateBiometric)
            // The agent checks the presence itself, and simulates nothing.
            let authenticator = try AgentAccess.authenticator(options, trust: trust, asksAgent: !simulateBiometric)
            try await Push.answer(id, authenticator, json: json) { try await $0.approve($1, number: number, presence: presence) }
        }
    }

    struct Deny: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "deny", abstract: "Answer a push message with no.",
            discussion: """
                EXAMPLES:
                  signet push deny 3f2a
                """)

        @Argument(help: "The message's id, or as much of its beginning as is unique.", completion: .messages)
        var id: String

        @OptionGroup var trust: TrustOptions
        @OptionGroup var options: VaultOptions

        @Flag(help: "Print the answered message as JSON.")
        var json = false

        func run() async throws {
            let authenticator = try AgentAccess.authenticator(options, trust: trust)
            try await Push.answer(id, authenticator, json: json) { try await $0.deny($1) }
        }
    }

    private static func answer(
        _ prefix: String, _ authenticator: any VaultAuthenticator, json: Bool,
        _ send: (any VaultAuthenticator, String) async throws -> PushNotification
    ) async throws {
        let accounts = try await authenticator.accounts()
        let id = try fullID(prefix, in: try await authenticator.notifications())
        let answered = try await send(authenticator, id)
        Console.line(NotificationDescription(answered, of: accounts, at: SystemWallClock().now).line(json: json))
    }

    private static func fullID(_ prefix: String, in notifications: [PushNotification]) throws -> String {
        let matches = notifications.filter { $0.id.lowercased().hasPrefix(prefix.lowercased()) }
        guard let match = matches.first, !prefix.isEmpty else {
            throw Failure(.notFound, "notFound", "no message has an id that begins with '\(prefix)'; see 'signet push list'")
        }
        guard matches.count == 1 else {
            throw Failure(
                .badInput, "ambiguous", "\(matches.count) messages have ids that begin with '\(prefix)'; give more of it")
        }
        return match.id
    }
}
