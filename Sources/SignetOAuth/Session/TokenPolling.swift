import Foundation
import SignetCore

/// The wait for the tokens of a login that the user completes on another device (RFC 8628 section 3.5, OpenID Connect CIBA section
/// 10.1).
struct TokenPolling: Sendable {
    /// The token source of the login.
    let tokens: TokenSource
    /// The function that waits between two requests.
    let sleep: DeviceLogin.Sleep
    /// The time at which the login expires.
    let end: Date
    /// The interval that the server requests; nil for the default.
    let interval: Duration?

    /// Asks the server until it returns tokens.
    ///
    /// After a network failure that may pass, the wait continues.
    /// - Parameter ask: Sends the request, with the key to which the tokens are bound.
    /// - Returns: The tokens, whose ID token is not checked yet.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is canceled; ``TokenError/Code/refused`` with
    ///   `expired_token` at the end; the errors of the server that end the login.
    func answer(
        _ ask: (_ key: DPoPKey?) async throws -> AuthorizationServerClient.TokenAnswer
    ) async throws(TokenError) -> AuthorizationServerClient.TokenAnswer {
        let key = try await newKey()
        var polling = DevicePolling(interval: interval)
        while true {
            do { try await sleep(polling.interval) } catch { throw TokenError(.cancelled) }
            guard tokens.server.clock.now < end else { throw TokenError(.refused, .server(OAuthError(.expiredToken))) }
            do {
                return try await ask(key)
            } catch let error as OAuthError {
                guard polling.next(after: error) == .ask else { throw TokenError(error) }
            } catch {
                let failure = TokenError(error)
                guard case .network = failure.cause, failure.isRetryable else { throw failure }
                polling.nextAfterSilence()
            }
        }
    }

    /// Creates the key for the tokens before the first request, because all requests are bound to it.
    private func newKey() async throws(TokenError) -> DPoPKey? {
        do { return try await tokens.server.newKey() } catch { throw TokenError(error) }
    }
}
