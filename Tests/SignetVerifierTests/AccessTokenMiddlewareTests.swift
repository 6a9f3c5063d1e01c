import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import SignetCore
import SignetVerifier
import Testing

@Suite("The middleware that verifies access tokens")
struct AccessTokenMiddlewareTests {
    /// Runs `body` with a service whose route `/orders` needs the scope `orders`, and `/orders/all` also the scope `admin`.
    private func serving(
        _ fixture: VerifierFixture, _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let router = Router(context: BasicAccessTokenRequestContext.self)
        router.get("health") { _, _ in "up" }
        let orders = router.group("orders").add(middleware: AccessTokenMiddleware(fixture.verifier, scopes: ["orders"]))
        orders.get { _, context in try context.requireAccessToken().subject ?? "" }
        orders.group("all").add(middleware: RequiredScopesMiddleware(fixture.verifier, ["admin"]))
            .get { _, _ in "all orders" }
        router.get("unprotected") { _, context in try context.requireAccessToken().subject ?? "" }
        try await Application(router: router).test(.router) { client in try await body(client) }
    }

    private func get(
        _ path: String, _ client: any TestClientProtocol, _ authorization: [String] = [], proofs: [String] = []
    ) async throws -> TestResponse {
        var headers = HTTPFields()
        for value in authorization { headers.append(HTTPField(name: .authorization, value: value)) }
        let name = try #require(HTTPField.Name("DPoP"))
        for value in proofs { headers.append(HTTPField(name: name, value: value)) }
        return try await client.executeRequest(uri: path, method: .get, headers: headers, body: nil)
    }

    private func error(_ response: TestResponse) -> String? {
        (try? JSON.value(of: Array(String(buffer: response.body).utf8)))?["error"]?.string
    }

    @Test("The verified token is in the context of the request, and other routes need none")
    func putsTokenIntoContext() async throws {
        let fixture = VerifierFixture()
        let token = fixture.token()
        try await serving(fixture) { client in
            let reply = try await get("/orders?page=2", client, ["Bearer \(token)"])
            #expect(reply.status == .ok && String(buffer: reply.body) == "alice")
            let open = try await get("/health", client)
            #expect(open.status == .ok)
            let withoutMiddleware = try await get("/unprotected", client, ["Bearer \(token)"])
            #expect(withoutMiddleware.status == .unauthorized)
        }
    }

    static let challenges = [
        "Bearer scope=\"orders\"", "DPoP scope=\"orders\", algs=\"ES256 EdDSA\"",
    ]

    @Test(
        "A request without a token, or with another scheme, gets a challenge for each scheme and no error name",
        arguments: [[], ["Basic YTpi"]])
    func challengesRequestWithoutToken(authorization: [String]) async throws {
        try await serving(VerifierFixture()) { client in
            let reply = try await get("/orders", client, authorization)
            #expect(reply.status == .unauthorized && reply.headers[values: .wwwAuthenticate] == Self.challenges)
            #expect(reply.body.readableBytes == 0)
        }
    }

    @Test("A refused token gets status 401 with invalid_token in the challenge of its scheme, and no part of the token")
    func namesInvalidToken() async throws {
        let fixture = VerifierFixture()
        let token = fixture.token(claims: ["aud": .string("https://other.example.test")])
        try await serving(fixture) { client in
            let reply = try await get("/orders", client, ["Bearer \(token)"])
            let challenges = reply.headers[values: .wwwAuthenticate]
            #expect(reply.status == .unauthorized && challenges.count == 2)
            #expect(challenges.first?.hasPrefix("Bearer error=\"invalid_token\", error_description=") ?? false)
            #expect(challenges.last == Self.challenges.last && reply.headers[.cacheControl] == "no-store")
            #expect(error(reply) == "invalid_token")
            #expect(!String(buffer: reply.body).contains(token.suffix(20)))
        }
    }

    @Test(
        "A request with several or malformed tokens gets status 400",
        arguments: [["Bearer a", "Bearer b"], ["Bearer "], ["Bearer a b"]])
    func refusesMalformedAuthorization(authorization: [String]) async throws {
        try await serving(VerifierFixture()) { client in
            let reply = try await get("/orders", client, authorization)
            #expect(reply.status == .badRequest)
            #expect(error(reply) == "invalid_request")
        }
    }

    @Test("A token without a scope of the route gets status 403, which names the scope")
    func namesMissingScope() async throws {
        let fixture = VerifierFixture()
        let (orders, all) = (fixture.token(), fixture.token(claims: ["scope": .string("orders admin")]))
        let none = fixture.token(claims: ["scope": nil])
        try await serving(fixture) { client in
            let refused = try await get("/orders/all", client, ["Bearer \(orders)"])
            let challenge = refused.headers[values: .wwwAuthenticate].first ?? ""
            #expect(refused.status == .forbidden && challenge.contains("error=\"insufficient_scope\""))
            #expect(challenge.contains("scope=\"admin\""))
            let accepted = try await get("/orders/all", client, ["Bearer \(all)"])
            #expect(accepted.status == .ok)
            let withoutScopes = try await get("/orders", client, ["Bearer \(none)"])
            #expect(withoutScopes.status == .forbidden)
        }
    }

    @Test("A DPoP request is verified with its proof, a repetition is refused, and a bound token does not work as a bearer token")
    func verifiesProofOfRequest() async throws {
        let fixture = VerifierFixture()
        let token = try fixture.boundToken()
        let proof = try fixture.proof(for: token)
        try await serving(fixture) { client in
            let accepted = try await get("/orders?page=2", client, ["DPoP \(token)"], proofs: [proof])
            #expect(accepted.status == .ok && String(buffer: accepted.body) == "alice")
            let repeated = try await get("/orders", client, ["DPoP \(token)"], proofs: [proof])
            let challenges = repeated.headers[values: .wwwAuthenticate]
            #expect(repeated.status == .unauthorized && challenges.first == Self.challenges.first)
            #expect(challenges.last?.hasPrefix("DPoP error=\"invalid_dpop_proof\"") ?? false)
            let bearer = try await get("/orders", client, ["Bearer \(token)"])
            #expect(bearer.status == .unauthorized)
            #expect(error(bearer) == "invalid_token")
        }
    }

    @Test("A service with nonces sends one with the refusal and with each response to a bound token")
    func sendsNonce() async throws {
        let fixture = VerifierFixture(
            proofs: ProofPolicy(baseURL: VerifierFixture.service, isRequired: true, nonces: ProofNonces()))
        let token = try fixture.boundToken()
        let first = try fixture.proof(for: token)
        let name = try #require(HTTPField.Name("DPoP-Nonce"))
        try await serving(fixture) { client in
            let refused = try await get("/orders", client, ["DPoP \(token)"], proofs: [first])
            #expect(refused.status == .unauthorized)
            #expect(error(refused) == "use_dpop_nonce")
            #expect(refused.headers[values: .wwwAuthenticate].count == 1)
            let nonce = try #require(refused.headers[name])
            let second = try fixture.proof(for: token, id: "proof-2", nonce: nonce)
            let accepted = try await get("/orders", client, ["DPoP \(token)"], proofs: [second])
            #expect(accepted.status == .ok && accepted.headers[name] == nonce)
        }
    }
}
