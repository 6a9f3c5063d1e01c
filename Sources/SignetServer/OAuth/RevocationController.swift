import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../token/revoke` (RFC 7009). The response for an unknown token, or for a token of another client, is the same
/// as for a revoked one.
struct RevocationController: Sendable {
    let server: ServerContext

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        try reader.require(.post)
        let form = try await reader.form()
        let credentials = try ClientCredentials(reader, form)
        try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            tx.tokens.revoke(try form.required("token"), of: client.key)
        }
        server.logger.info("token revoked", metadata: ["client": "\(credentials.id)", "realm": "\(realm)"])
        return try OAuthReply.make(.ok, [:])
    }
}
