import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `GET` and `POST /oauth2/.../connect/endSession`: ends the session that an id_token was issued in (OpenID Connect RP-Initiated
/// Logout 1.0).
///
/// The id_token may have expired.
struct EndSessionController: Sendable {
    let server: ServerContext

    func endSession(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        var parameters = try request.queryParameters()
        if request.method == .post {
            parameters = try await request.form(context)
        }
        guard let hint = try await IDTokenHint(try parameters.required("id_token_hint"), at: server), hint.user.realm == realm,
            parameters["client_id"].map({ $0 == hint.clientID }) ?? true
        else { throw OAuthErrorResponse.invalidRequest("The id_token_hint is not one of this client in this realm") }

        let session = hint.session
        let presented = request.sessionTokens(server.configuration.cookieName).map { TokenHash($0) }
        let request = parameters
        let (ended, headers) = try await server.store.write { tx in
            if let target = request["post_logout_redirect_uri"] {
                guard let client = tx.clients[ClientKey(realm: realm, id: hint.clientID)], client.mayReturn(to: target) else {
                    throw OAuthErrorResponse(
                        .badRequest, "redirect_uri_mismatch",
                        "The post logout redirection URI provided does not match a pre-registered value.")
                }
            }
            let ended = try session.flatMap { try tx.sessions.end($0) }
            let isOwn = session.map(presented.contains) ?? false
            return (ended, isOwn ? HTTPFields([SessionCookie(tx.time).expired]) : [:])
        }
        if let ended { server.logger.info("logged out", metadata: ["realm": "\(realm)", "user": "\(ended.user.name)"]) }
        guard let target = parameters["post_logout_redirect_uri"] else {
            return Response(status: .noContent, headers: headers)
        }
        let state = parameters["state"].map { [(name: "state", value: $0)] } ?? []
        return OAuthReply.redirect(to: FormCoding.address(target, adding: state), headers: headers)
    }
}
