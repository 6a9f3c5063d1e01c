import Crypto
import Foundation
import SignetCore
import SignetVerifier
import TestSupport
import Testing

/// A JWT, and the code of the error with which it is refused; nil when it is accepted.
struct TokenCase: Sendable, CustomTestStringConvertible {
    let name: String
    let code: AccessTokenError.Code?
    let policy: AccessTokenPolicy
    let token: @Sendable (VerifierFixture) -> String

    var testDescription: String { name }

    init(
        _ name: String, _ code: AccessTokenError.Code?, policy: AccessTokenPolicy = VerifierFixture.policy,
        _ token: @escaping @Sendable (VerifierFixture) -> String
    ) {
        (self.name, self.code, self.policy, self.token) = (name, code, policy, token)
    }

    /// Returns a case with changes of a valid token.
    static func changing(
        _ name: String, _ code: AccessTokenError.Code?, header: [String: JSONValue?] = [:],
        claims: [String: JSONValue?] = [:], policy: AccessTokenPolicy = VerifierFixture.policy
    ) -> TokenCase {
        TokenCase(name, code, policy: policy) { $0.token(header: header, claims: claims) }
    }

    private static func time(_ seconds: Int64) -> JSONValue { .integer(VerifierFixture.start + seconds) }

    /// Returns a token that is signed with the public key of the provider as a shared secret.
    private static func signedWithPublicKey(_ fixture: VerifierFixture) -> String {
        guard case .elliptic(let key) = ProviderKey.p256 else { return "" }
        let claims = JSON.encode(JSONValue.object(VerifierFixture.claims))
        return CompactJWS.sign(claims, with: Secret(key.publicKey.rawRepresentation))
    }

    /// Returns a token that brings its own key in the header.
    private static func withOwnKey(_ fixture: VerifierFixture) -> String {
        let own = ProviderKey.elliptic(P256.Signing.PrivateKey())
        return fixture.token(header: ["jwk": .object(own.members), "kid": nil], by: own)
    }

    private static let accessManager = AccessTokenPolicy(audiences: ["app"], types: ["jwt"])
    private static let accessManagerClaims: [String: JSONValue?] = [
        "aud": .string("app"), "tokenName": .string("access_token"), "nonce": .string("n"), "client_id": nil,
        "scope": .array([.string("orders")]),
    ]

    static let attacks: [TokenCase] = [
        changing("alg none with a signature", .algorithm, header: ["alg": .string("none")]),
        TokenCase("alg none without a signature", .algorithm) { fixture in
            let token = fixture.token(header: ["alg": .string("none")])
            return token.split(separator: ".").prefix(2).joined(separator: ".") + "."
        },
        TokenCase("HS256 with the public key as the secret", .algorithm) { signedWithPublicKey($0) },
        TokenCase(
            "HS256 although the service lists it", .algorithm,
            policy: AccessTokenPolicy(audiences: [VerifierFixture.service], algorithms: ["HS256", "ES256"])
        ) { signedWithPublicKey($0) },
        changing(
            "an algorithm that the service does not accept", .algorithm,
            policy: AccessTokenPolicy(audiences: [VerifierFixture.service], algorithms: ["RS256"])),
        changing("a critical parameter", .algorithm, header: ["crit": .array([.string("b64")]), "b64": .bool(false)]),
        TokenCase("the key of the sender in the header", .signature) { withOwnKey($0) },
        TokenCase("the key of another issuer", .signature) { $0.token(by: .elliptic(P256.Signing.PrivateKey())) },
        TokenCase("an address of keys in the header", .signature) { fixture in
            fixture.token(
                header: ["jku": .string("https://evil.example.test/jwks"), "kid": .string("evil")],
                by: .elliptic(P256.Signing.PrivateKey()))
        },
        changing("an unknown key ID", .signature, header: ["kid": .string("k9")]),
        TokenCase("the signature of another token", .signature) { fixture in
            let parts = fixture.token(claims: ["sub": .string("mallory")]).split(separator: ".").prefix(2)
            return (parts + fixture.token().split(separator: ".").suffix(1)).joined(separator: ".")
        },
        TokenCase("an encrypted token", .form) { _ in "e30.e30.e30.e30.e30" },
        TokenCase("a text", .form) { _ in "token" },
        changing("an ID token of the client", .type, header: ["typ": .string("JWT")]),
        changing("no type", .type, header: ["typ": nil]),
        changing("the type of a logout token", .type, header: ["typ": .string("logout+jwt")]),
        changing("a nonce, as in an ID token", .type, claims: ["nonce": .string("n")]),
        changing("an event, as in a logout token", .type, claims: ["events": .object([:])]),
        changing(
            "an ID token of AM", .type, header: ["typ": .string("JWT")], claims: ["tokenName": .string("id_token")],
            policy: AccessTokenPolicy(audiences: [VerifierFixture.service], types: ["jwt"])),
        changing("another issuer", .issuer, claims: ["iss": .string("https://evil.example.test")]),
        changing("another realm of the issuer", .issuer, claims: ["iss": .string("\(VerifierFixture.issuer)/alpha")]),
        changing("no issuer", .issuer, claims: ["iss": nil]),
        changing("another audience", .audience, claims: ["aud": .string("https://other.example.test")]),
        changing("no audience", .audience, claims: ["aud": nil]),
        changing("an audience that isn't text", .audience, claims: ["aud": .array([.integer(1)])]),
        changing("an expired token", .expired, claims: ["exp": time(-60)]),
        changing("no expiry time", .expired, claims: ["exp": nil]),
        changing("an expiry time as text", .expired, claims: ["exp": .string("1800000300")]),
        changing("a token that is valid later", .notYetValid, claims: ["nbf": time(61)]),
        changing("a token of the future", .notYetValid, claims: ["iat": time(61)]),
        changing("no time of issue", .claims, claims: ["iat": nil]),
        changing("no subject", .claims, claims: ["sub": nil]),
        changing("a confirmation that isn't an object", .claims, claims: ["cnf": .string("key")]),
        changing("a token that is bound to a certificate", .binding, claims: ["cnf": .object(["x5t#S256": .string("x")])]),
    ]

    static let accepted: [TokenCase] = [
        changing("a valid token", nil),
        changing("the type as a media type", nil, header: ["typ": .string("application/AT+JWT")]),
        changing("no key ID", nil, header: ["kid": nil]),
        changing(
            "the audience in a list", nil,
            claims: ["aud": .array([.string("https://other.example.test"), .string(VerifierFixture.service)])]),
        changing("an expiry time in the accepted clock difference", nil, claims: ["exp": time(-59)]),
        changing("a begin in the accepted clock difference", nil, claims: ["nbf": time(60)]),
        changing(
            "an access token of AM", nil, header: ["typ": .string("JWT")], claims: accessManagerClaims, policy: accessManager),
    ]
}
