public import Foundation
public import SignetCore

/// A login that the user completes on another device (RFC 8628), for a machine without a browser.
///
///     let login = DeviceLogin(tokens)
///     let invitation = try await login.begin()
///     show("Open \(invitation.verificationURI) and enter \(invitation.userCode)")
///     let token = try await login.finish(invitation)
public struct DeviceLogin: Sendable {
    /// A function that waits.
    ///
    /// It throws when the wait is canceled.
    public typealias Sleep = @Sendable (Duration) async throws -> Void

    private let tokens: TokenSource
    private let sleep: Sleep

    /// Creates a login for a token source, whose server must have a device authorization endpoint.
    /// - Parameters:
    ///   - tokens: The token source that stores the tokens of the login.
    ///   - sleep: A function that waits between two requests. Tests supply their own.
    public init(_ tokens: TokenSource, sleep: @escaping Sleep = { try await Task.sleep(for: $0) }) {
        self.tokens = tokens
        self.sleep = sleep
    }

    /// The data that the app shows to the user, and the device code that identifies the login to the server.
    public struct Invitation: Sendable, Hashable {
        /// The code that the user enters on the other device.
        public let userCode: String
        /// The address that the user opens on the other device.
        public let verificationURI: String
        /// The address including the code, for a QR code; nil when the server doesn't supply it.
        public let completeURI: String?
        /// The time at which the code expires.
        public let end: Date
        let deviceCode: Secret
        let verifier: Secret
        let interval: Duration?
    }

    /// Requests a code to show to the user.
    /// - Throws: ``TokenError``; ``TokenError/Code/notConfigured`` when the server doesn't support this login.
    public func begin() async throws(TokenError) -> Invitation {
        do {
            let verifier = AuthorizationAttempt.new().verifier
            let members = try await tokens.server.deviceAuthorization(verifier: verifier)
            guard let device = members["device_code"]?.string, let code = members["user_code"]?.string,
                let uri = members["verification_uri"]?.string ?? members["verification_url"]?.string,
                code.isSafeToShow, uri.isSafeToShow
            else { throw OAuthError(.unreadable, status: 200, explanation: "the answer has no code to show") }
            let lifetime = members["expires_in"]?.lenientInteger ?? 600
            return Invitation(
                userCode: code, verificationURI: uri,
                completeURI: members["verification_uri_complete"]?.string.flatMap { $0.isSafeToShow ? $0 : nil },
                end: tokens.server.clock.now + Double(max(0, min(lifetime, 86_400))), deviceCode: Secret(text: device),
                verifier: verifier, interval: members["interval"]?.lenientInteger.map { .seconds(max(0, min($0, 3600))) })
        } catch {
            throw TokenError(error)
        }
    }

    /// Waits until the user has completed the login, and stores the tokens.
    ///
    /// After a network failure that may pass, the wait continues.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is canceled; ``TokenError/Code/refused`` with
    ///   `access_denied` when the user declined, with `expired_token` when the code has expired. AM's `authorization_declined`,
    ///   which also stands for an unknown code, is `access_denied`.
    public func finish(_ invitation: Invitation) async throws(TokenError) -> AccessToken {
        let server = tokens.server
        let polling = TokenPolling(tokens: tokens, sleep: sleep, end: invitation.end, interval: invitation.interval)
        let answer = try await polling.answer { key in
            try await server.exchange(deviceCode: invitation.deviceCode, verifier: invitation.verifier, boundTo: key)
        }
        // The code is now used up. A retry after a failure would return nothing.
        // AM's device grant returns no ID token.
        do {
            return try await tokens.adopt(try await server.taken(answer, requiresIDToken: false))
        } catch {
            throw TokenError(error)
        }
    }
}
