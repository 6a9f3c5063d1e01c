/// The polling schedule of a device login, while the user logs in on another device (RFC 8628 section 3.5).
package struct DevicePolling: Sendable, Hashable {
    /// The time to wait before the next request.
    package private(set) var interval: Duration

    /// Creates a schedule.
    /// - Parameter interval: The interval that the server requests; nil for the default of five seconds. It is limited to 1 to 60
    ///   seconds.
    package init(interval: Duration?) {
        self.interval = min(max(interval ?? .seconds(5), .seconds(1)), .seconds(60))
    }

    /// The action after a request that returned no token.
    package enum Next: Sendable, Hashable {
        /// The client waits for ``DevicePolling/interval`` and sends the request again.
        case ask
        /// The client stops polling.
        case end
    }

    /// Returns the action after an error of the server, and updates the interval.
    package mutating func next(after error: OAuthError) -> Next {
        switch error.code {
        case .authorizationPending: break
        case .slowDown: interval += .seconds(5)
        case _ where error.isRetryable: interval = min(max(interval, error.retryAfter ?? .zero) * 2, .seconds(60))
        default: return .end
        }
        return .ask
    }

    /// Doubles the interval after a request without a response, as the section recommends.
    package mutating func nextAfterSilence() {
        interval = min(interval * 2, .seconds(60))
    }
}
