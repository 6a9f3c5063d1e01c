import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The metadata of the authorization server (RFC 8414)")
struct ServerMetadataTests {
    private static let addresses = [
        "/am/oauth2/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/am/oauth2",
    ]

    private static func list(_ document: JSONValue, _ name: String) -> [String] {
        document[name]?.array?.compactMap(\.string) ?? []
    }

    @Test("The metadata names each grant, authentication method and algorithm that the server has", arguments: addresses)
    func namesFeatures(address: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, address, headers: [:])
            let type = reply.header("Content-Type") ?? ""
            #expect(reply.status == 200 && type.hasPrefix("application/json"))
            let document = reply.json
            let grants = Self.list(document, "grant_types_supported")
            #expect(Set(grants) == Set(RegisteredClient.GrantType.allCases.map(\.rawValue)) && Set(grants).count == grants.count)
            #expect(grants.contains("client_credentials") && grants.contains("urn:ietf:params:oauth:grant-type:token-exchange"))
            let methods = Self.list(document, "token_endpoint_auth_methods_supported")
            #expect(methods == ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"])
            for name in ["id_token", "userinfo"] {
                let algorithms = Self.list(document, "\(name)_signing_alg_values_supported")
                #expect(algorithms == ["ES256", "EdDSA", "PS256", "RS256"], "\(name)")
            }
            #expect(document["authorization_response_iss_parameter_supported"] == .bool(true))
        }
    }

    @Test(
        "The lists of algorithms beside the authentication methods have no MAC and no none",
        arguments: ["token", "revocation", "introspection"])
    func namesAlgorithmsOfAssertions(endpoint: String) async throws {
        try await TestServer.run { server in
            let document = try await server.send(.get, Self.addresses[0], headers: [:]).json
            let methods = Self.list(document, "\(endpoint)_endpoint_auth_methods_supported")
            let algorithms = Self.list(document, "\(endpoint)_endpoint_auth_signing_alg_values_supported")
            #expect(methods.contains("private_key_jwt") && Set(algorithms) == Set(JWSAlgorithm.allCases.map(\.rawValue)))
        }
    }

    @Test("The metadata names the claims that the scopes of the configuration cover")
    func namesClaims() async throws {
        try await TestServer.run(.sample { $0.scopeClaims = ["groups": ["team", "email"]] }) { server in
            let document = try await server.send(.get, Self.addresses[0], headers: [:]).json
            let claims = Self.list(document, "claims_supported")
            let emails = claims.filter { $0 == "email" }
            #expect(claims.contains("team") && emails.count == 1 && claims.first == "sub")
        }
    }
}
