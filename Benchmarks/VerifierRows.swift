import FoundationEssentials
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import SignetVerifier
import TestSupport

/// The verification of a JWT in the middleware, with all rules, beside the verification of its signature and its end by jwt-kit.
enum VerifierRows {
    private static let limit = 1.3
    private static let issuer = "https://op.example.test"

    static func measure() async throws -> [Row] {
        guard let rsa = ProviderKey.shared.first else { throw BenchError("no RSA key was generated") }
        return [try await row("ES256", .p256), try await row("RS256", rsa)]
    }

    private static func row(_ algorithm: String, _ key: ProviderKey) async throws -> Row {
        let jwk = PublishedKey(key, "k1", ["alg": .string(algorithm)]).jwk
        let now = Int64(SystemWallClock().now.timeIntervalSince1970)
        let unsigned = UnsignedToken(
            header: ["alg": .string(algorithm), "kid": .string("k1"), "typ": .string("at+jwt")],
            claims: [
                "iss": .string(issuer), "aud": .string("https://api.example.test"), "sub": .string("alice"),
                "client_id": .string("app"), "scope": .string("orders profile"), "jti": .string("hyZ5c9FjWQ4TcvUwMfKPSA"),
                "iat": .integer(now), "exp": .integer(now + 86_400),
            ])
        let token = unsigned.signed(with: key.signature(of: unsigned.signingInput, algorithm: algorithm))
        let keys = JSON.encode(JSONValue.object(["keys": .array([jwk])]))
        let verifier = AccessTokenVerifier(
            OAuthEndpoints(jwks: "\(issuer)/jwks", issuer: issuer),
            policy: AccessTokenPolicy(audiences: ["https://api.example.test"]),
            transport: ScriptedTransport { _ in HTTPResponse(status: 200, body: keys) })
        let call = MiddlewareCall(verifier, token: token)
        let ours = Contender.asyncCalls("AccessTokenMiddleware") { _ in try await call.run() }
        let reference = try await JWTKitVerifier(key: JSON.encode(jwk))
        let theirs = Contender.asyncCalls("JWTKeyCollection.verify") { _ in try await reference.subject(of: token).utf8.count }
        return Row(
            "\(algorithm) access token in the middleware, beside jwt-kit", try await Race(ours: ours, reference: theirs).run(),
            .atMost(limit))
    }
}
