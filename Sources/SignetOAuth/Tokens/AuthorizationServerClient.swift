import Foundation
import SignetCore
import SignetNetwork
import SignetStorage

/// The requests to an OAuth 2.0 server, one per method.
///
/// It stores only the metadata and the keys of the server.
final class AuthorizationServerClient: Sendable {
    let clock: any WallClock
    private let registration: OAuthClient?
    let given: OAuthEndpoints
    let pipeline: RequestPipeline
    private let cache = Mutex(Cache())
    /// The variant of the protocol that the server uses.
    let dialect: DetectedDialect
    /// The clocks and the nonces of the servers that get proofs of possession.
    let proofs: ProofSender
    /// The places for the keys of tokens.
    let keys: SigningKeyProvider
    /// The key that was used last.
    let opened = Mutex<DPoPKey?>(nil)

    private struct Cache {
        var endpoints: OAuthEndpoints?
        var keys: ServerKeys?
    }

    init(
        _ endpoints: OAuthEndpoints, client: OAuthClient?, pipeline: RequestPipeline, clock: any WallClock,
        keys: SigningKeyProvider = SigningKeyProvider()
    ) {
        given = endpoints
        dialect = DetectedDialect(endpoints.dialect)
        registration = client
        self.pipeline = pipeline
        self.clock = clock
        self.keys = keys
        proofs = ProofSender(clock)
    }

    /// The OAuth 2.0 client of the app.
    var client: OAuthClient {
        get throws(OAuthError) {
            guard let registration else {
                throw OAuthError(.notConfigured, explanation: "the profile names no OAuth 2.0 client")
            }
            return registration
        }
    }

    var keepsCookies: Bool { given.keepsCookies }

    /// The endpoints that are known without a request: the discovered ones, or the ones that the app gave.
    var known: OAuthEndpoints { cache.withLock { $0.endpoints } ?? given }

    // MARK: Server metadata

    /// Returns the address at `path`, from the discovery document when the app didn't give it.
    func address(_ path: KeyPath<OAuthEndpoints, String?>, _ name: String) async throws -> String {
        let address: String
        if let url = known[keyPath: path] {
            address = url
        } else if let url = try await described()[keyPath: path] {
            address = url
        } else {
            throw OAuthError(.notOffered, explanation: "the server has no \(name)")
        }
        return try checked(address)
    }

    /// Returns an address after checking that it may receive a secret.
    func checked(_ address: String) throws(OAuthError) -> String {
        // Parsing an address takes longer than building the rest of a request.
        if given.checked.contains(address) { return address }
        do {
            return try Endpoint(address, policy: given.policy).url
        } catch {
            throw OAuthError(.notConfigured, explanation: error.description)
        }
    }

    /// Returns all endpoints, including those of the discovery document, which is requested once.
    ///
    /// An endpoint of the document is known only after the document's issuer was checked.
    func described() async throws -> OAuthEndpoints {
        if let endpoints = cache.withLock({ $0.endpoints }) { return endpoints }
        guard let url = given.discovery else { return given }
        let found: ProviderDescription
        do {
            found = try await ProviderDescription(
                at: try checked(url), issuer: given.issuer, pipeline, timeout: given.timeout, pins: given.pins,
                policy: given.policy, clock: clock)
        } catch let error as ProfileError {
            if let refusal = error.fault.refusal { throw refusal }
            throw OAuthError(error.fault.code == .issuer ? .issuerMismatch : .notConfigured, explanation: error.description)
        }
        let endpoints = given.completed(by: found, for: registration)
        cache.withLock { $0.endpoints = endpoints }
        return endpoints
    }

    /// Returns the issuer, and whether the server sends it in authorization responses.
    ///
    /// The issuer is nil when neither the app nor the server states it.
    func issuer() async throws -> (name: String?, isNamed: Bool) {
        let endpoints = known.issuer == nil ? try await described() : known
        return (endpoints.issuer, endpoints.namesIssuer)
    }

    /// The keys of the server; nil before the first request for them.
    var knownKeys: ServerKeys? { cache.withLock { $0.keys } }

    /// Requests the server's keys, which replace the known ones after a successful response.
    func requestKeys() async throws -> ServerKeys {
        let url = try await address(\.jwks, "keys to check an id_token with")
        let (response, _) = try await send("GET", url, for: .keys)
        let keys = ServerKeys(try members(response, from: url))
        cache.withLock { $0.keys = keys }
        return keys
    }

    /// Fetches the keys and the issuer for the check of an ID token.
    ///
    /// This happens before a request that works only once, because without them its response couldn't be used.
    func prepareToCheck() async throws {
        if knownKeys == nil { _ = try await requestKeys() }
        _ = try await issuer()
    }

    // MARK: Codes and tokens

    /// Requests an authorization code for a session (protocol/journey.md section 4.2).
    ///
    /// With a key, the code is bound to it. Returns the code and the updated cookies.
    func code(
        for session: SSOToken, _ attempt: AuthorizationAttempt, boundTo key: DPoPKey?, cookies: CookieJar
    ) async throws -> (code: Secret, cookies: CookieJar) {
        let client = try client
        dialect.recall(session)
        let (issuer, isNamed) = try await issuer()
        let url = try await authorizationAddress(attempt, redirectURI: client.redirectURI, boundTo: key)
        var headers = headers(session, for: url, cookies)
        headers.append("Accept-API-Version", Self.version)
        let (response, request) = try await send("GET", url, headers: headers, for: .authorize)
        var cookies = cookies
        if keepsCookies { cookies.take(response, to: request, now: clock.now) }
        guard (200..<400).contains(response.status) else {
            let error = refusal(response, from: url)
            guard error.code == .unreadable else { throw error }
            throw AuthorizationResponse.error(status: response.status, body: response.body) ?? error
        }
        let code = try AuthorizationResponse.code(
            location: response.headers["Location"], redirectURI: client.redirectURI, state: attempt.state, issuer: issuer,
            requiresIssuer: isNamed)
        return (code, cookies)
    }

    /// Exchanges an authorization code for tokens, bound to a key if there is one, and checks them.
    func exchange(
        _ code: Secret, _ attempt: AuthorizationAttempt, redirectURI: String? = nil, boundTo key: DPoPKey?
    ) async throws -> AccessToken {
        let client = try client
        if client.scopes.contains("openid") { try await prepareToCheck() }
        let answer = try await tokens(
            [
                ("grant_type", "authorization_code"), ("code", code.text),
                ("redirect_uri", redirectURI ?? client.redirectURI), ("client_id", client.clientID),
                ("code_verifier", attempt.verifier.text),
            ], to: try await tokenAddress(), scope: client.scope, for: .exchangeToken, boundTo: key)
        return try await taken(answer, attempt: attempt)
    }

    /// Exchanges the code of a device login (RFC 8628 section 3.4, RFC 7636 section 4.5).
    ///
    /// Pass the result to ``taken(_:attempt:requiresIDToken:)``.
    func exchange(deviceCode: Secret, verifier: Secret, boundTo key: DPoPKey?) async throws -> TokenAnswer {
        let client = try client
        if client.scopes.contains("openid") { try await prepareToCheck() }
        return try await tokens(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", deviceCode.text),
                ("client_id", client.clientID), ("code_verifier", verifier.text),
            ], to: try await tokenAddress(), scope: client.scope, for: .exchangeToken, boundTo: key)
    }

    /// Starts a login on another device (RFC 8628 section 3.1).
    ///
    /// AM requires a response type. The code challenge is for servers that require PKCE of the client.
    func deviceAuthorization(verifier: Secret) async throws -> [String: JSONValue] {
        let url = try await address(\.deviceAuthorization, "device authorization endpoint")
        let fields = [
            ("response_type", "code"), ("client_id", try client.clientID), ("scope", try client.scope),
            ("code_challenge", ProofKey.challenge(for: verifier.text)), ("code_challenge_method", "S256"),
        ]
        let response = try await post(fields, to: url, for: .deviceAuthorization)
        do throws(OAuthError) { return try members(response, from: url) } catch { throw withoutSecret(error) }
    }

    /// The response of a token endpoint, before its ID token is checked.
    struct TokenAnswer: Sendable {
        let token: AccessToken
        /// The time of the server, or of this machine when the response has none or a time that is too different.
        let now: Date
        /// True when the time in the response is too different from that of this machine.
        let clocksDiffer: Bool
    }

    func tokenAddress() async throws -> String { try await address(\.token, "token endpoint") }

    /// Requests tokens from the token endpoint.
    /// - Parameters:
    ///   - fields: The fields of the form.
    ///   - url: The address of the token endpoint.
    ///   - scope: The scope to assume when the response doesn't contain one.
    ///   - action: The purpose of the request, which interceptors receive.
    ///   - key: The key to which the tokens are to be bound; nil for bearer tokens.
    /// - Returns: The tokens, with the key as their binding, and the time of the response. The ID token is not checked yet.
    /// - Throws: `OAuthError` when the token endpoint rejects the request; `TransportError`; the errors of
    ///   interceptors.
    func tokens(
        _ fields: [(name: String, value: String)], to url: String, scope: String, for action: RequestAction,
        boundTo key: DPoPKey?
    ) async throws -> TokenAnswer {
        let response = try await post(
            fields, to: url, headers: ["Accept-API-Version": Self.version], for: action, boundTo: key)
        let now = clock.now
        var token: AccessToken
        do throws(OAuthError) {
            token = try TokenResponse.token(
                status: response.status, body: response.body, requestedScope: scope, now: now,
                retryAfter: response.retryAfter(now: now))
        } catch {
            throw withoutSecret(error.naming(url, response))
        }
        token.binding = key?.binding(nonces: proofs.nonces)
        return TokenAnswer(
            token: token, now: IDTokenRules.time(of: response.date, at: now),
            clocksDiffer: IDTokenRules.isTooFar(response.date, from: now))
    }

    /// Verifies the signature of an ID token, or of another token of the server, and returns its claims.
    ///
    /// When no known key matches, the keys are requested once more, because the server may have replaced a key and kept its ID. The
    /// known keys stay when that request fails.
    func verified(_ idToken: Secret) async throws -> SignedClaims {
        let token = try SignedClaims(idToken)
        if let keys = knownKeys {
            do throws(IDTokenError) {
                try await keys.verify(token)
                return token
            } catch {
                guard error.code == .signature else { throw error }
            }
        }
        try await requestKeys().verify(token)
        return token
    }
}

// MARK: Requests with a token or a session

extension AuthorizationServerClient {
    /// Revokes the refresh token, which also revokes the access token.
    ///
    /// Without a refresh token, revokes the access token (RFC 7009). Of a record of a refused refresh, revokes the refused grant.
    func revoke(_ token: AccessToken) async throws {
        guard let token = token.revocable else { return }
        let url = try await revocationAddress()
        let fields = [
            ("token", (token.refreshToken ?? token.value).text),
            ("token_type_hint", token.refreshToken == nil ? "access_token" : "refresh_token"),
            ("client_id", try client.clientID),
        ]
        var response = try await post(fields, to: url, for: .revokeToken)
        if response.status == 401, try client.authentication.method == .publicClient {
            // Some servers let a public client revoke a token only with that token as the credential, which a bound token without
            // its key can't be.
            do {
                response = try await post(
                    fields, to: url, headers: ["Authorization": token.authorization], for: .revokeToken,
                    boundTo: try await key(of: token), presenting: token.value)
            } catch is LostKey {}
        }
        do throws(OAuthError) { try mustBeDone(response, from: url) } catch { throw withoutSecret(error) }
    }

    /// Returns the revocation endpoint.
    ///
    /// The discovery document of an OpenAM omits it (protocol/journey.md section 8.4). Its path begins like that of the token
    /// endpoint, so the token is sent to the server that issued it.
    private func revocationAddress() async throws -> String {
        let endpoints = known.revoke == nil ? try await described() : known
        let name = "/access_token"
        if endpoints.revoke == nil, dialect.current == .openAM, let token = endpoints.token, token.hasSuffix(name) {
            return try checked("\(token.dropLast(name.count))/token/revoke")
        }
        return try await address(\.revoke, "revocation endpoint")
    }
}
