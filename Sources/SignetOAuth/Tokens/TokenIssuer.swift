import Foundation
package import SignetCore
package import SignetNetwork

/// The provider that issued the tokens which a service receives: its issuer, its keys and its introspection endpoint.
///
/// The addresses come from the discovery document, and the keys from the provider's JWKS. The keys are requested for the first token,
/// again for a signature that matches no known key, and when they are older than a limit, but at most every
/// ``keyRequestInterval``, also after a request that failed: each sender could make the service send requests. The known
/// keys stay until new ones have arrived.
package final class TokenIssuer: Sendable {
    /// The minimum time between two requests for keys, in seconds.
    package static let keyRequestInterval: Double = 30

    private let server: AuthorizationServerClient
    private let maximumKeyAge: Double
    private let keyRequests = Mutex(KeyRequests())
    private let keyRenewal = SingleFlight<Void>()

    /// The requests for keys.
    private struct KeyRequests: Sendable {
        /// The time from which the next request may be sent.
        var next = Date.distantPast
        /// The time from which the known keys are too old.
        var end = Date.distantFuture
        /// The error of the last request; nil when it succeeded.
        var failure: (any Error)?
    }

    /// Creates the provider.
    /// - Parameters:
    ///   - endpoints: The endpoints of the provider, or the address of its discovery document.
    ///   - client: The client as which the service asks the introspection endpoint; nil for a service that doesn't ask it.
    ///   - pipeline: The pipeline that sends the requests.
    ///   - clock: The clock for the intervals.
    ///   - maximumKeyAge: The age at which the next use of the keys requests them again, in seconds, so that a key that the provider
    ///     has withdrawn is not used any longer.
    package init(
        _ endpoints: OAuthEndpoints, client: OAuthClient?, pipeline: RequestPipeline, clock: any WallClock,
        maximumKeyAge: Double = .infinity
    ) {
        server = AuthorizationServerClient(endpoints, client: client, pipeline: pipeline, clock: clock)
        self.maximumKeyAge = maximumKeyAge
    }

    /// The clock of the service.
    package var clock: any WallClock { server.clock }

    /// The signature algorithms of ID tokens that the discovery document lists; empty before it was read.
    package var idTokenSigningAlgs: Set<String> { server.known.idTokenSigningAlgs }

    /// Returns the issuer; nil when neither the app nor the provider states it.
    package func issuer() async throws -> String? { try await server.issuer().name }

    /// Returns the content of a token after its signature has been verified with the keys of the provider.
    /// - Throws: `IDTokenError` for a token that isn't signed by the provider; the errors of the request for the keys.
    package func verified(_ text: Secret) async throws -> SignedClaims {
        let signed = try SignedClaims(text)
        let now = clock.now
        if keyRequests.withLock({ $0.end <= now && $0.next <= now }) {
            // Tokens do not wait for the new keys, because the provider may be out of order for a while.
            Task { [self] in try? await keyRenewal.run { [self] in try await renewKeys() } }
        }
        if let keys = server.knownKeys {
            do throws(IDTokenError) {
                try await keys.verify(signed)
                return signed
            } catch {
                guard error.code == .signature else { throw error }
            }
        }
        // Tokens that arrive during a request for keys wait for it, and are verified with its result.
        try await keyRenewal.run { [self] in try await renewKeys() }
        guard let keys = server.knownKeys else {
            throw OAuthError(.failed, explanation: "the keys of the provider are not known")
        }
        try await keys.verify(signed)
        return signed
    }

    /// Requests the keys, unless that happened shortly before.
    /// - Throws: The error of the last request: the token may be signed with a key that is not known yet, so it is not refused for
    ///   its signature.
    private func renewKeys() async throws {
        let now = clock.now
        let (isDue, failure) = keyRequests.withLock { requests -> (Bool, (any Error)?) in
            guard now >= requests.next else { return (false, requests.failure) }
            requests.next = now + Self.keyRequestInterval
            requests.failure = nil
            return (true, nil)
        }
        if let failure { throw failure }
        guard isDue else { return }
        do {
            _ = try await server.requestKeys()
            keyRequests.withLock { $0.end = now + maximumKeyAge }
        } catch {
            keyRequests.withLock { $0.failure = error }
            throw error
        }
    }

    /// Asks the provider about a token (RFC 7662 section 2.1).
    /// - Returns: The members of the response, of which `active` is one.
    /// - Throws: `OAuthError`; `TransportError`; the errors of interceptors.
    package func introspect(_ token: Secret) async throws -> [String: JSONValue] { try await server.introspect(token) }
}

extension TokenIssuer {
    /// Returns an error of this type as one of the kinds that a service reports.
    package static func reason(of error: any Error) -> TokenError { TokenError(error) }
}
