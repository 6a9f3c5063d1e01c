import SignetAuthenticator
import Synchronization

/// The answers that were sent and whose fate is not known, in memory: a storage client has no place for them. Without them a server
/// that took an answer whose response was lost, and refuses it when it comes again, would be believed.
final class SentAnswers: Sendable {
    private let answers = Mutex<[String: SentAnswer]>([:])

    func answer(to notificationID: String) -> SentAnswer? { answers.withLock { $0[notificationID] } }

    func note(_ answer: SentAnswer?, to notificationID: String) { answers.withLock { $0[notificationID] = answer } }
}
