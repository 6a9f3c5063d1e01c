import Crypto
import SignetCore
import SignetOAuth
import SignetTesting
import Testing

/// The device grant as servers other than `signet serve` have it.
@Suite("The device grant at other servers")
struct DeviceGrantTests {
    private func form(_ fixture: TokenSourceFixture, _ path: String) throws -> [String: String] {
        FormCoding.decode(try #require(fixture.provider.now.bodies[path]?.last))
    }

    @Test("C6: A device login sends response_type, and takes tokens that come without scope and id_token")
    func takesTokensOfAM() async throws {
        try await TokenSourceFixture.with(session: nil, .set { $0.deviceScope = "" }) { fixture in
            let login = DeviceLogin(fixture.tokens) { _ in }
            let token = try await login.finish(try await login.begin())
            let sent = try form(fixture, "device")
            #expect(sent["response_type"] == "code" && sent["client_id"] == "app" && sent["scope"] == "openid read")
            // RFC 6749 section 5.1: a response without a scope grants the requested one.
            #expect(token.idToken == nil && token.scope == "openid read" && token.refreshToken != nil)
            let stored = try await fixture.tokens.token()
            #expect(stored == token)
        }
    }

    @Test("K3: A device login proves with the verifier of its code challenge that it began the login")
    func sendsProofKey() async throws {
        try await TokenSourceFixture.with(session: nil) { fixture in
            let login = DeviceLogin(fixture.tokens) { _ in }
            _ = try await login.finish(try await login.begin())
            let (first, challenge) = (try form(fixture, "token"), try form(fixture, "device"))
            let verifier = try #require(first["code_verifier"])
            #expect(challenge["code_challenge"] == ProofKey.challenge(for: verifier))
            #expect(challenge["code_challenge_method"] == "S256" && verifier.utf8.count >= 43)
            _ = try await login.finish(try await login.begin())
            let second = try form(fixture, "token")
            #expect(second["code_verifier"] != verifier)
        }
    }

    @Test(
        "C13: A device login waits for authorization_pending with any status, and authorization_declined is a denial",
        arguments: [400, 403])
    func waitsAndIsDeclined(status: Int) async throws {
        let pending = TestProvider.Fault.status(
            status, [], #"{"error":"authorization_pending","error_description":"The user has not yet completed authorization"}"#)
        let declined = TestProvider.Fault.status(
            403, [], #"{"error":"authorization_declined","error_description":"The user has declined authorization"}"#)
        try await TokenSourceFixture.with(session: nil, .set { $0.devicePolls = [pending, pending, declined] }) { fixture in
            let login = DeviceLogin(fixture.tokens) { _ in }
            let invitation = try await login.begin()
            let error = await outcome { try await login.finish(invitation) }.tokenError
            guard case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.code == .refused && refusal.code == .accessDenied && refusal.name == "authorization_declined")
            #expect(fixture.provider.count("token") == 3)
        }
    }
}
