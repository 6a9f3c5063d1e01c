import SignetCore

/// The engine's value inside an object of this module, with its cache token.
final class Box<Value: Sendable>: Sendable {
    private let state: Mutex<State>

    private struct State: Sendable {
        /// The value with the app's changes to the object.
        var shown: Value
        /// The value as it was read or stored.
        var stored: Value
        var token: CacheToken?
    }

    init(_ value: Value, _ token: CacheToken?) {
        state = Mutex(State(shown: value, stored: value, token: token))
    }

    /// The stored value and its cache token, in a consistent state.
    var content: (value: Value, token: CacheToken?) { state.withLock { ($0.stored, $0.token) } }
    /// The value that the object shows.
    var value: Value { state.withLock { $0.shown } }
    var token: CacheToken? { state.withLock { $0.token } }

    /// Takes over the stored value.
    func take(_ value: Value, _ token: CacheToken) {
        state.withLock { $0 = State(shown: value, stored: value, token: token) }
    }

    /// Changes the value that the object shows.
    func change(_ body: (inout Value) -> Void) {
        state.withLock { state in
            var shown = state.shown
            body(&shown)
            state.shown = shown
        }
    }
}
