import SignetAuthenticator
import Synchronization

/// The answers that were sent and that have an unknown outcome. They are in memory, because a storage client can't store them.
/// When the server has accepted an answer and its response was lost, the server rejects the repeated answer. Only with this
/// record does the engine know that the rejection doesn't mean failure.
final class SentAnswers: Sendable {
    private let answers = Mutex<[String: SentAnswer]>([:])

    func answer(to notificationID: String) -> SentAnswer? { answers.withLock { $0[notificationID] } }

    func note(_ answer: SentAnswer?, to notificationID: String) { answers.withLock { $0[notificationID] = answer } }
}
