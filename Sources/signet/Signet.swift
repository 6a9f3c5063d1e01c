import ArgumentParser
import Logging

/// The `signet` program: an authenticator and a development server.
///
/// Each command has its own file in `Commands/`.
///
/// Every command sets its name explicitly. To derive the name from the type, the argument parser uses ICU regular expressions,
/// which takes longer than everything else in a short command.
@main
struct Signet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet",
        abstract: "One-time codes, push approvals and login journeys from the command line.",
        discussion: """
            Accounts are stored in a vault: $SIGNET_HOME, or $STATE_DIRECTORY/signet (that of a service), or $XDG_DATA_HOME/signet, or \
            ~/.local/share/signet. 'signet init' creates it, or else the first 'enroll', 'import', 'backup restore' or 'login'. \
            'man signet' lists the exit codes, and 'signet completions' prints a script with which a shell completes arguments.

            Documentation: \(HelpText.documentation)

            EXAMPLES:
              signet enroll harbor.png
              signet code mira
              signet push listen
              signet login https://am.example.com/am --client desktop
            """,
        version: "signet 0.1.0",
        subcommands: [
            Demo.self, Serve.self, JourneysCommand.self, Init.self, VaultCommand.self, Doctor.self, Agent.self, Lock.self,
            Unlock.self, Enroll.self,
            Accounts.self, Code.self, Codes.self, Watch.self, Show.self, Push.self, Import.self, Export.self, Backup.self,
            Sync.self, Login.self, Ask.self, Token.self, Userinfo.self, Devices.self, Logout.self, Passkeys.self, Check.self,
            Completions.self, ClearClipboard.self,
        ])

    static func main() async {
        ProcessLimits.disableCoreDumps()
        // Loggers of libraries write through the same handler.
        LoggingSystem.bootstrap { TerminalLogHandler(label: $0) }
        do {
            // Until the first suspension, this function runs before Dispatch starts its threads.
            if let name = Code.plainName(in: CommandLine.arguments.dropFirst()) {
                try ProcessLimits.requireOpenFiles(isNetworked: false)
                return try await Code.printCode(name)
            }
            var command = parsedCommand()
            if isHelp(command) {
                if let message = UnknownCommand.messageAfterHelp(in: CommandLine.arguments.dropFirst()) {
                    Failure.reportUsage(saying: message)
                }
            } else {
                try ProcessLimits.requireOpenFiles(isNetworked: command is any NetworkedCommand)
            }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure.report(error)
        }
    }

    /// Returns true for the argument parser's command that prints the help of another one.
    private static func isHelp(_ command: any ParsableCommand) -> Bool { type(of: command).configuration.commandName == "help" }

    private static func parsedCommand() -> any ParsableCommand {
        do { return try parseAsRoot() } catch { Failure.reportUsage(error) }
    }
}
