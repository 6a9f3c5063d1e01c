import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /oauth2/.../par`: stores an authorization request, whose parameters the browser then doesn't see (RFC 9126).
struct PushedAuthorizationController: Sendable {
    let server: ServerContext

    func push(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let form = try await request.form(context)
        let credentials = try await server.credentials(request, form, in: realm, at: .pushedAuthorization)
        guard form["request_uri"] == nil else {
            throw OAuthErrorResponse.invalidRequest("A pushed request must not contain request_uri")
        }
        let proof = try ReceivedProof(request, context, at: server)
        let (uri, lifetime) = try await server.store.write { tx in
            let client = try tx.client(credentials, in: realm)
            let key = try proof.map { try tx.accept($0) }
            let text = try Self.form(form, of: client, key: key)
            try Self.check(text, in: realm, tx)
            let lifetime = client.lifetimes(tx.time).pushedRequest
            let uri = tx.pushedRequests.add(PushedRequest(client: client.key, form: text), lifetime: lifetime)
            return (uri, lifetime)
        }
        server.logger.info("authorization request pushed", metadata: ["client": "\(credentials.id)", "realm": "\(realm)"])
        return try OAuthReply.make(
            .created, ["request_uri": .string(uri), "expires_in": .integer(Int64(lifetime))],
            headers: try await server.nonceHeaders(for: proof))
    }

    /// The parameters that belong to the push and not to the authorization request (RFC 9126 section 2.1), and those that only the
    /// server's own pages send.
    private static let others = AuthorizeController.Decision.names.union([
        "client_id", "client_secret", "client_assertion", "client_assertion_type", "dpop_jkt", ServerTransaction.loginMark,
    ])

    /// The maximum length of a stored request, in bytes.
    private static let maximumLength = 16_384

    /// Returns the parameters to store, as a form.
    /// - Parameters:
    ///   - form: The parameters of the push.
    ///   - client: The authenticated client.
    ///   - key: The thumbprint of the key of the proof in the push; nil for none.
    /// - Returns: The form, with the client, and with the key to which the tokens will be bound (RFC 9449 section 10.1).
    /// - Throws: ``OAuthErrorResponse`` when the parameter `dpop_jkt` names another key than the proof.
    private static func form(
        _ form: Parameters, of client: RegisteredClient, key: String?
    ) throws(OAuthErrorResponse) -> String {
        let named = form["dpop_jkt"]
        guard key == nil || named == nil || key == named else {
            throw .invalidRequest("dpop_jkt is not the thumbprint of the key of the DPoP proof")
        }
        var fields = form.fields(without: others) + [(name: "client_id", value: client.id)]
        if let key = key ?? named { fields.append((name: "dpop_jkt", value: key)) }
        let text = FormCoding.encode(fields)
        guard text.utf8.count <= maximumLength else {
            throw .invalidRequest("The request has more than \(maximumLength) bytes")
        }
        return text
    }

    /// Refuses a request that `authorize` would refuse for each user (RFC 9126 section 2.1).
    private static func check(_ form: String, in realm: RealmPath, _ tx: ServerTransaction) throws(OAuthErrorResponse) {
        let parameters = try Parameters(pushed: form, as: PushedRequestStore.prefix)
        let target = try AuthorizationReturn(parameters, in: realm, tx.clients, tx.time)
        do throws(AuthorizationErrorResponse) {
            _ = try AuthorizationRequest(parameters, of: target.client, tx.time.configuration)
            try target.requirePossibleMode(parameters)
        } catch {
            throw OAuthErrorResponse(.badRequest, error.code, error.message)
        }
    }
}
