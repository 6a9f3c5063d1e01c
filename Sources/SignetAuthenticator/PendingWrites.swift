import SignetCore

/// The registrations and answers that servers have accepted and the store has not saved yet, so that the next call can save them.
///
/// The copies of an ``Authenticator`` share one instance, which lives as long as the process. It contains no secrets, except the key
/// of a registration on a platform whose device makes one.
final class PendingWrites: Sendable {
    /// A registration that a server has accepted.
    struct Registration: Sendable {
        /// The address of the server's push stream and the keys, as far as the platform has them.
        let result: PushRegistration
        /// The stored token that the server was given; nil when it was given the token of ``Authenticator``'s initial
        /// ``PushDevice``.
        let token: String?
        /// The push gateway whose inbox address the server was given instead of a token, if any.
        let gateway: Endpoint?
    }

    private struct State {
        var registrations: [String: Registration] = [:]
        var answers: [String: PushNotification] = [:]
        var underWay: Set<String> = []
    }

    private let state = Mutex(State())

    /// Returns the accepted registration of a mechanism, if there is one.
    func registration(of mechanismUID: String) -> Registration? { state.withLock { $0.registrations[mechanismUID] } }

    /// Adds or, with nil, removes the accepted registration of a mechanism.
    func set(_ registration: Registration?, of mechanismUID: String) {
        state.withLock { $0.registrations[mechanismUID] = registration }
    }

    /// The answered notifications to store: servers have accepted their answers.
    var answers: [PushNotification] { state.withLock { Array($0.answers.values) } }

    /// Returns the answered notification with this id, if there is one.
    func answer(to notificationID: String) -> PushNotification? { state.withLock { $0.answers[notificationID] } }

    /// Adds an answered notification.
    ///
    /// The first answer to a notification wins; later ones are ignored.
    func add(_ answered: PushNotification) {
        state.withLock { $0.answers[answered.id] = $0.answers[answered.id] ?? answered }
    }

    func removeAnswer(to notificationID: String) { state.withLock { $0.answers[notificationID] = nil } }

    /// Marks a notification as being answered.
    ///
    /// Returns false when another task is already answering it.
    func beginAnswer(to notificationID: String) -> Bool { state.withLock { $0.underWay.insert(notificationID).inserted } }

    func endAnswer(to notificationID: String) { state.withLock { _ = $0.underWay.remove(notificationID) } }
}
