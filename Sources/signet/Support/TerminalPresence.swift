import SignetAuthenticator
import SignetCore

/// A substitute for a fingerprint reader: the user types a word at the terminal, or has confirmed with an option.
///
/// It doesn't verify the user's identity, and says so.
struct TerminalPresence: UserPresence {
    let isSimulated: Bool

    private struct NotConfirmed: Error {}

    func confirm(_ notification: PushNotification) async throws {
        Console.error(
            "This login asks for biometric approval. This machine has no sensor: the check is simulated and recognizes no user.")
        if isSimulated { return }
        guard Console.canAsk else {
            Console.error("There is no terminal to ask at; pass --simulate-biometric to confirm the approval.")
            throw NotConfirmed()
        }
        Console.error("Type 'yes' to approve:")
        guard readLine() == "yes" else { throw NotConfirmed() }
    }
}
