import SignetAuthenticator
import SignetStorage
import Synchronization

/// The device's token, in memory and as a storage client has it. The client is asked for it once, when the SDK starts, and told
/// only of another token, and of what became of telling servers.
final class TokenSlot: Sendable {
    private let state: Mutex<State>

    /// The token as a storage client keeps it.
    struct Kept: Sendable, Equatable {
        var stored: StoredDeviceToken
        /// Whether telling servers of it has not come to an end: then everybody is to be told, whoever ``stored`` names.
        var isUntold: Bool
    }

    private struct State {
        /// As the engine sees it.
        var seen: StoredDeviceToken?
        /// As the client has it.
        var kept: Kept?
        var isUntold = false
    }

    init(_ kept: Kept?) {
        state = Mutex(State(seen: kept?.stored, kept: kept, isUntold: kept?.isUntold ?? false))
    }

    var token: StoredDeviceToken? { state.withLock { $0.seen } }

    /// Whether the token was stored, and telling servers of it has not begun, or was cut off when the app ended.
    var isUntold: Bool {
        get { state.withLock { $0.isUntold } }
        set { state.withLock { $0.isUntold = newValue } }
    }

    /// As the client has it.
    var kept: Kept? { state.withLock { $0.kept } }

    /// What the client is to be told when the engine stores `token`; nil when it need not be told.
    func news(of token: StoredDeviceToken) -> Kept? {
        let (kept, isUntold) = state.withLock { ($0.kept, $0.isUntold) }
        guard let kept, kept.stored.token == token.token else { return Kept(stored: token, isUntold: isUntold) }
        // While everybody is to be told there is nothing new in it. What became of that is kept.
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
