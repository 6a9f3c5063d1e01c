import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

/// A service of a relying party over HTTP, with the keys of a provider over HTTP.
@Suite("A relying party's service with a back-channel logout address")
struct BackChannelServiceTests {
    private func claims(_ provider: TestProvider, _ id: String, _ changes: [String: JSONValue?] = [:]) -> [String: JSONValue] {
        let now = Int64(Date().timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(provider.url), "aud": .string("app"), "iat": .integer(now), "exp": .integer(now + 120),
            "jti": .string(id), "events": LogoutTokenFixture.event, "sub": .string("alice"),
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    /// Sends a logout token as a provider does.
    private func post(_ token: String, to service: BackChannelService, over transport: any HTTPTransport) async throws
        -> HTTPResponse
    {
        try await transport.deliver(
            HTTPRequest(
                "POST", service.address, headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: LogoutTokenFixture.body(token)))
    }

    @Test("The service ends the sessions that valid logout tokens name, and no others")
    func serviceEndsNamedSessions() async throws {
        let provider = try TestProvider()
        let service = try BackChannelService()
        let transport = AsyncHTTPTransport()
        try await transport.use { transport in
            let waiting = try await post("token", to: service, over: transport)
            #expect(waiting.status == 503)
            service.use(
                LogoutTokenVerifier(
                    OAuthEndpoints(issuer: provider.url, discovery: provider.discoveryAddress), clientID: "app",
                    memory: ProcessLogoutTokenMemory(), transport: transport))
            service.change { $0.sessions = ["s1": "alice", "s2": "alice", "s3": "bob", "s4": "alice"] }

            let one = provider.signed(claims(provider, "t1", ["sid": .string("s1")]))
            let first = try await post(one, to: service, over: transport)
            #expect(first.status == 200 && first.headers["Cache-Control"] == "no-store")
            #expect(service.now.sessions == ["s2": "alice", "s3": "bob", "s4": "alice"])

            let repeated = try await post(one, to: service, over: transport)
            let forged = provider.signed(claims(provider, "t2"), by: P256.Signing.PrivateKey())
            let refused = try await post(forged, to: service, over: transport)
            #expect(repeated.status == 400 && refused.status == 400 && refused.headers["Cache-Control"] == "no-store")
            let codes = service.now.errors.map { ($0 as? LogoutTokenError)?.code }
            let expected: [LogoutTokenError.Code?] = [.replayed, .signature]
            #expect(codes == expected)
            #expect(service.now.sessions.count == 3)

            let all = try await post(provider.signed(claims(provider, "t3")), to: service, over: transport)
            #expect(all.status == 200 && service.now.sessions == ["s3": "bob"])
            // A session that has already ended counts as ended.
            let again = try await post(provider.signed(claims(provider, "t4")), to: service, over: transport)
            #expect(again.status == 200 && service.now.ended.map(\.id) == ["t1", "t3", "t4"])
        }
    }

    @Test("The service accepts a logout token again after it could not end the session")
    func serviceAcceptsRetry() async throws {
        let provider = try TestProvider()
        let service = try BackChannelService()
        let transport = AsyncHTTPTransport()
        try await transport.use { transport in
            service.use(
                LogoutTokenVerifier(
                    provider.endpoints(), clientID: "app", memory: ProcessLogoutTokenMemory(), transport: transport))
            service.change { $0.failures = 1 }
            let token = provider.signed(claims(provider, "t1"))
            let failed = try await post(token, to: service, over: transport)
            let done = try await post(token, to: service, over: transport)
            #expect(failed.status == 400 && done.status == 200)
            #expect(service.now.errors.count == 1 && service.now.ended.map(\.id) == ["t1"])
        }
    }
}
