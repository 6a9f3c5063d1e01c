import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting

/// A DPoP proof beside the signature that it contains.
enum ProofRows {
    private static let url = "https://api.example.com/orders/4711"

    static func measure() async throws -> [Row] {
        let (tokens, token) = try await source()
        let ours = Contender.asyncCalls("TokenSource.proof") { _ in
            try await tokens.proof("GET", url, with: token)?.utf8.count ?? 0
        }
        let outcome = try await Race(ours: ours, reference: signature()).run()
        return [Row("DPoP proof, beside one bare ES256 signature", outcome, .atMost(1.3))]
    }

    /// One signature over as many bytes as a proof has.
    private static func signature() -> Contender {
        let key = P256.Signing.PrivateKey()
        let bytes = [UInt8](repeating: 0x61, count: 430)
        return .calls("P256.Signing.signature") { _ in try key.signature(for: bytes).rawRepresentation.count }
    }

    /// A source with a token that is bound to a key in software.
    private static func source() async throws -> (tokens: TokenSource, token: AccessToken) {
        let store = try SessionStore.memory()
        let now = SystemWallClock().now
        var token = AccessToken(
            value: Secret("eyJ0eXAiOiJKV1QiLCJ6aXAiOiJOT05FIn0".utf8), tokenType: "DPoP", scope: "read", issuedAt: now,
            expiresAt: now + 86_400)
        token.binding = TokenBinding(key: try SigningKeyProvider().create(.software).reference)
        try await store.save(token)
        let profile = try ServerProfile(url: "http://127.0.0.1/am") {
            $0.client = OAuthClient(
                clientID: "bench", redirectURI: "https://app.example.com/cb", scopes: ["read"], dpop: .software)
        }
        let tokens = try TokenSource(profile, store: store, transport: ScriptedTransport { _ in HTTPResponse(status: 500) })
        return (tokens, try await tokens.token())
    }
}
