import SignetCore
import Synchronization

/// What servers have accepted and the store has not taken yet: so the next call can make up for it. It is shared by the copies
/// of an ``Authenticator`` and ends with the process; nothing in it is secret.
final class Unsettled: Sendable {
    /// A registration.
    struct Registration: Sendable {
        /// Where the server's desk is, if it has one.
        let stream: Endpoint?
        /// The stored token that the server was told; nil when it was told the device's first one.
        let token: String?
        /// The push front whose mailbox the server was told instead, if there is one.
        let front: Endpoint?
    }

    private let registrations = Mutex<[String: Registration]>([:])
    private let answers = Mutex<[String: PushNotification]>([:])
    private let underWay = Mutex<Set<String>>([])

    /// The registration of a mechanism that was accepted.
    func registration(_ mechanismUID: String) -> Registration? { registrations.withLock { $0[mechanismUID] } }

    func note(_ registration: Registration, of mechanismUID: String) {
        registrations.withLock { $0[mechanismUID] = registration }
    }

    func forgetRegistration(_ mechanismUID: String) {
        registrations.withLock { $0[mechanismUID] = nil }
    }

    /// The notifications whose answers were accepted, as they are to be stored.
    var answered: [PushNotification] { answers.withLock { Array($0.values) } }

    /// The first answer to a notification is the one that counts.
    func note(_ answered: PushNotification) {
        answers.withLock { $0[answered.id] = $0[answered.id] ?? answered }
    }

    func forgetAnswer(to notificationID: String) {
        answers.withLock { $0[notificationID] = nil }
    }

    /// Says that somebody answers a notification now. False when somebody else does already.
    func beginAnswer(to notificationID: String) -> Bool { underWay.withLock { $0.insert(notificationID).inserted } }

    func endAnswer(to notificationID: String) { _ = underWay.withLock { $0.remove(notificationID) } }
}
