import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../token/revoke` (RFC 7009).
///
/// The response for an unknown token, or for a token of another client, is the same as for a revoked one.
struct RevocationController: Sendable {
    let server: ServerContext

    func revoke(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try await server.credentials(request, form, in: realm, at: .revocation)
        let token = try await server.presented(form["token"] ?? "")
        try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            _ = try form.required("token")
            try tx.tokens.revoke(token, of: client.key)
        }
        server.logger.info("token revoked", metadata: ["client": "\(credentials.id)", "realm": "\(realm)"])
        return try OAuthReply.make(.ok, [:])
    }
}
