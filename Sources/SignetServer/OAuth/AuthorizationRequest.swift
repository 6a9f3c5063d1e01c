import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The client and the address that the response to an authorization request goes to, once both have been verified.
struct AuthorizationReturn: Sendable, Hashable {
    let client: RegisteredClient
    /// The verified address; nil for a request with the response type `none` that names no address.
    let redirectURI: String?
    /// True when the request contained the address.
    let wasNamed: Bool
    let mode: ResponseMode
    let state: String?
    let issuer: String
    /// True when the response contains `client_id`, as AM's does.
    let namesClient: Bool

    /// The way in which the response parameters reach the client (`response_mode`).
    enum ResponseMode: String, Sendable, CaseIterable {
        case query
        /// In the fragment of the address, which a browser doesn't send to servers.
        case fragment
        /// In a form that the browser posts to the address (OAuth 2.0 Form Post Response Mode).
        case formPost = "form_post"

        /// Returns the mode of the response to a request, which may be an error in any of its parameters.
        ///
        /// A mode that isn't possible is refused later, with an error in the query. A request with the response type `none` has no
        /// response to post, and browsers post forms to `http` and `https` only.
        init(_ parameters: Parameters, to redirectURI: String?) {
            let type = parameters["response_type"].flatMap { RegisteredClient.ResponseType(rawValue: $0) }
            guard let name = parameters["response_mode"] ?? parameters.requestObjectResponseMode else {
                self = type == .idToken ? .fragment : .query
                return
            }
            let mode = Self(rawValue: name) ?? .query
            let isWeb = ["http://", "https://"].contains { redirectURI?.lowercased().hasPrefix($0) ?? false }
            let canPost = isWeb && type != RegisteredClient.ResponseType.none
            self = mode != .formPost || canPost ? mode : .query
        }

        /// The modes that a request for a response type may name.
        static func modes(of type: RegisteredClient.ResponseType) -> [Self] {
            switch type {
            case .code: [.query, .fragment, .formPost]
            case .idToken: [.fragment, .formPost]
            case .none: [.query, .fragment]
            }
        }
    }

    /// Verifies the client and the redirect URI, and reads what the response to any request needs, also to a refused one.
    ///
    /// The server responds to the client only when both are valid, because an unverified address may belong to an attacker.
    init(
        _ parameters: Parameters, in realm: RealmPath, _ clients: ClientRegistry, _ time: RequestTime
    ) throws(OAuthErrorResponse) {
        let id = try parameters.required("client_id")
        guard let client = clients[ClientKey(realm: realm, id: id)] else {
            var error = OAuthErrorResponse(.badRequest, "invalid_client", "Client authentication failed")
            error.reason = "there is no client `\(id.shortened)` in \(realm)"
            throw error
        }
        let isIdentity = parameters["response_type"] == RegisteredClient.ResponseType.idToken.rawValue
        if let named = parameters["redirect_uri"] {
            // No code verifier protects an id_token, and any program may listen on another port of a loopback address.
            guard client.mayRedirect(to: named), !isIdentity || client.redirectURIs.contains(named) else {
                throw .redirectMismatch
            }
            (redirectURI, wasNamed) = (named, true)
        } else if parameters["response_type"] == RegisteredClient.ResponseType.none.rawValue {
            (redirectURI, wasNamed) = (nil, false)
        } else {
            guard client.redirectURIs.count == 1 else { throw .invalidRequest("Missing parameter, 'redirect_uri'") }
            (redirectURI, wasNamed) = (client.redirectURIs[0], false)
        }
        self.client = client
        issuer = time.issuer(of: realm)
        namesClient = time.configuration.profile == .am
        state = parameters["state"]
        mode = ResponseMode(parameters, to: redirectURI)
    }

    /// Refuses the mode `form_post` for an address that browsers post no form to, such as one with an app's own scheme.
    func requirePossibleMode(_ parameters: Parameters) throws(AuthorizationErrorResponse) {
        guard mode == .formPost || parameters["response_mode"] != ResponseMode.formPost.rawValue else {
            throw .invalidRequest("response_mode=form_post needs an http or https address in redirect_uri")
        }
    }

    /// Sends the response parameters to the client, with `iss`, `state` and, as AM does, `client_id` (RFC 9207).
    ///
    /// Without a redirect URI the response is empty.
    func response(_ answer: [(String, String)], at server: ServerContext) -> Response {
        guard let redirectURI else { return Response(status: .noContent) }
        guard let location = location(of: answer) else {
            return HTMLPage.formPost(fields(of: answer), of: client, to: redirectURI).response(at: server)
        }
        return OAuthReply.redirect(to: location)
    }

    /// Returns the URL that contains the response parameters; nil without a redirect URI, and for a response in a form.
    func location(of answer: [(String, String)]) -> String? {
        guard let redirectURI else { return nil }
        switch mode {
        case .query: return FormCoding.address(redirectURI, adding: fields(of: answer))
        case .fragment: return "\(redirectURI)#\(FormCoding.encode(fields(of: answer)))"
        case .formPost: return nil
        }
    }

    private func fields(of answer: [(String, String)]) -> [(name: String, value: String)] {
        var all = answer + [("iss", issuer)]
        if let state { all.append(("state", state)) }
        if namesClient { all.append(("client_id", client.id)) }
        return all.map { (name: $0, value: $1) }
    }

    /// Sends an error to the client; without a redirect URI the error is JSON with status 400.
    func response(to refusal: AuthorizationErrorResponse, at server: ServerContext) throws -> Response {
        guard redirectURI != nil else { return try OAuthErrorResponse(.badRequest, refusal.code, refusal.message).response }
        return response(refusal.parameters, at: server)
    }
}

/// An authorization error that is sent to the client's redirect URI (RFC 6749 section 4.1.2.1).
struct AuthorizationErrorResponse: Error, Sendable, Hashable {
    let code: String
    let message: String

    static let loginRequired = AuthorizationErrorResponse(code: "login_required", message: "The request requires login.")
    /// AM's answer to `prompt=none` without a session; both vendors' JavaScript SDKs compare the text.
    static let interactionRequired = AuthorizationErrorResponse(
        code: "interaction_required", message: "The request requires some interaction that is not allowed.")
    static let consentRequired = AuthorizationErrorResponse(code: "consent_required", message: "The request requires consent.")
    static let accessDenied = AuthorizationErrorResponse(
        code: "access_denied", message: "Resource Owner did not authorize the request")
    /// The server offers no journey that meets the essential values of `acr` (OpenID Connect Core Error Code
    /// unmet_authentication_requirements 1.0).
    static let unmetAuthenticationRequirements = AuthorizationErrorResponse(
        code: "unmet_authentication_requirements", message: "The requested acr is not offered.")

    static func invalidRequest(_ message: String) -> AuthorizationErrorResponse {
        AuthorizationErrorResponse(code: "invalid_request", message: message)
    }

    /// The response parameters.
    var parameters: [(String, String)] { [("error", code), ("error_description", message)] }
}

/// The parameters of a client's authorization request.
struct AuthorizationRequest: Sendable, Hashable {
    enum Prompt: String, Sendable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
    }

    let responseType: RegisteredClient.ResponseType
    let scopes: [String]
    let nonce: String?
    let challenge: String?
    let prompts: Set<Prompt>
    /// The maximum number of seconds since the user logged in.
    let maxAge: Double?
    /// The journeys of which the user must have completed one, the preferred one first.
    ///
    /// AM maps `acr_values` to journeys in this way.
    let journeys: [String]
    /// True when the request must fail if none of ``journeys`` exists.
    let requiresJourney: Bool
    /// The claims that the client requests by name; nil for a request without the parameter.
    let claims: ClaimsRequest?
    /// The resources that the client requests tokens for (RFC 8707); nil for a request without the parameter.
    let resources: [String]?
    /// The thumbprint of the key of the proof with which the code has to be exchanged (`dpop_jkt`, RFC 9449 section 10); nil for any.
    let dpopKey: String?

    /// Reads a request.
    /// - Parameters:
    ///   - parameters: The parameters of the request.
    ///   - client: The client of the request.
    ///   - configuration: The configuration: its conformance profile decides on unknown scopes.
    /// - Throws: The error to send to the client.
    init(
        _ parameters: Parameters, of client: RegisteredClient, _ configuration: ServerConfiguration
    ) throws(AuthorizationErrorResponse) {
        responseType = try Self.responseType(parameters, of: client)
        guard !client.requiresPushedRequests || parameters.requestURI != nil else {
            throw .invalidRequest("The client has to push its authorization requests (PAR)")
        }
        guard parameters["request"] == nil else {
            throw AuthorizationErrorResponse(code: "request_not_supported", message: "Request objects are not supported")
        }
        guard parameters["request_uri"] == nil else {
            throw AuthorizationErrorResponse(code: "request_uri_not_supported", message: "Request objects are not supported")
        }
        scopes = try Self.scopes(parameters.words("scope"), of: client, configuration.profile)
        nonce = parameters["nonce"]
        challenge = responseType == .code ? try Self.challenge(parameters, isRequired: client.requiresPKCE) : nil
        prompts = try Self.prompts(parameters)
        claims = try Self.claims(parameters, of: client, configuration)
        resources = try ResourceIndicators.requested(by: parameters, of: client)
        dpopKey = parameters["dpop_jkt"]
        guard dpopKey.map({ $0.utf8.count == 43 && (try? Base64.decodeURL($0))?.count == 32 }) ?? true else {
            throw .invalidRequest("dpop_jkt is not the SHA-256 thumbprint of a key")
        }
        let context = claims?.idToken["acr"]
        if let context, context.isEssential, let values = context.texts {
            (journeys, requiresJourney) = (values, true)
        } else {
            (journeys, requiresJourney) = (parameters.words("acr_values") + (context?.texts ?? []), false)
        }
        if let age = parameters["max_age"] {
            guard let seconds = UInt32(age) else { throw .invalidRequest("max_age is not a number of seconds") }
            maxAge = Double(seconds)
        } else {
            maxAge = nil
        }
        try requireSilence(parameters)
    }

    private static func claims(
        _ parameters: Parameters, of client: RegisteredClient, _ configuration: ServerConfiguration
    ) throws(AuthorizationErrorResponse) -> ClaimsRequest? {
        guard let text = parameters["claims"] else { return nil }
        return try ClaimsRequest(text).limited(to: client.scopes, configuration.claimsByScope)
    }

    /// Returns the scopes of a request: all scopes of the client when it names none.
    ///
    /// AM refuses unknown scopes, and OpenID Connect Core section 3.1.2.1 wants them to be ignored. A request that names only
    /// unknown scopes is always refused.
    private static func scopes(
        _ asked: [String], of client: RegisteredClient, _ profile: ConformanceProfile
    ) throws(AuthorizationErrorResponse) -> [String] {
        guard !asked.isEmpty else { return client.scopes }
        let unknown = asked.filter { !client.scopes.contains($0) }
        guard unknown.isEmpty || (profile == .openid && unknown.count < asked.count) else {
            throw AuthorizationErrorResponse(
                code: "invalid_scope", message: "Unknown/invalid scope(s): [\(unknown.joined(separator: ", "))]")
        }
        return asked.filter { !unknown.contains($0) }
    }

    /// Returns the response type, with which the response mode must be possible.
    private static func responseType(
        _ parameters: Parameters, of client: RegisteredClient
    ) throws(AuthorizationErrorResponse) -> RegisteredClient.ResponseType {
        guard let name = parameters["response_type"] else { throw .invalidRequest("Missing parameter, 'response_type'") }
        guard let type = RegisteredClient.ResponseType(rawValue: name) else {
            throw AuthorizationErrorResponse(code: "unsupported_response_type", message: "Response type is not supported.")
        }
        guard client.responseTypes.contains(type) else {
            throw AuthorizationErrorResponse(
                code: "unsupported_response_type", message: "Client does not support this response type.")
        }
        guard type != .code || client.grantTypes.contains(.authorizationCode) else {
            throw AuthorizationErrorResponse(
                code: OAuthErrorResponse.unauthorizedClient.code, message: OAuthErrorResponse.unauthorizedClient.message)
        }
        let modes = AuthorizationReturn.ResponseMode.modes(of: type).map(\.rawValue)
        if let mode = parameters["response_mode"], !modes.contains(mode) {
            throw .invalidRequest("The only response_mode is \(modes.joined(separator: " or "))")
        }
        return type
    }

    /// Requires `prompt=none` of requests that only ask for the state of the session: for an id_token, and without a redirect URI.
    ///
    /// An id_token must have a `nonce` (OpenID Connect Core section 3.2.2.1), because it is the client's only protection.
    private func requireSilence(_ parameters: Parameters) throws(AuthorizationErrorResponse) {
        switch responseType {
        case .code: return
        case .idToken:
            guard scopes.contains("openid") else { throw .invalidRequest("An id_token needs the scope openid") }
            guard nonce != nil else { throw .invalidRequest("Missing parameter, 'nonce'") }
            guard isSilent else { throw .invalidRequest("response_type=id_token needs prompt=none") }
        case .none:
            guard isSilent || parameters["redirect_uri"] != nil else {
                throw .invalidRequest("A request without redirect_uri needs prompt=none")
            }
        }
    }

    /// Returns the PKCE challenge (RFC 7636 section 4.3); nil for a client that doesn't need PKCE and sends none.
    static func challenge(_ parameters: Parameters, isRequired: Bool) throws(AuthorizationErrorResponse) -> String? {
        guard let challenge = parameters["code_challenge"] else {
            let missing = "Missing parameter, 'code_challenge'"
            guard !isRequired else {
                throw .invalidRequest("\(missing): the client needs PKCE, unless it has the setting requirePKCE: false")
            }
            guard parameters["code_challenge_method"] == nil else { throw .invalidRequest(missing) }
            return nil
        }
        guard parameters["code_challenge_method"] == "S256" else {
            throw .invalidRequest("The only code_challenge_method is S256")
        }
        guard challenge.utf8.count == 43, (try? Base64.decode(challenge))?.count == 32 else {
            throw .invalidRequest("code_challenge is not a SHA-256 in base64url")
        }
        return challenge
    }

    private static func prompts(_ parameters: Parameters) throws(AuthorizationErrorResponse) -> Set<Prompt> {
        var prompts: Set<Prompt> = []
        for word in parameters.words("prompt") {
            guard let prompt = Prompt(rawValue: word) else { throw .invalidRequest("Invalid value for prompt") }
            prompts.insert(prompt)
        }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw .invalidRequest("prompt combines none with another value")
        }
        return prompts
    }

    /// The scopes and the claims that the user consents to.
    ///
    /// No scope contains a space, so a claim has a name that no scope has.
    var consents: [String] { scopes + (claims?.names ?? []).map { "claim \($0)" } }

    /// Returns the users that the request accepts, which `id_token_hint` or the claim `sub` name.
    /// - Parameters:
    ///   - hint: The user that `id_token_hint` names.
    ///   - realm: The realm of the client.
    /// - Returns: The users; nil for any user.
    /// - Throws: `invalid_request` when the two have no user in common.
    func users(hinted hint: UserKey?, in realm: RealmPath) throws(AuthorizationErrorResponse) -> Set<UserKey>? {
        guard let subjects = claims?.subjects else { return hint.map { Set([$0]) } }
        var users = Set(subjects.map { UserKey(realm: realm, name: $0) })
        if let hint { users.formIntersection([hint]) }
        guard !users.isEmpty else { throw .invalidRequest("The request names no user, or different users") }
        return users
    }

    /// True when the request forbids pages.
    var isSilent: Bool { prompts.contains(.none) }

    /// Returns true when the user has to log in although a session exists.
    func wantsLogin(_ session: SSOSession, at now: Date) -> Bool {
        if let maxAge, now.timeIntervalSince(session.authenticatedAt) > maxAge { return true }
        return !prompts.isDisjoint(with: [.login, .selectAccount])
    }
}

/// The scopes and claims that users have consented to, by user and client (``AuthorizationRequest/consents``).
struct ConsentStore {
    private struct Key: RowName {
        let user: UserKey
        let client: ClientKey

        var rowName: String { "\(client.id.utf8.count) \(client.id)\(user.rowName)" }
    }

    private var scopes: Table<Key, Set<String>>

    init(_ transaction: RowCache) {
        scopes = Table(.consent, transaction)
    }

    func covers(_ asked: [String], by client: ClientKey, of user: UserKey) throws -> Bool {
        try scopes[Key(user: user, client: client)]?.isSuperset(of: asked) ?? asked.isEmpty
    }

    /// Removes the consent that a user has given a client.
    mutating func discard(by client: ClientKey, of user: UserKey) { scopes.discard(Key(user: user, client: client)) }

    mutating func save(_ asked: [String], by client: ClientKey, of user: UserKey) throws {
        let key = Key(user: user, client: client)
        scopes.insert(try (scopes[key] ?? []).union(asked), for: key)
    }
}
