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
    }

    init(_ token: StoredDeviceToken?) {
        state = Mutex(State(seen: token, kept: token))
    }

    var token: StoredDeviceToken? { state.withLock { $0.seen } }

    /// As the client has it.
    var kept: StoredDeviceToken? { state.withLock { $0.kept } }

    /// What the client is to be told when the engine stores `token`; nil when it need not be told.
    func news(of token: StoredDeviceToken) -> StoredDeviceToken? {
        let kept = kept
        guard kept?.token == token.token else {
            return StoredDeviceToken(token: token.token, timeAdded: token.timeAdded)
        }
        // Who is still to be told is kept when the telling has ended; while it goes on, nobody but the engine needs to know.
        return self.token?.token == token.token && kept?.outstanding != token.outstanding ? token : nil
    }

    func see(_ token: StoredDeviceToken?) { state.withLock { $0.seen = token } }

    func keep(_ token: StoredDeviceToken?) { state.withLock { $0.kept = token } }
}
