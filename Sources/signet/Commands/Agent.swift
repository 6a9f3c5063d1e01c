import AgentWire
import ArgumentParser
import Foundation
import SignetCore
import SignetStorage

struct Agent: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Hold the unlocked vault for other commands, until it is locked.",
        discussion: """
            The agent performs what commands ask for, such as making a code or answering a push message, and never hands out a key \
            or the secret of an account. Only processes of the same user reach it. The passphrase is asked for once: when the agent \
            starts at a terminal, or by the first command that needs it.

            The vault is locked again after a time without use, and by 'signet lock'. Commands use the agent when it runs, and open \
            the vault themselves when not. 'export', 'backup', 'import', 'login' and 'vault' always open it themselves.

            EXAMPLES:
              signet agent
              signet agent --lock-after 3600
              signet agent \\
                  --confirm-with 'zenity --question --no-markup --text'
              systemctl --user enable --now signet-agent.socket
            """,
        subcommands: [Run.self, Status.self], defaultSubcommand: Run.self)
}

extension Agent {
    struct Run: NetworkedCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Start the agent in the foreground. 'signet agent' does this.",
            discussion: """
                EXAMPLES:
                  signet agent run --lock-after 3600
                """)

        @Option(
            help: ArgumentHelp(
                "Lock the vault after so many seconds without use; 0 for never. Default: 900.", valueName: "seconds"))
        var lockAfter = 900

        @Option(
            help: ArgumentHelp(
                "Ask for each use by this program, which gets the question as its last argument and allows the use with status 0.",
                valueName: "command"))
        var confirmWith: String?

        @Flag(inversion: .prefixedNo, help: "Listen for push messages, and show them as notifications of the desktop.")
        var push = true

        @OptionGroup var trust: TrustOptions
        @OptionGroup var options: VaultOptions

        private static let maxSeconds = 1_000_000_000

        func validate() throws {
            guard (0...Self.maxSeconds).contains(lockAfter) else {
                throw ValidationError("--lock-after takes a number of seconds from 0 to \(Self.maxSeconds).")
            }
        }

        func run() async throws {
            // A vault that does not exist yet is unlocked by the first command that needs it.
            let directory = try Session.directory()
            MemoryProtection.forbidReading()
            let confirmation = try confirmWith.map { try ProgramConfirmation($0) }
            let listener = try AgentListener.open(ProcessInfo.processInfo.environment)
            defer { listener.remove() }
            let vault = AgentVault(directory, authorityFile: try trust.authorityFile())
            try unlock(vault)
            let environment = ProcessInfo.processInfo.environment
            let server = AgentServer(
                vault: vault, confirmation: confirmation, environment: environment,
                notices: push ? AgentNotices(environment) : nil)
            Console.error(
                vault.isUnlocked
                    ? "The agent holds the vault in \(directory.path)."
                    : "The agent runs; the vault in \(directory.path) is locked. The next command that asks for the passphrase unlocks it."
            )
            do {
                try await Interrupt.ending { try await serve(server, listener) }
            } catch is CancellationError {
                // SIGTERM is how an agent ends.
            }
        }

        private func serve(_ server: AgentServer, _ listener: AgentListener) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await server.run(listener.descriptor) }
                let (vault, environment) = (server.vault, server.environment)
                if lockAfter > 0 { group.addTask { await vault.lockWhenIdle(for: .seconds(lockAfter)) } }
                group.addTask { await AgentSessionLock(vault: vault, environment: environment).run() }
                if let notices = server.notices { group.addTask { await AgentPush(vault: vault, notices: notices).run() } }
                // Only the server ends by itself.
                try await group.next()
            }
        }

        /// Unlocks the vault without a question, or else with a passphrase from the terminal or a descriptor.
        ///
        /// Without either, as in a service of systemd, the vault stays locked.
        private func unlock(_ vault: AgentVault) throws {
            guard vault.directory.holdsVault else { return }
            if options.passphraseDescriptor == nil, let session = Session.openUnattended(in: vault.directory) {
                return vault.unlock(session, since: 0)
            }
            guard options.passphrase.isUsable else { return }
            vault.unlock(try Session.open(options).forgettingPassphrase(), since: 0)
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Print whether an agent runs, and whether it holds the vault unlocked.",
            discussion: """
                EXAMPLES:
                  signet agent status
                  signet agent status --json
                """)

        @Flag(help: "Print JSON: state, pid, idleSeconds.")
        var json = false

        func run() throws { try AgentState(of: .status).report(json: json) }
    }
}

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock the vault that the agent holds.",
        discussion: """
            Keys leave the agent's memory when the operations in progress have ended. The next command that needs the vault opens it \
            again, with the passphrase if the vault has one.

            EXAMPLES:
              signet lock
            """)

    @Flag(help: "Print JSON: state, pid, idleSeconds.")
    var json = false

    func run() throws { try AgentState(of: .lock).report(json: json) }
}

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock the vault for the agent.",
        discussion: """
            EXAMPLES:
              signet unlock
              signet unlock --passphrase-fd 0
            """)

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: state, pid, idleSeconds.")
    var json = false

    func run() throws {
        // Without an agent the user need not type anything.
        if try AgentState(of: .status).isUnlocked { return try AgentState(of: .status).report(json: json) }
        if options.passphraseDescriptor == nil, let state = try? AgentState(of: .unlock) { return state.report(json: json) }
        try AgentState(of: .unlock, passphrase: options.passphrase.passphrase()).report(json: json)
    }
}

/// The state that an agent reports.
private struct AgentState {
    let isUnlocked: Bool
    private let process: String
    private let idleSeconds: String

    /// Sends a request about the agent.
    /// - Parameters:
    ///   - request: The request.
    ///   - passphrase: The passphrase to unlock the vault; nil without one.
    /// - Throws: ``Failure`` when no agent runs for this vault, and when it refuses.
    init(of request: AgentControl.Name, passphrase: Secret? = nil) throws {
        let agent = AgentConnection(ProcessInfo.processInfo.environment)
        switch try agent?.reply(to: request.rawValue, secret: passphrase) {
        case .result(let fields):
            let texts = fields.map { String(decoding: $0, as: UTF8.self) }
            guard texts.count == 3 else {
                throw Failure(.protocolBroken, "agent.unreadable", "the reply of the agent cannot be read")
            }
            // The state names the reason for which the vault is locked.
            (isUnlocked, process, idleSeconds) = (texts[0] == "unlocked", texts[1], texts[2])
        case .failure(let failure): throw Failure(agent: failure)
        case .declined(.otherVault):
            throw Failure(.notFound, "agent.otherVault", "the agent that runs holds another vault")
        case .declined(let reason):
            throw Failure(.notFound, "agent.declined", "the agent that runs cannot be used: \(reason.rawValue)")
        case nil where AgentSocket.isOff { ProcessInfo.processInfo.environment[$0] }:
            throw Failure(.notFound, "agent.off", "SIGNET_AGENT=off is set, so this command asks no agent")
        case nil: throw Failure(.notFound, "agent.none", "no agent runs; 'signet agent' starts one")
        }
    }

    func report(json: Bool) {
        guard json else {
            let state: TerminalText = isUnlocked ? "unlocked" : "locked"
            return Console.line("\(state), process \(process), not used for \(idleSeconds) s")
        }
        Console.line(
            JSONText.line(
                .object([
                    "state": .string(isUnlocked ? "unlocked" : "locked"), "pid": .integer(Int64(process) ?? 0),
                    "idleSeconds": .integer(Int64(idleSeconds) ?? 0),
                ])))
    }
}
