import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Resources of tokens (RFC 8707)")
struct ResourceIndicatorTests {
    private static let (orders, stock) = ("https://orders.example.test", "https://stock.example.test/v1")

    private static let client = RegisteredClient(id: "jwt", redirectURIs: [TestServer.redirectURI]) {
        $0.accessTokens = .jwt
        $0.audiences = [orders, stock]
    }

    /// Requests a code, with the resources in the query.
    private static func code(_ server: TestServer, _ resources: [String]) async throws -> [String: String] {
        let session = try await server.session()
        let query = TestServer.form([
            "response_type": "code", "client_id": "jwt", "scope": "openid", "redirect_uri": TestServer.redirectURI, "state": "s",
            "code_challenge": ProofKey.challenge(for: TestServer.verifier), "code_challenge_method": "S256",
        ])
        let list = resources.map { "&resource=\($0.percentEncoded())" }.joined()
        return try await server.send(
            .get, "\(TestServer.oauth)/authorize?\(query)\(list)", headers: ["iPlanetDirectoryPro": session]
        ).location
    }

    @Test(
        "The audience of a token is the requested resources, or the first one of the client",
        arguments: [
            ([], .string(orders)), ([stock], .string(stock)), ([orders, stock], .array([.string(orders), .string(stock)])),
        ] as [([String], JSONValue)])
    func tokenIsForResources(resources: [String], audience: JSONValue) async throws {
        try await TestServer.run(clients: [Self.client]) { server in
            let code = try #require(try await Self.code(server, resources)["code"])
            let tokens = try Tokens(try await server.exchange(code, client: "jwt"))
            let claims = try await server.claims(tokens.access)
            let description = try await server.introspect(tokens.access)
            #expect(claims["aud"] == audience && description["aud"] == audience)
            // The id_token is for the client.
            let identity = try await server.claims(try #require(tokens.id))
            #expect(identity["aud"] == "jwt")
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh), client: "jwt"))
            let again = try await server.claims(renewed.access)
            #expect(again["aud"] == audience)
        }
    }

    @Test("A token request narrows the resources of the authorization, and never widens them")
    func tokenRequestNarrows() async throws {
        try await TestServer.run(clients: [Self.client]) { server in
            let code = try #require(try await Self.code(server, [Self.orders, Self.stock])["code"])
            let tokens = try Tokens(try await server.exchange(code, client: "jwt", ["resource": Self.stock]))
            let narrowed = try await server.claims(tokens.access)["aud"]
            #expect(narrowed == .string(Self.stock))
            let refresh = try #require(tokens.refresh)
            let renewed = try Tokens(try await server.refresh(refresh, client: "jwt", ["resource": Self.orders]))
            let other = try await server.claims(renewed.access)["aud"]
            #expect(other == .string(Self.orders))

            let only = try #require(try await Self.code(server, [Self.orders])["code"])
            let wider = try await server.exchange(only, client: "jwt", ["resource": Self.stock])
            #expect(wider.status == 400 && wider.error == "invalid_target")
        }
    }

    @Test(
        "A resource that the client has not registered is refused at authorize and at the token endpoint",
        arguments: ["https://other.example.test", "https://orders.example.test/", "orders", "https://orders.example.test#x"])
    func refusesUnknownResource(resource: String) async throws {
        try await TestServer.run(clients: [Self.client]) { server in
            let answer = try await Self.code(server, [resource])
            #expect(answer["error"] == "invalid_target" && answer["code"] == nil && answer["state"] == "s")
            let code = try #require(try await Self.code(server, [])["code"])
            let reply = try await server.exchange(code, client: "jwt", ["resource": resource])
            #expect(reply.status == 400 && reply.error == "invalid_target")
        }
    }

    @Test("A client without audiences gets tokens for itself, and none for a resource")
    func clientIsDefaultAudience() async throws {
        try await TestServer.run { server in
            let answer = try await server.authorize(try await server.session(), ["resource": Self.orders]).location
            #expect(answer["error"] == "invalid_target")
            let tokens = try await server.tokens()
            let description = try await server.introspect(tokens.access)
            #expect(description["aud"] == "app")
        }
    }

    @Test("The browser keeps all resources of a request on its way through the login page")
    func loginKeepsResources() async throws {
        try await TestServer.run(clients: [Self.client]) { server in
            let query = try Parameters("resource=\(Self.orders)&resource=\(Self.stock)&client_id=jwt")
            let values = query.fields().map(\.value)
            #expect(values == ["jwt", Self.orders, Self.stock])
            #expect(query.list("resource") == [Self.orders, Self.stock] && query["resource"] == nil)
            #expect(throws: OAuthErrorResponse.self) { try Parameters("client_id=a&client_id=b") }
        }
    }

    @Test("The configuration file refuses an audience other than an absolute URI", arguments: ["api", "https://a.test#b", "/a"])
    func refusesBadAudience(audience: String) {
        let yaml = "clients: [{id: a, audiences: ['\(audience)']}]"
        #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: yaml) }
    }
}
