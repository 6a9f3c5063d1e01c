import ArgumentParser
import SignetCore

/// Clears the clipboard after `signet code --copy`, in a process of its own.
struct ClearClipboard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear-clipboard",
        abstract: "Clear the clipboard after some seconds, if it still holds the text on standard input.",
        discussion: """
            'signet code --copy' starts this command.

            EXAMPLES:
              signet code mira | signet clear-clipboard xclip --after 5
            """,
        shouldDisplay: false)

    @Argument(help: "The program that reads and writes the clipboard.")
    var tool: ClipboardTool

    @Option(help: ArgumentHelp("Wait so many seconds first.", valueName: "seconds"))
    var after: Int

    func validate() throws {
        guard (0...86_400).contains(after) else { throw ValidationError("--after takes a number of seconds, at most a day.") }
    }

    func run() async throws {
        let input = try TransferFile.contents(of: TransferFile.standardStream, limit: ClipboardTool.maxCodeSize)
        // A user who types the text, and most programs, end the line.
        guard let input, let text = String(validating: input, as: UTF8.self)?.trimmingWhitespace(), !text.isEmpty else {
            throw Failure(.badInput, "input", "standard input is not a code")
        }
        try await Task.sleep(for: .seconds(after))
        _ = try tool.clear(ifHolding: Array(text.utf8))
    }
}
