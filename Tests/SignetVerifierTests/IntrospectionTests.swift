import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import SignetVerifier
import Testing

@Suite("The verification of access tokens by introspection")
struct IntrospectionTests {
    static let active: [String: JSONValue] = [
        "active": .bool(true), "scope": .string("orders"), "client_id": .string("app"), "sub": .string("alice"),
        "iss": .string(VerifierFixture.issuer), "exp": .integer(VerifierFixture.start + 300), "token_type": .string("Bearer"),
    ]

    private func fixture(
        _ changes: [String: JSONValue?] = [:], rememberedFor lifetime: Duration = .seconds(30)
    ) -> VerifierFixture {
        let fixture = VerifierFixture(VerifierFixture.asking(rememberedFor: lifetime))
        fixture.provider.withLock { $0.introspections["opaque"] = VerifierFixture.changed(Self.active, changes) }
        return fixture
    }

    @Test("The provider is asked with the authentication of the service's client")
    func asksProvider() async throws {
        let fixture = fixture()
        let token = try await fixture.verifier.verify(VerifierFixture.request("Bearer", "opaque"))
        #expect(token.subject == "alice" && token.clientID == "app" && token.scopes == ["orders"])
        let first = fixture.provider.withLock { $0.questions.first }
        let question = try #require(first)
        #expect(question.form["token"] == "opaque" && question.form["token_type_hint"] == "access_token")
        let credentials = "Basic " + Base64.encode(Array("api:s3cret".utf8), as: .standard)
        #expect(question.authorization == credentials)
    }

    @Test("An active token is remembered for the time that the service states, and not beyond its own end")
    func remembersAnswer() async {
        let fixture = fixture()
        for _ in 0..<3 { #expect(await fixture.code(of: "opaque") == nil) }
        #expect(fixture.requests(to: VerifierFixture.introspection) == 1)
        fixture.clock.advance(by: 30)
        #expect(await fixture.code(of: "opaque") == nil)
        #expect(fixture.requests(to: VerifierFixture.introspection) == 2)
        // Revoked at the provider, and still remembered here.
        fixture.provider.withLock { $0.introspections["opaque"] = nil }
        #expect(await fixture.code(of: "opaque") == nil)
        fixture.clock.advance(by: 30)
        #expect(await fixture.code(of: "opaque") == .inactive)
    }

    @Test("Without a memory, the provider is asked for each request")
    func asksForEachRequest() async {
        let fixture = fixture(rememberedFor: .zero)
        for _ in 0..<3 { #expect(await fixture.code(of: "opaque") == nil) }
        #expect(fixture.requests(to: VerifierFixture.introspection) == 3)
    }

    static let refusals: [(name: String, changes: [String: JSONValue?], code: AccessTokenError.Code)] = [
        ("not active", ["active": .bool(false)], .inactive),
        ("active as text", ["active": .string("true")], .inactive),
        ("another issuer", ["iss": .string("https://evil.example.test")], .issuer),
        ("another audience", ["aud": .string("https://other.example.test")], .audience),
        ("expired", ["exp": .integer(VerifierFixture.start - 60)], .expired),
        ("valid later", ["nbf": .integer(VerifierFixture.start + 61)], .notYetValid),
        ("a refresh token", ["token_type": .string("refresh_token")], .type),
        ("bound to a key", ["cnf": .object(["jkt": .string("x")])], .binding),
    ]

    @Test("An answer about another token than an active access token for the service is a refusal", arguments: refusals)
    func refusesIntrospection(name: String, changes: [String: JSONValue?], code: AccessTokenError.Code) async {
        let fixture = fixture(changes)
        #expect(await fixture.code(of: "opaque") == code, "\(name)")
    }

    @Test("An unknown token is refused as invalid, and an outage of the provider is not a refusal")
    func tellsOutageFromRefusal() async {
        let fixture = fixture()
        #expect(await fixture.code(of: "unknown") == .inactive)
        fixture.provider.withLock { $0.isDown = true }
        let error = await fixture.error(of: VerifierFixture.request("Bearer", "opaque"))
        #expect(error?.code == .unavailable && error?.isRetryable == true)
    }
}
