import Foundation
import SignetCore
import Testing

@Suite("Claims of an ID token")
struct IDTokenRuleTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let good: [String: JSONValue] = [
        "iss": .string("https://op"), "aud": .string("app"), "sub": .string("alice"), "exp": .integer(1_800_003_600),
        "iat": .integer(1_800_000_000), "nonce": .string("n"),
    ]

    private func check(_ changes: [String: JSONValue?], accessToken: String? = nil, subject: String? = nil) -> IDTokenError.Code?
    {
        var claims = Self.good
        for (name, value) in changes { claims[name] = value }
        let rules = IDTokenRules(
            issuer: "https://op", clientID: "app", nonce: "n", accessToken: accessToken.map { Secret($0.utf8) },
            subject: subject)
        do throws(IDTokenError) {
            try rules.check(claims, algorithm: "RS256", now: Self.now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "An ID token with an invalid claim is refused",
        arguments: [
            ([:], nil),
            (["iss": .string("https://op/")], .issuer), (["iss": nil], .issuer), (["iss": .integer(1)], .issuer),
            (["aud": .string("other")], .audience), (["aud": nil], .audience), (["aud": .array([])], .audience),
            (["aud": .array([.string("app")])], nil),
            (["aud": .array([.string("app"), .string("api")])], .authorizedParty),
            (["aud": .array([.string("app"), .string("api")]), "azp": .string("app")], nil),
            (["azp": .string("app")], nil), (["azp": .string("other")], .authorizedParty),
            (["exp": .integer(1_799_999_941)], nil), (["exp": .integer(1_799_999_940)], .expired), (["exp": nil], .expired),
            (["exp": .string("1800003600")], .expired), (["exp": .number(1_800_003_600.5)], nil),
            (["iat": .integer(1_800_000_060)], nil), (["iat": .integer(1_800_000_061)], .notYetValid),
            (["nbf": .integer(1_800_000_061)], .notYetValid), (["iat": nil], nil),
            (["nonce": .string("m")], .nonce), (["nonce": nil], .nonce), (["nonce": .string("")], .nonce),
            (["sub": nil], .subject), (["sub": .string("")], .subject),
        ] as [([String: JSONValue?], IDTokenError.Code?)])
    func checksIDTokenClaims(changes: [String: JSONValue?], code: IDTokenError.Code?) {
        #expect(check(changes) == code)
    }

    @Test("A refreshed ID token is accepted without the nonce, and refused for another subject")
    func refreshedIDTokenClaims() throws {
        #expect(check([:], subject: "alice") == nil)
        #expect(check([:], subject: "bob") == .subject)
        var claims = Self.good
        claims["nonce"] = nil
        try IDTokenRules(issuer: "https://op", clientID: "app", nonce: nil, accessToken: nil)
            .check(claims, algorithm: "ES256", now: Self.now)
    }

    /// OpenID Connect Core appendix A.3.
    @Test("An ID token is refused when its at_hash does not match the access token issued with it")
    func checksAccessTokenHash() {
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
        #expect(IDTokenRules.hash(of: Secret(token.utf8), algorithm: "RS256") == "77QmUPtjPfzWtF2AnpK9RQ")
        #expect(check(["at_hash": .string("77QmUPtjPfzWtF2AnpK9RQ")], accessToken: token) == nil)
        #expect(check(["at_hash": .string("77QmUPtjPfzWtF2AnpK9RQ")], accessToken: "another") == .accessTokenHash)
        #expect(check(["at_hash": .integer(1)], accessToken: token) == .accessTokenHash)
        #expect(IDTokenRules.hash(of: Secret(token.utf8), algorithm: "ES384")?.count == 32)
        #expect(IDTokenRules.hash(of: Secret(token.utf8), algorithm: "EdDSA")?.count == 43)
        #expect(IDTokenRules.hash(of: Secret(token.utf8), algorithm: "none") == nil)
    }

    @Test("An algorithm that would let any client sign is refused")
    func refusesUnsafeAlgorithms() {
        for name in ["none", "HS256", "HS384", "HS512", "", "rs256"] { #expect(!IDTokenRules.algorithms.contains(name)) }
    }
}
