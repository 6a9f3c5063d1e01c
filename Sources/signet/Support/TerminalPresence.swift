import SignetAuthenticator
import SignetCore

/// A stand-in for a fingerprint reader: a person at the terminal who types a word, or who has vouched on the command line.
/// It recognises nobody, and says so.
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
