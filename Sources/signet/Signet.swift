import ArgumentParser

/// `signet`: an authenticator and a server for the desk. One file a verb, in `Verbs/`.
///
/// Every verb spells its name out: to make one from the type's, the argument parser starts the regular expressions of ICU,
/// which takes longer than all the rest of a short verb.
@main
struct Signet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet",
        abstract: "One-time codes, push approvals and login journeys from the command line.",
        discussion: """
            Accounts live in a vault at $SIGNET_HOME, or $STATE_DIRECTORY/signet (a service's), or $XDG_DATA_HOME/signet, or
            ~/.local/share/signet. Make one with 'signet init'. Exit codes and the JSON of every verb:
            docs/cli.md.
            """,
        version: "signet 0.1.0",
        subcommands: [
            Demo.self, Serve.self, Init.self, Protect.self, Doctor.self, Enroll.self, Accounts.self, Code.self, Push.self,
            Import.self, Export.self, Backup.self, Login.self, Token.self, Userinfo.self, Logout.self,
        ])

    static func main() async {
        MemoryImage.keepOffDisk()
        if let name = Code.plainName(in: CommandLine.arguments.dropFirst()) {
            do {
                return try await Code.printCode(name)
            } catch {
                Failure.report(error)
            }
        }
        var command: any ParsableCommand
        do {
            command = try parseAsRoot()
        } catch {
            Failure.reportUsage(error)
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure.report(error)
        }
    }
}
