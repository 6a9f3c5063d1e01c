/// A question that the user answers with `yes` before something that can't be undone.
struct Confirmation {
    /// The sentence that describes what will happen.
    let warning: TerminalText
    /// The end of "Type 'yes' to ...".
    let action: TerminalText
    /// The message without a terminal; it lacks the advice to pass `--yes`.
    let withoutTerminal: TerminalText
    /// The message after any answer but `yes`.
    let declined: String

    /// Asks at the terminal.
    /// - Throws: ``Failure`` with exit code 77 if standard input isn't a terminal or the answer isn't `yes`; `CancellationError`
    ///   at the end of the input, and when the task is canceled.
    func ask() async throws {
        guard Console.canAsk else {
            throw Failure(.notAllowed, "notConfirmed", "\(withoutTerminal); pass --yes if that is what you want")
        }
        Console.error("\(warning) Type 'yes' to \(action):")
        guard let answer = try await TerminalInput.line() else { throw CancellationError() }
        guard answer == Array("yes".utf8) else { throw Failure(.notAllowed, "notConfirmed", declined) }
    }
}
