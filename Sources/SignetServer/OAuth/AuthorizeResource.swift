import HTTPTypes
import Hummingbird
import Logging
import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `GET` and `POST /oauth2/.../authorize`: gives a client a code (protocol/journey.md section 4.2).
struct AuthorizeResource: Sendable {
    let desk: Desk

    /// What becomes of a request that is whole.
    private enum Outcome: Sendable {
        case code(String)
        /// To log in; `isForced` though there is a session.
        case login(isForced: Bool)
        case consent(ShownSession, csrf: String)
        case refused(AuthorizationRefusal)
    }

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        var decision = Decision()
        var parameters = try reader.queryParameters()
        if reader.request.method == .post {
            let form = try await reader.form()
            decision = Decision(form)
            // A form may carry the whole request, or come after one that stands in the query.
            if form["client_id"] != nil { parameters = form }
        } else {
            try reader.require(.get)
        }
        let request = parameters
        let tokens = reader.sessionTokens(desk.configuration.cookieName)
        let (target, outcome) = try desk.transact { [decision] state, moment throws(OAuthRefusal) in
            let target = try AuthorizationReturn(
                request, in: realm, state.clients, issuer: moment.issuer(of: realm))
            return (target, Self.outcome(of: request, target, decision, tokens, &state, moment))
        }
        switch outcome {
        case .code(let code):
            desk.logger.info("code given", metadata: ["client": "\(target.client.id)", "realm": "\(realm)"])
            return OAuthReply.redirect(to: target.location([("code", code)]))
        case .refused(let refusal):
            desk.logger.info("authorization refused", metadata: ["client": "\(target.client.id)", "error": "\(refusal.code)"])
            return OAuthReply.redirect(
                to: target.location([("error", refusal.code), ("error_description", refusal.message)]))
        case .login(let isForced):
            return OAuthReply.redirect(to: loginPage(request, realm, isForced: isForced))
        case .consent(let shown, let csrf):
            return HTMLPage.consent(
                client: target.client, user: shown.session.user, scopes: request.words("scope"), csrf: csrf,
                target: target.redirectURI
            ).response(below: desk.contextPath)
        }
    }

    /// A person's answer to the question whether a client may.
    fileprivate struct Decision: Sendable {
        var allows: Bool?
        var saves = false
        var csrf: String?

        init() {}

        init(_ form: Parameters) {
            allows = form["decision"].map { $0 == "allow" }
            saves = form["save_consent"] == "on"
            csrf = form["csrf"]
        }
    }

    private static func outcome(
        of parameters: Parameters, _ target: AuthorizationReturn, _ decision: Decision, _ tokens: [String],
        _ state: inout DeskState, _ moment: Moment
    ) -> Outcome {
        let client = target.client
        let request: AuthorizationRequest
        do {
            request = try AuthorizationRequest(parameters, of: client)
        } catch {
            return .refused(error)
        }
        let isSilent = request.prompts.contains(.none)
        let present = state.session(tokens, in: client.key.realm, at: moment.now)
        guard let shown = present, !request.wantsLogin(shown.session, at: moment.now) else {
            let refusal = AuthorizationRefusal(code: "login_required", message: "The request requires login.")
            return isSilent ? .refused(refusal) : .login(isForced: present != nil)
        }
        if client.asksConsent || request.prompts.contains(.consent) {
            let user = shown.session.user
            let isKnown =
                !request.prompts.contains(.consent) && state.consents.covers(request.scopes, by: client.key, of: user)
            if let allows = decision.isGenuine(shown.token, state) ? decision.allows : nil {
                guard allows else {
                    let message = "Resource Owner did not authorize the request"
                    return .refused(AuthorizationRefusal(code: "access_denied", message: message))
                }
                if decision.saves { state.consents.save(request.scopes, by: client.key, of: user) }
            } else if !isKnown {
                let refusal = AuthorizationRefusal(code: "consent_required", message: "The request requires consent.")
                return isSilent ? .refused(refusal) : .consent(shown, csrf: state.csrf(of: shown.token))
            }
        }
        let grant = Grant(
            id: RandomID.token(), client: client.key, user: shown.session.user, scopes: request.scopes,
            authenticatedAt: shown.session.authenticatedAt, session: BearerKey(shown.token), nonce: request.nonce)
        return .code(
            state.tokens.code(
                for: grant, redirectURI: target.wasNamed ? target.redirectURI : nil, challenge: request.challenge,
                lifetime: client.lifetimes(moment).authorizationCode, at: moment.now))
    }

    /// Where a person logs in, to come back to the same request. It does not ask to log in a second time.
    private func loginPage(_ request: Parameters, _ realm: RealmPath, isForced: Bool) -> String {
        let address = "\(desk.baseURL)\(ResourceAddress(.authorize, realm: realm).path)"
        let goto = "\(address)?\(request.encoded(without: ["prompt", "max_age", "decision", "csrf", "save_consent"]))"
        return LoginPages.address(desk.baseURL, realm, goto: goto, isForced: isForced)
    }
}

extension AuthorizeResource.Decision {
    /// Whether the answer came from a page that this server made for the session, or from somebody who knows its token, as AM
    /// has it (protocol/journey.md section 8.4).
    fileprivate func isGenuine(_ token: String, _ state: DeskState) -> Bool {
        guard let csrf else { return false }
        return ConstantTime.areEqual(csrf, state.csrf(of: token)) || ConstantTime.areEqual(csrf, token)
    }
}
