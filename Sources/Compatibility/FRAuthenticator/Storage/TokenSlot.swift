import SignetAuthenticator
import SignetStorage
import Synchronization

/// The device's push token, in memory and as the storage client has it. The client is read once, when the SDK starts. It is
/// written only for another token, and for the outcome of sending the token to servers.
final class TokenSlot: Sendable {
    private let state: Mutex<State>

    /// The token as a storage client stores it.
    struct Kept: Sendable, Equatable {
        var stored: StoredDeviceToken
        /// True while the update of servers is incomplete. The token must then be sent for all mechanisms, not only those that
        /// ``stored`` lists.
        var isUntold: Bool
    }

    private struct State {
        /// The token as the engine sees it.
        var seen: StoredDeviceToken?
        /// The token as the client has it.
        var kept: Kept?
        var isUntold = false
    }

    init(_ kept: Kept?) {
        state = Mutex(State(seen: kept?.stored, kept: kept, isUntold: kept?.isUntold ?? false))
    }

    var token: StoredDeviceToken? { state.withLock { $0.seen } }

    /// True when the token was stored, and sending it to servers has not begun or was interrupted by the end of the app.
    var isUntold: Bool {
        get { state.withLock { $0.isUntold } }
        set { state.withLock { $0.isUntold = newValue } }
    }

    /// The token as the client has it.
    var kept: Kept? { state.withLock { $0.kept } }

    /// Returns the value to write to the client when the engine stores `token`; nil when the client needs no update.
    func news(of token: StoredDeviceToken) -> Kept? {
        let (kept, isUntold) = state.withLock { ($0.kept, $0.isUntold) }
        guard let kept, kept.stored.token == token.token else { return Kept(stored: token, isUntold: isUntold) }
        // While the token must go to all servers, the client already says so. The outcome is written afterwards.
        let outcome = Kept(stored: token, isUntold: false)
        return isUntold || kept == outcome ? nil : outcome
    }

    func see(_ token: StoredDeviceToken?) {
        state.withLock { state in
            state.seen = token
            state.isUntold = false
        }
    }

    func keep(_ token: Kept?) { state.withLock { $0.kept = token } }
}
