import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting
import SignetVerifier
import TestSupport
import Testing

@Suite("The verification of the access tokens of the development server")
struct VerifierAtServerTests {
    private static let password = "correct horse"
    private static let redirectURI = "http://127.0.0.1/callback"
    private static let secret = Secret("s3cret-of-this-test".utf8)

    /// Runs `body` with a server whose confidential client is `api`.
    private func withServer(_ body: (TestServer.Live) async throws -> Void) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret(Self.password.utf8))]
            $0.clients = [RegisteredClient(id: "api", secret: Self.secret, redirectURIs: [Self.redirectURI])]
        }
        try await TestServer.live(configuration, body)
    }

    /// Returns the session of a user who has logged in with a journey.
    private func session(_ server: TestServer.Live) async throws -> String {
        let journey = Journey(try ServerProfile(url: server.url), transport: server.transport)
        guard case .step(var step) = try await journey.start("Login") else { throw TestUser.UnexpectedState() }
        for index in step.callbacks.indices {
            let isName = step.callbacks[index].type == "NameCallback"
            step.callbacks[index].answer(.string(isName ? "demo" : Self.password))
        }
        guard case .loggedIn(let token) = try await journey.next(step) else { throw TestUser.UnexpectedState() }
        return token.value.text
    }

    /// Sends a form to the server with the authentication of the client.
    private func post(
        _ fields: [(name: String, value: String)], to path: String, _ server: TestServer.Live
    ) async throws -> HTTPResponse {
        let credentials = Base64.encode(Array("api:\(Self.secret.text)".utf8), as: .standard)
        return try await server.transport.send(
            HTTPRequest(
                "POST", "\(server.url)/oauth2/\(path)",
                headers: [
                    "Content-Type": "application/x-www-form-urlencoded", "Authorization": "Basic \(credentials)",
                ], body: Array(FormCoding.encode(fields).utf8)))
    }

    /// Returns an access token of the user for the client.
    private func token(_ server: TestServer.Live) async throws -> String {
        let verifier = Base64.encode(Secret.random(byteCount: 32).bytes, as: .url)
        let address = FormCoding.address(
            "\(server.url)/oauth2/authorize",
            adding: [
                ("response_type", "code"), ("client_id", "api"), ("redirect_uri", Self.redirectURI), ("scope", "openid"),
                ("state", "1"), ("code_challenge", ProofKey.challenge(for: verifier)), ("code_challenge_method", "S256"),
            ])
        let answer = try await server.transport.send(
            HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": try await session(server)]))
        let code = try #require(FormCoding.query(of: answer.headers["Location"] ?? "")["code"])
        let response = try await post(
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI),
                ("code_verifier", verifier),
            ], to: "access_token", server)
        let members = try JSON.value(of: response.body)
        return try #require(members["access_token"]?.string)
    }

    private func verifier(_ server: TestServer.Live) -> AccessTokenVerifier {
        let issuer = "\(server.url)/oauth2"
        return AccessTokenVerifier(
            OAuthEndpoints(issuer: issuer, discovery: "\(issuer)/.well-known/openid-configuration"),
            verification: .introspection(
                clientID: "api", authentication: .clientSecretBasic(Self.secret), rememberedFor: .zero),
            policy: AccessTokenPolicy(audiences: ["api"]), transport: server.transport)
    }

    @Test("A token of the server is accepted by introspection until it is revoked")
    func verifiesTokenOfServer() async throws {
        try await withServer { server in
            let verifier = self.verifier(server)
            let text = try await self.token(server)
            let request = ResourceRequest(method: "GET", path: "/orders", authorization: ["Bearer \(text)"])
            let token = try await verifier.verify(request, requiring: ["openid"])
            #expect(token.subject == "demo" && token.clientID == "api" && token.issuer == "\(server.url)/oauth2")
            let revoked = try await post([("token", text)], to: "token/revoke", server)
            #expect(revoked.status == 200)
            var code: AccessTokenError.Code?
            do throws(AccessTokenError) { _ = try await verifier.verify(request) } catch { code = error.code }
            #expect(code == .inactive)
        }
    }
}
