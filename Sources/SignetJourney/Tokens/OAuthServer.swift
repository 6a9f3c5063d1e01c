import SignetCore
import SignetNetwork
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests that an OAuth 2.0 server understands, one a method. It stores nothing but what the server says of itself.
final class OAuthServer: Sendable {
    let clock: any WallClock
    private let registration: OAuthClient?
    let given: OAuthEndpoints
    private let pipeline: RequestPipeline
    private let learned = Mutex(Learned())
    /// The version of the sessions resource that the server has understood; nil before.
    let sessionsVersion = Mutex<SessionsVersion?>(nil)

    private struct Learned {
        var endpoints: OAuthEndpoints?
        var keys: ServerKeys?
    }

    init(_ endpoints: OAuthEndpoints, client: OAuthClient?, pipeline: RequestPipeline, clock: any WallClock) {
        given = endpoints
        registration = client
        self.pipeline = pipeline
        self.clock = clock
    }

    /// The app, as the server knows it.
    var client: OAuthClient {
        get throws(OAuthError) {
            guard let registration else {
                throw OAuthError(.notConfigured, explanation: "the profile names no OAuth 2.0 client")
            }
            return registration
        }
    }

    var keepsCookies: Bool { given.keepsCookies }

    /// What the app said of the server, without asking anybody.
    var known: OAuthEndpoints { learned.withLock { $0.endpoints } ?? given }

    // MARK: What the server says of itself

    /// The address at `path`, from the server's own description if the app did not give it.
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

    /// An address that a secret may be sent to.
    func checked(_ address: String) throws(OAuthError) -> String {
        // To read an address takes longer than to build the rest of a request.
        if given.checked.contains(address) { return address }
        do {
            return try Endpoint(address, policy: given.policy).url
        } catch {
            throw OAuthError(.notConfigured, explanation: error.description)
        }
    }

    /// All that is known, with the server's own description, which is asked for once.
    private func described() async throws -> OAuthEndpoints {
        if let endpoints = learned.withLock({ $0.endpoints }) { return endpoints }
        guard let url = given.discovery else { return given }
        let found: ProviderDescription
        do {
            found = try await ProviderDescription(
                at: try checked(url), pipeline, timeout: given.timeout, pins: given.pins, policy: given.policy, clock: clock)
        } catch let error as ProfileError {
            if case .refused(let refusal) = error.fault { throw refusal }
            throw OAuthError(.notConfigured, explanation: error.description)
        }
        let endpoints = given.completed(by: found, for: registration)
        learned.withLock { $0.endpoints = endpoints }
        return endpoints
    }

    /// Who the server is; nil when neither the app nor the server says.
    func issuer() async throws -> (name: String?, isNamed: Bool) {
        let endpoints = known.issuer == nil ? try await described() : known
        return (endpoints.issuer, endpoints.namesIssuer)
    }

    /// The server's keys, among which is one of this name, if there is one: they are asked for once, and again for a name
    /// that is new.
    func keys(for identifier: String?) async throws -> ServerKeys {
        if let keys = learned.withLock({ $0.keys }), keys.hasKey(identifier) { return keys }
        let url = try await address(\.jwks, "keys to check an id_token with")
        let (response, _) = try await send("GET", url, for: .keys)
        let keys = ServerKeys(try members(response))
        learned.withLock { $0.keys = keys }
        return keys
    }

    /// Whether an id_token could be checked without asking.
    var hasKeys: Bool { learned.withLock { $0.keys != nil } }

    /// Has what an id_token is checked with, before anything is sent that works only once: what came for it could not be taken
    /// without.
    private func prepareToCheck() async throws {
        if !hasKeys { _ = try await keys(for: nil) }
        _ = try await issuer()
    }

    // MARK: Codes and tokens

    /// A code from the authorization endpoint, given for a session (protocol/journey.md section 4.2), and the cookies after it.
    func code(
        for session: SSOToken, _ attempt: AuthorizationAttempt, cookies: CookieJar
    ) async throws -> (code: Secret, cookies: CookieJar) {
        let client = try client
        let (issuer, isNamed) = try await issuer()
        let url = FormCoding.address(
            try await address(\.authorize, "authorization endpoint"),
            adding: parameters(of: attempt, client, redirectURI: client.redirectURI))
        var headers = headers(session, for: url, cookies)
        headers.append("Accept-API-Version", Self.version)
        let (response, request) = try await send("GET", url, headers: headers, for: .authorize)
        var cookies = cookies
        if keepsCookies { cookies.take(response, to: request, now: clock.now) }
        guard (200..<400).contains(response.status) else { throw refusal(response) }
        let code = try AuthorizationResponse.code(
            location: response.headers["Location"], redirectURI: client.redirectURI, state: attempt.state, issuer: issuer,
            requiresIssuer: isNamed)
        return (code, cookies)
    }

    /// The address at which a browser asks for a code.
    func authorizationAddress(_ attempt: AuthorizationAttempt, redirectURI: String) async throws -> String {
        FormCoding.address(
            try await address(\.authorize, "authorization endpoint"),
            adding: parameters(of: attempt, try client, redirectURI: redirectURI))
    }

    private func parameters(
        of attempt: AuthorizationAttempt, _ client: OAuthClient, redirectURI: String
    ) -> [(name: String, value: String)] {
        attempt.parameters(
            clientID: client.clientID, redirectURI: redirectURI, scopes: client.scopes, extra: client.extraParameters)
    }

    /// The tokens for a code, checked.
    func exchange(
        _ code: Secret, _ attempt: AuthorizationAttempt, redirectURI: String? = nil
    ) async throws -> AccessToken {
        let client = try client
        if client.scopes.contains("openid") { try await prepareToCheck() }
        let answer = try await tokens(
            [
                ("grant_type", "authorization_code"), ("code", code.text),
                ("redirect_uri", redirectURI ?? client.redirectURI), ("client_id", client.clientID),
                ("code_verifier", attempt.verifier.text),
            ], scope: client.scope, for: .exchangeToken)
        return try await taken(answer, nonce: attempt.nonce)
    }

    /// The tokens for a refresh token. The id_token, if one came, is checked against the one before it.
    func refresh(_ token: AccessToken, with refreshToken: Secret) async throws -> AccessToken {
        // Asked for first: once the answer is there, nothing should stand between it and the storage.
        if token.idToken != nil {
            do { try await prepareToCheck() } catch let error where TokenError(error).isRetryable {}
        }
        // The scope stays what was granted: to name one could only narrow it (RFC 6749 section 6).
        let answer = try await tokens(
            [("grant_type", "refresh_token"), ("refresh_token", refreshToken.text), ("client_id", try client.clientID)],
            scope: "", for: .refreshToken)
        do {
            try await check(answer, nonce: nil, subject: token.idToken.flatMap(SignedClaims.subject))
            return answer.token
        } catch let error where TokenError(error).isRetryable {
            // The keys cannot be had now. The access token is good all the same; the id_token that is kept is the old one.
            return answer.token.withoutIDToken
        } catch let error as IDTokenError {
            throw error
        } catch {
            // Not the error itself: it would say that nothing was used up.
            throw IDTokenError(.keys)
        }
    }

    /// What comes for the code of another device (RFC 8628 section 3.4), to be ``taken(_:nonce:)``.
    func exchange(deviceCode: Secret) async throws -> TokenAnswer {
        let client = try client
        if client.scopes.contains("openid") { try await prepareToCheck() }
        return try await tokens(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", deviceCode.text),
                ("client_id", client.clientID),
            ], scope: client.scope, for: .exchangeToken)
    }

    /// The tokens of a new grant, checked. Those that do not hold are nobody's any more: they are revoked, as well as that goes.
    func taken(_ answer: TokenAnswer, nonce: String? = nil) async throws -> AccessToken {
        do {
            try await check(answer, nonce: nonce, requiresIDToken: true)
        } catch {
            try? await revoke(answer.token)
            throw error
        }
        return answer.token
    }

    /// Begins a login on another device (RFC 8628 section 3.1).
    func deviceAuthorization() async throws -> [String: JSONValue] {
        let url = try await address(\.deviceAuthorization, "device authorization endpoint")
        return try members(
            try await post([("client_id", try client.clientID), ("scope", try client.scope)], to: url, for: .deviceAuthorization))
    }

    /// What a token endpoint gave, before its id_token is looked at.
    struct TokenAnswer: Sendable {
        let token: AccessToken
        /// The server's time, or ours.
        let now: Date
    }

    /// - Parameter scope: What is given if the answer does not say.
    private func tokens(
        _ fields: [(name: String, value: String)], scope: String, for action: RequestAction
    ) async throws -> TokenAnswer {
        let url = try await address(\.token, "token endpoint")
        let response = try await post(fields, to: url, headers: ["Accept-API-Version": Self.version], for: action)
        let now = clock.now
        let token = try TokenResponse.token(
            status: response.status, body: response.body, requestedScope: scope, now: now,
            retryAfter: response.retryAfter(now: now))
        return TokenAnswer(token: token, now: response.date ?? now)
    }

    /// What an id_token says, once one of the server's keys is known to have signed it. Keys that were asked for long ago may have
    /// been replaced under their old name: they are asked for once more.
    private func verified(_ idToken: Secret) async throws -> SignedClaims {
        let header = try SignedClaims.header(of: idToken)
        let wereKnown = hasKeys
        do {
            return try await keys(for: header.keyIdentifier).verified(idToken)
        } catch let error as IDTokenError where error.code == .signature && wereKnown {
            learned.withLock { $0.keys = nil }
            return try await keys(for: header.keyIdentifier).verified(idToken)
        }
    }

    /// Checks an id_token (OpenID Connect Core sections 3.1.3.7 and 12.2).
    /// - Parameter requiresIDToken: Whether there has to be one if it was granted: with a new grant, not after a refresh.
    private func check(
        _ answer: TokenAnswer, nonce: String?, subject: String? = nil, requiresIDToken: Bool = false
    ) async throws {
        guard let idToken = answer.token.idToken else {
            guard !requiresIDToken || !answer.token.scope.split(separator: " ").contains("openid") else {
                throw IDTokenError(.form)
            }
            return
        }
        let signed = try await verified(idToken)
        guard let issuer = try await issuer().name else { throw IDTokenError(.issuer) }
        let client = try client
        let expectsNonce = client.scopes.contains("openid")
        try IDTokenRules(
            issuer: issuer, clientID: client.clientID, nonce: expectsNonce ? nonce : nil,
            accessToken: answer.token.value, subject: subject
        ).check(signed.claims, algorithm: signed.algorithm, now: answer.now)
    }
}

// MARK: What needs a token or a session

extension OAuthServer {
    /// The claims about the person whose token it is.
    func userInfo(_ token: AccessToken) async throws -> HTTPResponse {
        let url = try await address(\.userInfo, "userinfo endpoint")
        return try await send(
            "GET", url,
            headers: ["Authorization": token.authorization, "Accept": "application/json", "Accept-API-Version": Self.version],
            for: .userInfo
        ).response
    }

    /// Revokes the refresh token, which takes the access token with it, or the access token where there is no other (RFC 7009).
    func revoke(_ token: AccessToken) async throws {
        let url = try await address(\.revoke, "revocation endpoint")
        let fields = [
            ("token", (token.refreshToken ?? token.value).text),
            ("token_type_hint", token.refreshToken == nil ? "access_token" : "refresh_token"),
            ("client_id", try client.clientID),
        ]
        var response = try await post(fields, to: url, for: .revokeToken)
        if response.status == 401 {
            // Some servers let a public client revoke only with the token itself as its credential.
            response = try await post(fields, to: url, headers: ["Authorization": token.authorization], for: .revokeToken)
        }
        try mustBeDone(response)
    }

    /// Answers whose content says nothing: whatever a server writes there, it is no page, which a network that wants a login puts
    /// in the answer's place.
    func mustBeDone(_ response: HTTPResponse) throws(OAuthError) {
        let retryAfter = response.retryAfter(now: clock.now)
        if let error = TokenResponse.error(status: response.status, body: response.body, retryAfter: retryAfter) { throw error }
        if response.isPage { throw OAuthError(.unreadable, status: response.status) }
    }

    // MARK: Requests

    private static let version = "resource=2.1, protocol=1.0"

    func headers(_ session: SSOToken, for url: String, _ cookies: CookieJar) -> HTTPHeaders {
        SessionHeaders(given).headers(session.value, for: url, cookies, now: clock.now)
    }

    private func post(
        _ fields: [(name: String, value: String)], to url: String, headers: HTTPHeaders = [:], for action: RequestAction
    ) async throws -> HTTPResponse {
        var headers = headers
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        headers.append("Accept", "application/json")
        return try await send(
            "POST", url, headers: headers, body: Array(FormCoding.encode(fields).utf8), for: action
        ).response
    }

    func send(
        _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [], for action: RequestAction
    ) async throws -> (response: HTTPResponse, request: HTTPRequest) {
        let request = HTTPRequest(
            method, url, headers: headers, body: body, timeout: given.timeout, pins: given.pins)
        return (try await pipeline.send(request, for: action), request)
    }

    func members(_ response: HTTPResponse) throws(OAuthError) -> [String: JSONValue] {
        try TokenResponse.members(
            status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now))
    }

    func refusal(_ response: HTTPResponse) -> OAuthError {
        TokenResponse.error(
            status: response.status, body: response.body, retryAfter: response.retryAfter(now: clock.now))
            ?? OAuthError(.unreadable, status: response.status)
    }
}
