import HTTPTypes
import Hummingbird
import SignetCore

/// The metadata of a realm as OpenID provider and as authorization server, and the key set that it refers to.
///
/// `GET /oauth2/.../.well-known/openid-configuration` (OpenID Connect Discovery 1.0 section 4) and
/// `GET /.well-known/oauth-authorization-server/am/oauth2/...` (RFC 8414 section 3.1) return the same document.
struct DiscoveryController: Sendable {
    let server: ServerContext

    func discovery(_ request: Request, context: AppRequestContext) async throws -> Response {
        try JSONReply.make(.ok, Self.document(context.realm, server.clients, server.trees, server.time))
    }

    func keys(_ request: Request, context: AppRequestContext) async throws -> Response {
        try JSONReply.make(.ok, try await server.signer.keySet)
    }

    private static func document(
        _ realm: RealmPath, _ clients: ClientRegistry, _ trees: [String: JourneyTree], _ time: RequestTime
    ) -> [String: JSONValue] {
        func address(_ route: Route) -> JSONValue { .string(time.url(route, in: realm)) }
        let confidential = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        let authentication = JSONValue.texts(confidential + ["none"])
        let algorithms = JSONValue.texts(JWSAlgorithm.allCases.map(\.rawValue).sorted())
        var document: [String: JSONValue] = [
            "issuer": .string(time.issuer(of: realm)),
            "authorization_endpoint": address(.authorize), "token_endpoint": address(.accessToken),
            "userinfo_endpoint": address(.userInfo), "jwks_uri": address(.keys), "revocation_endpoint": address(.revocation),
            "introspection_endpoint": address(.introspection), "end_session_endpoint": address(.endSession),
            "device_authorization_endpoint": address(.deviceCode),
            "acr_values_supported": .texts(trees.names(offeredIn: realm)), "scopes_supported": .texts(clients.scopes(in: realm)),
            "claims_supported": .texts(time.configuration.claimsByScope.names),
            "response_types_supported": .texts(RegisteredClient.ResponseType.allCases.map(\.rawValue)),
            "response_modes_supported": .texts(AuthorizationReturn.ResponseMode.allCases.map(\.rawValue)),
            "grant_types_supported": .texts(RegisteredClient.GrantType.allCases.map(\.rawValue)),
            "code_challenge_methods_supported": .texts(["S256"]), "subject_types_supported": .texts(["public"]),
            "id_token_signing_alg_values_supported": algorithms, "userinfo_signing_alg_values_supported": algorithms,
            "token_endpoint_auth_methods_supported": authentication, "revocation_endpoint_auth_methods_supported": authentication,
            "introspection_endpoint_auth_methods_supported": .texts(confidential),
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "prompt_values_supported": .texts(["none", "login", "consent", "select_account"]),
            "authorization_response_iss_parameter_supported": .bool(true), "request_parameter_supported": .bool(false),
            "request_uri_parameter_supported": .bool(false), "claims_parameter_supported": .bool(true),
            "backchannel_logout_supported": .bool(true), "backchannel_logout_session_supported": .bool(true),
        ]
        document.merge(extensions(in: realm, clients, time)) { own, _ in own }
        if time.configuration.profile == .am { document["version"] = .string("3.0") }
        return document
    }
}

extension ClientRegistry {
    /// Returns the scopes that clients of the realm can request, in alphabetical order.
    func scopes(in realm: RealmPath) -> [String] {
        Set(all.filter { $0.key.realm == realm }.flatMap(\.scopes) + ["openid"]).sorted()
    }
}
