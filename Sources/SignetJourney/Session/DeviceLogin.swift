public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A login that the person finishes on another device (RFC 8628): for a machine without a browser.
///
///     let login = DeviceLogin(tokens)
///     let invitation = try await login.begin()
///     show("Open \(invitation.verificationURI) and enter \(invitation.userCode)")
///     let token = try await login.finish(invitation)
public struct DeviceLogin: Sendable {
    /// How a wait is made; throws when it is given up.
    public typealias Sleep = @Sendable (Duration) async throws -> Void

    private let tokens: TokenSource
    private let sleep: Sleep

    /// Logins for a source of tokens, whose server must have a device authorization endpoint.
    /// - Parameters:
    ///   - tokens: Who keeps what the login gives.
    ///   - sleep: How the waits between two questions are made; a test brings its own.
    public init(_ tokens: TokenSource, sleep: @escaping Sleep = { try await Task.sleep(for: $0) }) {
        self.tokens = tokens
        self.sleep = sleep
    }

    /// What the person is shown, and what the server knows the login by.
    public struct Invitation: Sendable, Hashable {
        /// What the person types in on the other device.
        public let userCode: String
        /// Where.
        public let verificationURI: String
        /// The same with the code in it, to be shown as a QR code; nil when the server offers none.
        public let completeURI: String?
        /// When it is too late.
        public let end: Date
        let deviceCode: Secret
        let interval: Duration?
    }

    /// Asks the server for a code to show.
    /// - Throws: ``TokenError``; ``TokenError/Code/notConfigured`` when the server offers no such login.
    public func begin() async throws(TokenError) -> Invitation {
        do {
            let members = try await tokens.server.deviceAuthorization()
            guard let device = members["device_code"]?.string, let code = members["user_code"]?.string,
                let uri = members["verification_uri"]?.string ?? members["verification_url"]?.string,
                code.isSafeToShow, uri.isSafeToShow
            else { throw OAuthError(.unreadable, status: 200, explanation: "the answer has no code to show") }
            let lifetime = members["expires_in"]?.wholeNumber ?? 600
            return Invitation(
                userCode: code, verificationURI: uri,
                completeURI: members["verification_uri_complete"]?.string.flatMap { $0.isSafeToShow ? $0 : nil },
                end: tokens.server.clock.now + Double(max(0, min(lifetime, 86_400))), deviceCode: Secret(text: device),
                interval: members["interval"]?.wholeNumber.map { .seconds(max(0, min($0, 3600))) })
        } catch {
            throw TokenError(error)
        }
    }

    /// Waits until the person has finished, and stores the tokens. Failures of the network on the way are waited out.
    /// - Throws: ``TokenError``: ``TokenError/Code/cancelled`` when the task is cancelled; ``TokenError/Code/refused`` with
    ///   `access_denied` when the person said no, with `expired_token` when it took too long.
    public func finish(_ invitation: Invitation) async throws(TokenError) -> AccessToken {
        var polling = DevicePolling(interval: invitation.interval)
        while true {
            do { try await sleep(polling.interval) } catch { throw TokenError(.cancelled) }
            guard tokens.server.clock.now < invitation.end else {
                throw TokenError(.refused, .server(OAuthError(.expiredToken)))
            }
            let answer: OAuthServer.TokenAnswer
            do {
                answer = try await tokens.server.exchange(deviceCode: invitation.deviceCode)
            } catch let error as OAuthError {
                guard polling.next(after: error) == .ask else { throw TokenError(error) }
                continue
            } catch {
                let failure = TokenError(error)
                guard case .network = failure.cause, failure.isRetryable else { throw failure }
                polling.nextAfterSilence()
                continue
            }
            // The code is used up: whatever fails from here on, asking again would get nothing.
            do { return try await tokens.adopt(try await tokens.server.taken(answer)) } catch { throw TokenError(error) }
        }
    }
}
