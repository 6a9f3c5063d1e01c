import Foundation
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `GET` and `POST /oauth2/.../authorize`: issues authorization codes to clients (protocol/journey.md section 4.2), and tells them
/// silently if the session continues (an id_token, or the response type `none`).
struct AuthorizeController: Sendable {
    let server: ServerContext

    /// The result of a request with a valid client and redirect URI.
    enum Outcome: Sendable {
        case code(String)
        case idToken(claims: [String: JSONValue])
        /// The request is granted, and its response type is `none`.
        case confirmed
        /// The user has to log in: when `isForced`, despite a session; with `journey`, if the request asks for one.
        case login(isForced: Bool, journey: String?)
        case consent(PresentedSession, AuthorizationRequest, csrf: String)
        case refused(AuthorizationErrorResponse)

        var isLogin: Bool {
            if case .login = self { true } else { false }
        }

        /// True when the client gets an answer.
        var isFinal: Bool {
            switch self {
            case .code, .idToken, .confirmed, .refused: true
            case .login, .consent: false
            }
        }
    }

    func authorize(_ request: Request, context: AppRequestContext) async throws -> Response {
        var decision = Decision()
        var parameters = try request.queryParameters()
        var form: Parameters?
        if request.method == .post {
            let posted = try await request.form(context)
            decision = Decision(posted)
            // A form may contain the whole request, or only the user's decision on a request that is in the query.
            if posted["client_id"] != nil { (parameters, form) = (posted, posted) }
        }
        let tokens = request.sessionTokens(server.configuration.cookieName)
        return try await server.inLanguage(of: form) { [parameters, decision] in
            try await respond(to: parameters, decision, tokens, in: context.realm)
        }
    }

    private func respond(
        to given: Parameters, _ decision: Decision, _ tokens: [String], in realm: RealmPath
    ) async throws -> Response {
        let user = try await hintedUser(given, in: realm)
        let (request, target, outcome, mark) = try await server.store.write { tx in
            let request = try tx.requested(by: given, in: realm)
            let target = try AuthorizationReturn(request, in: realm, tx.clients, tx.time)
            let outcome = try Self.outcome(of: request, target, hint: user, decision, tokens, &tx)
            try tx.record(request, isAnswered: outcome.isFinal)
            return (request, target, outcome, outcome.isLogin ? try tx.loginMark(for: request, after: tokens) : "")
        }
        switch outcome {
        case .code(let code):
            server.logger.info("code given", metadata: ["client": "\(target.client.id)", "realm": "\(realm)"])
            return target.response([("code", code)], at: server)
        case .idToken(let claims):
            server.logger.info("id_token given", metadata: ["client": "\(target.client.id)", "realm": "\(realm)"])
            let token = try await server.signer.sign(claims, with: target.client.idTokenSigningAlgorithm)
            return target.response([("id_token", token)], at: server)
        case .confirmed:
            return target.response([], at: server)
        case .refused(let refusal):
            server.logger.info("authorization refused", metadata: ["client": "\(target.client.id)", "error": "\(refusal.code)"])
            return try target.response(to: refusal, at: server)
        case .login(let isForced, let journey):
            let page = loginPage(request, realm, mark: mark, isForced: isForced, journey: journey)
            return OAuthReply.redirect(to: page)
        case .consent(let presented, let asked, let csrf):
            // The form repeats the request's parameters, because the request may have come in a form itself.
            let hidden = request.fieldsForConsent + [("csrf", csrf)]
            return HTMLPage.consent(
                client: target.client, user: presented.session.user, scopes: asked.scopes, claims: asked.claims?.names ?? [],
                hidden: hidden, target: target.redirectURI ?? ""
            ).response(at: server)
        }
    }

    /// Returns the user that `id_token_hint` names; nil for a request without a hint.
    ///
    /// The result is a failure for a hint that is not an id_token of this server.
    private func hintedUser(
        _ given: Parameters, in realm: RealmPath
    ) async throws -> Result<UserKey?, AuthorizationErrorResponse> {
        let isPushed = given["request_uri"] != nil
        let request = isPushed ? try await server.store.read { tx in try tx.requested(by: given, in: realm) } : given
        guard let text = request["id_token_hint"] else { return .success(nil) }
        guard let hint = try await IDTokenHint(text, at: server) else {
            return .failure(.invalidRequest("id_token_hint is not an id_token of this server"))
        }
        return .success(hint.user)
    }

    /// The user's answer on the consent page.
    struct Decision: Sendable {
        var allows: Bool?
        var saves = false
        var csrf: String?

        static let names: Set = ["decision", "save_consent", "csrf"]

        init() {}

        init(_ form: Parameters) {
            allows = form["decision"].map { $0 == "allow" }
            saves = form["save_consent"] == "on"
            csrf = form["csrf"]
        }
    }

    /// Decides a request with a valid client and redirect URI: login first, then consent, then the code.
    static func outcome(
        of parameters: Parameters, _ target: AuthorizationReturn, hint: Result<UserKey?, AuthorizationErrorResponse>,
        _ decision: Decision, _ tokens: [String], _ tx: inout ServerTransaction
    ) throws -> Outcome {
        do {
            let request = try AuthorizationRequest(parameters, of: target.client, tx.time.configuration)
            try target.requirePossibleMode(parameters)
            let users = try request.users(hinted: try hint.get(), in: target.client.key.realm)
            switch try login(for: request, parameters, of: target.client, expecting: users, tokens, &tx) {
            case .needed(let isForced, let journey):
                if request.isSilent {
                    // A login is forced for a session that does not satisfy the request.
                    let isAboutLogin = isForced || users != nil
                    throw isAboutLogin ? AuthorizationErrorResponse.loginRequired : AuthorizationErrorResponse.interactionRequired
                }
                return .login(isForced: isForced, journey: journey)
            case .present(let presented, let completed):
                guard try hasConsent(for: request, of: target.client, presented, decision, &tx) else {
                    return .consent(presented, request, csrf: tx.csrf(of: presented.token))
                }
                return try grant(request, to: target, presented, journey: completed, &tx)
            }
        } catch let refusal as AuthorizationErrorResponse {
            return .refused(refusal)
        }
    }

    /// The state of the user's login.
    private enum Login {
        /// The session satisfies the request; `journey` is the journey for the claim `acr`, which the user has completed in it.
        case present(PresentedSession, journey: String?)
        case needed(isForced: Bool, journey: String?)
    }

    /// Returns the state of the login of a user.
    /// - Parameters:
    ///   - request: The request.
    ///   - parameters: The parameters of the request.
    ///   - client: The client of the request.
    ///   - users: The users that the request names; nil for any user.
    ///   - tokens: The session tokens that the browser sent.
    ///   - tx: The transaction.
    /// - Returns: A session of such a user, or the login that is needed for one.
    /// - Throws: `login_required` when another user logged in for this request, because a response must not be about another user
    ///   (OpenID Connect Core section 3.1.2.2); `unmet_authentication_requirements` when no journey has an essential `acr`.
    private static func login(
        for request: AuthorizationRequest, _ parameters: Parameters, of client: RegisteredClient, expecting users: Set<UserKey>?,
        _ tokens: [String], _ tx: inout ServerTransaction
    ) throws -> Login {
        let realm = client.key.realm
        let present = try tx.session(tokens, in: realm)
        // Ignore values that aren't journeys of the realm: `acr_values` is a voluntary request.
        let journeys = request.journeys.filter { tx.trees[$0]?.isOffered(in: realm) ?? false }
        guard !journeys.isEmpty || !request.requiresJourney else {
            throw AuthorizationErrorResponse.unmetAuthenticationRequirements
        }
        let completed = journeys.first { present?.session.trees.contains($0) ?? false }
        if let users, let other = present?.session, !users.contains(other.user) {
            guard !tx.hasLoggedIn(other, since: parameters) else { throw AuthorizationErrorResponse.loginRequired }
            return .needed(isForced: true, journey: journeys.first)
        }
        guard let presented = present, journeys.isEmpty || completed != nil,
            tx.hasLoggedIn(presented.session, since: parameters) || !request.wantsLogin(presented.session, at: tx.now)
        else { return .needed(isForced: present != nil, journey: journeys.first) }
        // A client that asks for `acr` gets the one of the session when its values don't select a journey.
        guard completed == nil, request.claims?.idToken["acr"] != nil else { return .present(presented, journey: completed) }
        let current = presented.session.trees.sorted().first { tx.trees[$0]?.isOffered(in: realm) ?? false }
        return .present(presented, journey: current)
    }

    /// Returns true when the user consents to the request, or doesn't have to.
    ///
    /// Saves the consent if the user wants it.
    /// - Throws: The error for the client when the user refuses, or when the request forbids the consent page;
    ///   ``OAuthErrorResponse`` for the browser when the decision has no `csrf` of this session.
    private static func hasConsent(
        for request: AuthorizationRequest, of client: RegisteredClient, _ presented: PresentedSession, _ decision: Decision,
        _ tx: inout ServerTransaction
    ) throws -> Bool {
        guard decision.allows == nil || decision.isGenuine(presented.token, tx) else {
            throw OAuthErrorResponse(.badRequest, "bad_request", "The form is not one of this session")
        }
        let isPrompted = request.prompts.contains(.consent)
        guard client.requiresConsent || isPrompted else { return true }
        let user = presented.session.user
        if let allows = decision.allows {
            guard allows else { throw AuthorizationErrorResponse.accessDenied }
            if decision.saves { try tx.consents.save(request.consents, by: client.key, of: user) }
            return true
        }
        if !isPrompted, try tx.consents.covers(request.consents, by: client.key, of: user) { return true }
        if request.isSilent { throw AuthorizationErrorResponse.consentRequired }
        return false
    }

    /// Returns the response to a request that the user has authorized.
    private static func grant(
        _ request: AuthorizationRequest, to target: AuthorizationReturn, _ presented: PresentedSession, journey: String?,
        _ tx: inout ServerTransaction
    ) throws -> Outcome {
        let grant = Grant(
            client: target.client.key, user: presented.session.user, scopes: request.scopes,
            authenticatedAt: presented.session.authenticatedAt, session: TokenHash(presented.token), nonce: request.nonce,
            journey: journey, generation: presented.session.generation, claims: request.claims,
            resources: request.resources, dpopKey: request.dpopKey)
        switch request.responseType {
        case .code:
            return .code(
                tx.tokens.code(
                    for: grant, redirectURI: target.wasNamed ? target.redirectURI : nil, challenge: request.challenge,
                    lifetime: target.client.lifetimes(tx.time).authorizationCode))
        case .idToken:
            _ = try tx.tokens.join(grant, target.client)
            return .idToken(claims: try tx.idTokenClaims(of: grant, for: target.client, nonce: request.nonce))
        case .none: return .confirmed
        }
    }

    /// Returns the address of the login page.
    ///
    /// After the login, the browser returns to this request with a mark that contains the number of earlier logins.
    private func loginPage(
        _ request: Parameters, _ realm: RealmPath, mark: String, isForced: Bool, journey: String?
    ) -> String {
        let address = "\(server.baseURL)\(Route.Address(.authorize, realm: realm).path)"
        let fields = request.fieldsForLogin
        let goto = FormCoding.address(address, adding: fields + [(ServerTransaction.loginMark, mark)])
        return LoginController.address(server.baseURL, realm, goto: goto, isForced: isForced, journey: journey)
    }
}

extension ServerTransaction {
    /// The parameter that the login page returns with the request.
    static let loginMark = "login_mark"

    /// Returns the mark of a request that a browser with these session tokens sends.
    /// - Throws: `StoreError` when the state cannot be read.
    fileprivate func loginMark(for request: Parameters, after tokens: [String]) throws -> String {
        loginMark(for: request.fieldsForLogin, after: try sessions.lastLogin(tokens))
    }

    /// Returns the number of earlier logins, signed together with the request, so that it is valid for this request only.
    fileprivate func loginMark(for request: [(name: String, value: String)], after count: Int) -> String {
        "\(count).\(mac("login \(count) \(FormCoding.encode(request))"))"
    }

    /// Returns true when the user has logged in since this same request was sent to the login page, and not longer ago than a
    /// journey may take.
    ///
    /// The browser returns from the login page at once; a saved address would be opened later.
    fileprivate func hasLoggedIn(_ session: SSOSession, since request: Parameters) -> Bool {
        guard let mark = request[Self.loginMark], let count = Int(mark.prefix { $0 != "." }) else { return false }
        return ConstantTime.areEqual(mark, loginMark(for: request.fieldsForLogin, after: count)) && session.login > count
            && now.timeIntervalSince(session.authenticatedAt) <= Double(max(1, time.configuration.journeyTimeout))
    }
}

extension Parameters {
    /// The parameters with which the browser returns from the login page.
    ///
    /// The browser doesn't see those that the client has pushed.
    fileprivate var fieldsForLogin: [(name: String, value: String)] {
        if let requestURI {
            return [(name: "client_id", value: self["client_id"] ?? ""), (name: "request_uri", value: requestURI)]
        }
        return fields(without: AuthorizeController.Decision.names.union([ServerTransaction.loginMark]))
    }

    /// The parameters with which the browser sends the user's decision.
    fileprivate var fieldsForConsent: [(name: String, value: String)] {
        guard requestURI != nil else { return fields(without: AuthorizeController.Decision.names) }
        return fieldsForLogin + (self[ServerTransaction.loginMark].map { [(name: ServerTransaction.loginMark, value: $0)] } ?? [])
    }
}

extension AuthorizeController.Decision {
    /// Returns true when the form comes from a page that this server made for the session, or from a client that knows the
    /// session token.
    ///
    /// AM accepts the token too (protocol/journey.md section 8.4).
    fileprivate func isGenuine(_ token: String, _ tx: ServerTransaction) -> Bool {
        guard let csrf else { return false }
        return ConstantTime.areEqual(csrf, tx.csrf(of: token)) || ConstantTime.areEqual(csrf, token)
    }
}
