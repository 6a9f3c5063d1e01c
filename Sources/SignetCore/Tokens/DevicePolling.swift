/// How often to ask whether the person has finished on the other device (RFC 8628 section 3.5).
package struct DevicePolling: Sendable, Hashable {
    /// The wait before the next question.
    package private(set) var interval: Duration

    /// - Parameter interval: What the server asks for; five seconds when it does not say.
    package init(interval: Duration?) {
        self.interval = min(max(interval ?? .seconds(5), .seconds(1)), .seconds(60))
    }

    /// What to do after a question that brought no token.
    package enum Next: Sendable, Hashable {
        /// Wait for ``DevicePolling/interval`` and ask again.
        case ask
        /// Give up.
        case end
    }

    /// After the server's answer.
    package mutating func next(after error: OAuthError) -> Next {
        switch error.code {
        case .authorizationPending: break
        case .slowDown: interval += .seconds(5)
        case _ where error.isRetryable: interval = min(max(interval, error.retryAfter ?? .zero) * 2, .seconds(60))
        default: return .end
        }
        return .ask
    }

    /// After a question that did not arrive: the wait doubles, as the section recommends.
    package mutating func nextAfterSilence() {
        interval = min(interval * 2, .seconds(60))
    }
}
