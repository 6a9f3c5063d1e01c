import SignetAuthenticator
import SignetStorage
import Synchronization

/// The device's token, in memory and as a storage client has it. The client is asked for it once, when the SDK starts, and told
/// only of another token, or of servers that did not take this one.
final class TokenSlot: Sendable {
    private let state: Mutex<State>

    private struct State {
        /// As the engine sees it.
        var seen: StoredDeviceToken?
        /// As the client has it.
        var kept: StoredDeviceToken?
        var isUntold = false
    }

    init(_ token: StoredDeviceToken?) {
        state = Mutex(State(seen: token, kept: token))
    }

    var token: StoredDeviceToken? { state.withLock { $0.seen } }

    /// Whether the token was stored, and telling servers of it has not begun.
    var isUntold: Bool {
        get { state.withLock { $0.isUntold } }
        set { state.withLock { $0.isUntold = newValue } }
    }

    /// As the client has it.
    var kept: StoredDeviceToken? { state.withLock { $0.kept } }

    /// What the client is to be told when the engine stores `token`; nil when it need not be told.
    func news(of token: StoredDeviceToken) -> StoredDeviceToken? {
        let kept = kept
        guard kept?.token == token.token else {
            return StoredDeviceToken(token: token.token, timeAdded: token.timeAdded)
        }
        // That everybody is to be told of a new token is for the engine alone. Who could not be is kept.
        return !isUntold && kept?.outstanding != token.outstanding ? token : nil
    }

    func see(_ token: StoredDeviceToken?) {
        state.withLock { state in
            state.seen = token
            state.isUntold = false
        }
    }

    func keep(_ token: StoredDeviceToken?) { state.withLock { $0.kept = token } }
}
