import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the script with which a shell completes the arguments of signet.",
        discussion: """
            The shell then completes commands, options and values: files, names of accounts and logins, IDs of push messages, and the \
            journeys of a server without a configuration file. Accounts, logins and messages come from the running agent: a \
            completion opens no vault, and without an agent, or with a locked one, these values are not completed.

            EXAMPLES:
              signet completions bash \\
                > ~/.local/share/bash-completion/completions/signet
              signet completions zsh > ~/.zfunc/_signet
              signet completions fish \\
                > ~/.config/fish/completions/signet.fish
            """)

    /// The shells with a script.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "The shell.")
    var shell: Shell

    func run() {
        let known: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Console.bytes(Array((Signet.completionScript(for: known) + "\n").utf8))
    }
}
