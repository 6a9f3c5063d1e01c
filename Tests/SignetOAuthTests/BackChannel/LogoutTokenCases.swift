import Crypto
import Foundation
import SignetCore
import SignetOAuth

extension LogoutTokenCase {
    /// The client registered RS256 for its ID tokens.
    private static let registered = LogoutTokenPolicy(algorithm: "RS256")
    private static let otherEvent: JSONValue = .object(["http://schemas.openid.net/event/foobar": .object([:])])

    private static func event(_ value: JSONValue) -> JSONValue {
        .object(["http://schemas.openid.net/event/backchannel-logout": value])
    }

    /// Returns the time a number of seconds after the start of the fixture's clock.
    private static func time(_ seconds: Int64) -> JSONValue { .integer(LogoutTokenFixture.start + seconds) }

    /// Returns a token that is signed with the public key of the provider as a shared secret.
    private static func signedWithPublicKey(_ fixture: LogoutTokenFixture) -> String {
        let key = fixture.provider.withLock { $0.keys["k1"]?.publicKey.rawRepresentation } ?? Data()
        return CompactJWS.sign(Array(LogoutTokenFixture.text(LogoutTokenFixture.claims).utf8), with: Secret(key))
    }

    /// Returns a token without a signature.
    private static func unsigned(_ fixture: LogoutTokenFixture) -> String {
        let token = fixture.token(header: ["alg": .string("none")])
        return token.split(separator: ".").prefix(2).joined(separator: ".") + "."
    }

    /// The modules of the OpenID Foundation's plan `oidcc-client-back-channel-logout-rp-basic`.
    static let modules: [LogoutTokenCase] = [
        changing("oidcc-client-test-rp-backchannel-rpinitlogout", nil, claims: ["ignored_claim": .string("ignored")]),
        LogoutTokenCase("oidcc-client-test-rp-backchannel-rpinitlogout-alg-none", .algorithm) { unsigned($0) },
        changing("oidcc-client-test-rp-backchannel-rpinitlogout-no-event", .event, claims: ["events": nil]),
        changing("oidcc-client-test-rp-backchannel-rpinitlogout-with-nonce", .nonce, claims: ["nonce": .string("nonce-1")]),
        changing("oidcc-client-test-rp-backchannel-rpinitlogout-wrong-alg", .algorithm, policy: registered),
        changing("oidcc-client-test-rp-backchannel-rpinitlogout-wrong-aud", .audience, claims: ["aud": .string("appINVALID")]),
        changing("oidcc-client-test-rp-backchannel-rpinitlogout-wrong-event", .event, claims: ["events": otherEvent]),
        changing(
            "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-iss", .issuer,
            claims: ["iss": .string("\(LogoutTokenFixture.issuer)INVALID")]),
    ]

    static let badSignatures: [LogoutTokenCase] = [
        LogoutTokenCase("HS256 with the public key", .algorithm) { signedWithPublicKey($0) },
        changing("an unknown algorithm", .algorithm, header: ["alg": .string("XS256")]),
        changing("a header without alg", .algorithm, header: ["alg": nil]),
        changing("a critical parameter", .algorithm, header: ["crit": .array([.string("b64")]), "b64": .bool(false)]),
        LogoutTokenCase("the key of another issuer", .signature) { $0.token(by: P256.Signing.PrivateKey()) },
        changing("an unknown key ID", .signature, header: ["kid": .string("k9")]),
        LogoutTokenCase("a removed signature", .signature) { fixture in
            fixture.token().split(separator: ".").prefix(2).joined(separator: ".") + "."
        },
        LogoutTokenCase("the signature of another token", .signature) { fixture in
            let parts = fixture.token().split(separator: ".").prefix(2)
            let other = fixture.token(claims: ["sub": .string("bob")]).split(separator: ".").suffix(1)
            return (parts + other).joined(separator: ".")
        },
        LogoutTokenCase("a header parameter twice", .form) { fixture in
            fixture.signed(
                #"{"alg":"none","alg":"ES256","kid":"k1"}"#, LogoutTokenFixture.text(LogoutTokenFixture.claims))
        },
        LogoutTokenCase("a claim twice", .form) { fixture in
            let claims = LogoutTokenFixture.text(LogoutTokenFixture.claims)
            return fixture.signed(
                LogoutTokenFixture.text(LogoutTokenFixture.header), #"{"sub":"mallory","# + claims.dropFirst())
        },
        LogoutTokenCase("claims that aren't an object", .form) { $0.signed(#"{"alg":"ES256","kid":"k1"}"#, "[]") },
        LogoutTokenCase("an encrypted token", .form) { _ in "e30.e30.e30.e30.e30" },
        LogoutTokenCase("a text", .form) { _ in "logout" },
    ]

    static let badClaims: [LogoutTokenCase] = [
        changing("the type of an access token", .type, header: ["typ": .string("at+jwt")]),
        changing("the type of a security event", .type, header: ["typ": .string("secevent+jwt")]),
        changing("a type that isn't text", .type, header: ["typ": .integer(1)]),
        changing(
            "no type although the app requires one", .type, header: ["typ": nil], policy: LogoutTokenPolicy(requiresType: true)),
        changing(
            "the type JWT although the app requires that of a logout token", .type, header: ["typ": .string("JWT")],
            policy: LogoutTokenPolicy(requiresType: true)),
        changing("no issuer", .issuer, claims: ["iss": nil]),
        changing("another realm of the issuer", .issuer, claims: ["iss": .string("\(LogoutTokenFixture.issuer)/realms/alpha")]),
        changing("no audience", .audience, claims: ["aud": nil]),
        changing("an empty list of audiences", .audience, claims: ["aud": .array([])]),
        changing("an audience that isn't trusted", .audience, claims: ["aud": .array([.string("app"), .string("other")])]),
        changing("an audience that isn't text", .audience, claims: ["aud": .array([.string("app"), .integer(1)])]),
        changing("no expiry time", .expired, claims: ["exp": nil]),
        changing("an expiry time as text", .expired, claims: ["exp": .string("1800000120")]),
        changing("an expired token", .expired, claims: ["exp": time(-60)]),
        changing("no time of issue", .issuedAt, claims: ["iat": nil]),
        changing("a time of issue as text", .issuedAt, claims: ["iat": .string("1800000000")]),
        changing("an old token", .issuedAt, claims: ["iat": time(-361)]),
        changing("a token of the future", .notYetValid, claims: ["iat": time(61)]),
        changing("a token that is valid later", .notYetValid, claims: ["nbf": time(61)]),
        changing("events as a list", .event, claims: ["events": .array([.string("backchannel-logout")])]),
        changing("an event whose value is text", .event, claims: ["events": event(.string(""))]),
        changing("an event whose value is null", .event, claims: ["events": event(.null)]),
        changing("an ID token", .event, header: ["typ": .string("JWT")], claims: idTokenClaims),
        changing("a nonce that is null", .nonce, claims: ["nonce": .null]),
        changing("neither a subject nor a session", .subject, claims: ["sub": nil, "sid": nil]),
        changing("an empty subject", .subject, claims: ["sub": .string("")]),
        changing("a subject that isn't text", .subject, claims: ["sub": .integer(7)]),
        changing("a subject of 256 bytes", .subject, claims: ["sub": .string(String(repeating: "a", count: 256))]),
        changing("an empty session ID", .subject, claims: ["sid": .string("")]),
        changing("a session ID that isn't text", .subject, claims: ["sid": .null]),
        changing("no ID of the token", .identifier, claims: ["jti": nil]),
        changing("an empty ID of the token", .identifier, claims: ["jti": .string("")]),
        changing("an ID of the token that isn't text", .identifier, claims: ["jti": .integer(1)]),
    ]

    private static let idTokenClaims: [String: JSONValue?] = [
        "events": nil, "jti": nil, "nonce": .string("nonce-1"), "auth_time": time(0),
    ]

    static let good: [LogoutTokenCase] = [
        changing("no type", nil, header: ["typ": nil]),
        changing("the type JWT", nil, header: ["typ": .string("JWT")]),
        changing("the type as a media type", nil, header: ["typ": .string("application/Logout+JWT")]),
        changing("the required type", nil, policy: LogoutTokenPolicy(requiresType: true)),
        changing("the required algorithm", nil, policy: LogoutTokenPolicy(algorithm: "ES256")),
        changing("no key ID", nil, header: ["kid": nil]),
        changing("a subject only", nil, claims: ["sid": nil]),
        changing("a session only", nil, claims: ["sub": nil]),
        changing("a subject of 255 bytes", nil, claims: ["sub": .string(String(repeating: "a", count: 255))]),
        changing("the audience as a list", nil, claims: ["aud": .array([.string("app")])]),
        changing(
            "a trusted audience", nil, claims: ["aud": .array([.string("app"), .string("other")])],
            policy: LogoutTokenPolicy(trustedAudiences: ["other"])),
        changing("an event with members", nil, claims: ["events": event(.object(["x": .integer(1)]))]),
        changing("times with a fraction", nil, claims: ["iat": .number(1_800_000_000.5)]),
        changing("an expiry time in the allowed clock difference", nil, claims: ["exp": .integer(1_799_999_941)]),
        changing("the maximum age", nil, claims: ["iat": time(-360)]),
    ]
}
