package import SignetCore

/// The variant of the protocol of one server: the setting of its profile, or else the one that the server's answers have shown.
///
/// Three answers show an OpenAM (protocol/journey.md section 8): a step of its modules, 404 for the version of the sessions
/// resource that AM has, and the refusal of a step without its scripts. The session is stored with the variant, so the next
/// process of a program knows it, and a server that was replaced is recognized anew at the next login.
package final class DetectedDialect: Sendable {
    /// The setting of the profile; nil when the answers of the server decide.
    package let setting: ServerProfile.Dialect?
    private let state = Mutex(State())

    private struct State {
        /// The variant that an answer to this process has shown.
        var shown: ServerProfile.Dialect?
        /// The variant that is stored with the session.
        var stored: ServerProfile.Dialect?
    }

    /// Creates the variant of a server that has not answered yet.
    package init(_ setting: ServerProfile.Dialect?) { self.setting = setting }

    /// The variant to use; AM's own while none is known.
    package var current: ServerProfile.Dialect { setting ?? state.withLock { $0.shown ?? $0.stored } ?? .accessManager }

    /// Remembers the variant that an answer has shown, unless the profile sets one.
    package func show(_ dialect: ServerProfile.Dialect) {
        if setting == nil { state.withLock { $0.shown = dialect } }
    }

    /// Takes over the variant that is stored with a session; nil for a request without a session.
    package func recall(_ session: SSOToken?) {
        let stored = session?.dialect.flatMap(ServerProfile.Dialect.init)
        state.withLock { $0.stored = stored }
    }

    /// Forgets what answers have shown, after the end of the session.
    func forget() { state.withLock { $0 = State() } }

    /// Returns a session with the variant that is to be stored with it.
    /// - Parameters:
    ///   - session: The session to store.
    ///   - stored: The session that is stored now. Its variant stays when it is the same session.
    /// - Returns: The session. It has no variant when the profile sets one.
    func marked(_ session: SSOToken, replacing stored: SSOToken?) -> SSOToken {
        guard setting == nil else { return session }
        var session = session
        let kept = stored?.value == session.value ? stored?.dialect : nil
        session.dialect = state.withLock { $0.shown }?.rawValue ?? kept
        return session
    }
}
