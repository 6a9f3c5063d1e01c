import SignetCore
import Synchronization

/// The registrations and answers that servers have accepted and the store has not saved yet, so that the next call can save them.
/// The copies of an ``Authenticator`` share one instance, which lives as long as the process and contains no secrets.
final class Unsettled: Sendable {
    /// A registration that a server has accepted.
    struct Registration: Sendable {
        /// The address of the server's push stream, if it has one.
        let stream: Endpoint?
        /// The stored token that the server was given; nil when it was given the token of ``Authenticator``'s initial
        /// ``PushDevice``.
        let token: String?
        /// The push gateway whose inbox address the server was given instead of a token, if any.
        let gateway: Endpoint?
    }

    private let registrations = Mutex<[String: Registration]>([:])
    private let answers = Mutex<[String: PushNotification]>([:])
    private let underWay = Mutex<Set<String>>([])

    /// Returns the accepted registration of a mechanism, if there is one.
    func registration(_ mechanismUID: String) -> Registration? { registrations.withLock { $0[mechanismUID] } }

    func note(_ registration: Registration, of mechanismUID: String) {
        registrations.withLock { $0[mechanismUID] = registration }
    }

    func forgetRegistration(_ mechanismUID: String) {
        registrations.withLock { $0[mechanismUID] = nil }
    }

    /// The answered notifications to store: servers have accepted their answers.
    var answered: [PushNotification] { answers.withLock { Array($0.values) } }

    /// Notes an answered notification. The first answer to a notification wins; later ones are ignored.
    func note(_ answered: PushNotification) {
        answers.withLock { $0[answered.id] = $0[answered.id] ?? answered }
    }

    func forgetAnswer(to notificationID: String) {
        answers.withLock { $0[notificationID] = nil }
    }

    /// Marks a notification as being answered. Returns false when another task is already answering it.
    func beginAnswer(to notificationID: String) -> Bool { underWay.withLock { $0.insert(notificationID).inserted } }

    func endAnswer(to notificationID: String) { _ = underWay.withLock { $0.remove(notificationID) } }
}
