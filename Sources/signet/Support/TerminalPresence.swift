import SignetAuthenticator
import SignetCore

/// A substitute for a fingerprint reader: the user types a word at the terminal, or has confirmed with an option. It doesn't
/// verify the user's identity, and says so.
struct TerminalPresence: UserPresence {
    let vouched: Bool

    private struct NotConfirmed: Error {}

    func confirm(_ notification: PushNotification) async throws {
        Console.error(
            "This login asks for biometric approval. This machine has no reader: a stand-in is used, which recognises nobody.")
        if vouched { return }
        guard Console.canAsk else {
            Console.error("Nobody can be asked here; pass --stand-in-for-biometric to vouch yourself.")
            throw NotConfirmed()
        }
        Console.error("Type 'yes' to approve:")
        guard readLine() == "yes" else { throw NotConfirmed() }
    }
}
