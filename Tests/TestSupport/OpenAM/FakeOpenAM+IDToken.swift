#if os(Linux)
import Crypto
import CryptoExtras
import Foundation
import SignetCore

extension FakeOpenAM {
    /// An ID token with the header and the claims that OpenAM 16.0.5 was recorded to issue.
    struct IDToken {
        let issuer: String
        let nonce: String?
        /// The code that was exchanged; nil after a refresh.
        let code: String?
        let accessToken: String

        /// The identifier of the key, with characters that base64url does not have.
        private static let keyID = "zhBofbZw+jkZZjXs28fGfzxZgM8="
        private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

        /// The JWKS.
        static var keys: JSONValue {
            let numbers = try? key?.publicKey.getKeyPrimitives()
            return .object([
                "keys": .array([
                    .object([
                        "kty": .string("RSA"), "alg": .string("RS256"), "use": .string("sig"), "kid": .string(keyID),
                        "n": .string(Base64.encode(Array(numbers?.modulus ?? Data()), as: .url)),
                        "e": .string(Base64.encode(Array(numbers?.publicExponent ?? Data()), as: .url)),
                    ])
                ])
            ])
        }

        /// The claims; after a refresh, OpenAM writes the time of the login in milliseconds.
        private var claims: [String: JSONValue] {
            let now = Int64(Date().timeIntervalSince1970)
            var claims: [String: JSONValue] = [
                "iss": .string(issuer), "sub": .string(OAuth.user), "aud": .string(OAuth.client), "azp": .string(OAuth.client),
                "realm": .string("/"), "tokenName": .string("id_token"), "tokenType": .string("JWTToken"),
                "auditTrackingId": .string("7d454931-2232-4176-b22e-46b77a3af750-40539"),
                "org.forgerock.openidconnect.ops": .string("bb8e868b-1c1f-478a-ac3f-3c87f0cf0a93"), "iat": .integer(now),
                "exp": .integer(now + 3600), "auth:time": .integer(code == nil ? now * 1000 : now),
            ]
            claims["nonce"] = nonce.map { .string($0) }
            claims["at_hash"] = Self.hash(accessToken)
            claims["c_hash"] = code.flatMap { Self.hash($0) }
            return claims
        }

        private static func hash(_ token: String) -> JSONValue? {
            IDTokenRules.hash(of: Secret(token.utf8), algorithm: "RS256").map { .string($0) }
        }

        /// Returns the token, signed without the library that checks it.
        func signed(isForged: Bool) -> String {
            let header: [String: JSONValue] = ["typ": .string("JWT"), "kid": .string(Self.keyID), "alg": .string("RS256")]
            let input = [header, claims].map { Base64.encode(JSON.encode(JSONValue.object($0)), as: .url) }.joined(separator: ".")
            let signature = try? Self.key?.signature(
                for: SHA256.hash(data: Data((isForged ? "" : input).utf8)), padding: .insecurePKCS1v1_5)
            return "\(input).\(Base64.encode(Array(signature?.rawRepresentation ?? Data()), as: .url))"
        }
    }
}
#endif
