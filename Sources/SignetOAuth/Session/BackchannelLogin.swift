public import Foundation
public import SignetCore
import SignetNetwork

/// A request to a user on another device (OpenID Connect Client-Initiated Backchannel Authentication), for a program that knows the
/// user's name: the server sends a push message, and the user approves or denies there.
///
///     let login = BackchannelLogin(tokens)
///     let request = try await login.begin(user: "mira", message: "Deploy 4711?")
///     let token = try await login.finish(request)
///
/// The client polls for the answer. It must be one with a secret or a key, which is allowed to ask in this way.
public struct BackchannelLogin: Sendable {
    private let tokens: TokenSource
    private let sleep: DeviceLogin.Sleep

    /// Creates a login for a token source, whose server must have a backchannel authentication endpoint.
    /// - Parameters:
    ///   - tokens: The token source, which stores the tokens of a login.
    ///   - sleep: A function that waits between two requests. Tests supply their own.
    public init(_ tokens: TokenSource, sleep: @escaping DeviceLogin.Sleep = { try await Task.sleep(for: $0) }) {
        self.tokens = tokens
        self.sleep = sleep
    }

    /// A request that the user has not answered yet.
    public struct Pending: Sendable, Hashable {
        /// The time at which the request expires.
        public let end: Date
        let requestID: Secret
        let interval: Duration?
    }

    /// Asks the user.
    /// - Parameters:
    ///   - user: The user's name at the server (`login_hint`).
    ///   - message: The text that the user reads on the other device (`binding_message`); nil for none. Servers accept short plain
    ///     text only.
    ///   - expiry: The maximum time for the user (`requested_expiry`); nil for that of the server.
    ///   - acrValues: The authentication to request, for example the name of a journey at AM; nil for the server's choice.
    /// - Returns: The request, for ``finish(_:)`` or ``confirm(_:)``.
    /// - Throws: ``TokenError``; ``TokenError/Code/notConfigured`` when the server has no such endpoint, ``TokenError/Code/refused``
    ///   with `unknown_user_id` or `invalid_binding_message`.
    public func begin(
        user: String, message: String? = nil, expiry: Duration? = nil, acrValues: String? = nil
    ) async throws(TokenError) -> Pending {
        do {
            let server = tokens.server
            var fields: [(name: String, value: String)] = [("scope", try server.client.scope), ("login_hint", user)]
            if let message { fields.append(("binding_message", message)) }
            if let expiry { fields.append(("requested_expiry", String(max(1, expiry.components.seconds)))) }
            if let acrValues { fields.append(("acr_values", acrValues)) }
            let members = try await server.backchannelAuthentication(fields)
            guard let id = members["auth_req_id"]?.string, !id.isEmpty else {
                throw OAuthError(.unreadable, status: 200, explanation: "the answer has no auth_req_id")
            }
            let lifetime = Double(max(0, min(members["expires_in"]?.lenientInteger ?? 300, 86_400)))
            return Pending(
                end: server.clock.now + min(lifetime, expiry?.seconds ?? lifetime), requestID: Secret(text: id),
                interval: members["interval"]?.lenientInteger.map { .seconds(max(0, min($0, 3600))) })
        } catch {
            throw TokenError(error)
        }
    }

    /// Waits until the user has approved, and stores the tokens.
    /// - Throws: ``TokenError``: ``TokenError/Code/refused`` with `access_denied` when the user denied, with `expired_token` when the
    ///   user didn't answer in time; ``TokenError/Code/cancelled`` when the task is canceled.
    public func finish(_ pending: Pending) async throws(TokenError) -> AccessToken {
        let token = try await approved(pending)
        return try await tokens.adopt(token)
    }

    /// Waits until the user has approved, and revokes the tokens: for a program that only needs the answer.
    ///
    /// The stored tokens and the session stay.
    /// - Returns: The claims of the ID token about the approving user; empty when the server sent none.
    /// - Throws: The errors of ``finish(_:)``. A revocation that fails is ignored: the tokens are then valid until they expire, and this
    ///   program has forgotten them.
    public func confirm(_ pending: Pending) async throws(TokenError) -> [String: JSONValue] {
        let token = try await approved(pending)
        try? await tokens.server.revoke(token)
        return token.idToken.flatMap(SignedClaims.claims) ?? [:]
    }

    /// Returns the checked tokens of an approval.
    private func approved(_ pending: Pending) async throws(TokenError) -> AccessToken {
        let server = tokens.server
        let polling = TokenPolling(tokens: tokens, sleep: sleep, end: pending.end, interval: pending.interval)
        let answer = try await polling.answer { key in
            try await server.exchange(requestID: pending.requestID, boundTo: key)
        }
        do { return try await server.taken(answer) } catch { throw TokenError(error) }
    }
}

extension AuthorizationServerClient {
    /// Asks a user on another device (OpenID Connect CIBA section 7.1).
    ///
    /// With a key, and a server that accepts it, the parameters are sent as a signed request (section 7.1.1), which AM requires.
    func backchannelAuthentication(_ fields: [(name: String, value: String)]) async throws -> [String: JSONValue] {
        let client = try client
        guard client.authentication.method != .publicClient else {
            throw OAuthError(.notConfigured, explanation: "only a client with a secret or a key may ask a user on another device")
        }
        let url = try await address(\.backchannelAuthentication, "backchannel authentication endpoint")
        var form: [(name: String, value: String)] = [("client_id", client.clientID)]
        if case .privateKeyJWT(let key) = client.authentication, try await acceptsSignedRequests() {
            let audience = try await issuer().name ?? url
            form.append(("request", try await key.request(fields, from: client.clientID, to: audience, at: proofs.time(at: url))))
        } else {
            form += fields
        }
        let response = try await post(form, to: url, for: .backchannelAuthentication)
        do throws(OAuthError) { return try members(response, from: url) } catch { throw withoutSecret(error) }
    }

    /// Returns true when the discovery document lists the algorithm of this client for signed authentication requests.
    private func acceptsSignedRequests() async throws -> Bool {
        let endpoints = known.backchannelSigningAlgs.isEmpty ? try await described() : known
        return endpoints.backchannelSigningAlgs.contains(ClientKey.algorithm.rawValue)
    }

    /// Exchanges an approval for tokens (OpenID Connect CIBA section 10.1).
    ///
    /// Pass the result to ``taken(_:attempt:requiresIDToken:)``.
    func exchange(requestID: Secret, boundTo key: DPoPKey?) async throws -> TokenAnswer {
        let client = try client
        if client.scopes.contains("openid") { try await prepareToCheck() }
        return try await tokens(
            [
                ("grant_type", "urn:openid:params:grant-type:ciba"), ("auth_req_id", requestID.text),
                ("client_id", client.clientID),
            ], to: try await tokenAddress(), scope: client.scope, for: .exchangeToken, boundTo: key)
    }
}
