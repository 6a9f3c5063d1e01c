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

    private static func claims(_ changes: [String: JSONValue?]) -> [String: JSONValue] {
        var claims = good
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private func refusal(
        _ changes: [String: JSONValue?], accessToken: String? = nil, trusting audiences: [String] = [], nonce: String? = "n",
        requested: RequestedAuthentication? = nil
    ) -> IDTokenError? {
        let rules = IDTokenRules(
            issuer: "https://op", clientID: "app", trustedAudiences: audiences, nonce: nonce,
            accessToken: accessToken.map { Secret($0.utf8) }, requested: requested)
        do throws(IDTokenError) {
            try rules.check(Self.claims(changes), algorithm: "RS256", now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    private func check(
        _ changes: [String: JSONValue?], accessToken: String? = nil, trusting audiences: [String] = [], nonce: String? = "n",
        requested: RequestedAuthentication? = nil
    ) -> IDTokenError.Code? {
        refusal(changes, accessToken: accessToken, trusting: audiences, nonce: nonce, requested: requested)?.code
    }

    /// The result of the check of a refreshed ID token.
    enum Refreshed: Hashable, Sendable {
        case replacesStored
        case keepsStored
        case refused(IDTokenError.Code)
    }

    private func refresh(
        _ changes: [String: JSONValue?], stored: [String: JSONValue]?, trusting audiences: [String] = [],
        clocksDiffer: Bool = false
    ) -> Refreshed {
        do throws(IDTokenError) {
            let rules = IDTokenRules(
                issuer: "https://op", clientID: "app", trustedAudiences: audiences, nonce: nil, accessToken: nil,
                previous: try Self.previous(stored))
            let isReplacement = try rules.isReplacement(
                Self.claims(changes), algorithm: "RS256", now: Self.now, clocksDiffer: clocksDiffer)
            return isReplacement ? .replacesStored : .keepsStored
        } catch {
            return .refused(error.code)
        }
    }

    private static func previous(_ claims: [String: JSONValue]?) throws(IDTokenError) -> IDTokenRules.Previous? {
        guard let claims else { return nil }
        return try IDTokenRules.Previous(claims)
    }

    @Test(
        "An ID token with an invalid claim is refused",
        arguments: [
            ([:], nil),
            (["iss": .string("https://op/")], .issuer), (["iss": nil], .issuer), (["iss": .integer(1)], .issuer),
            (["aud": .string("other")], .audience), (["aud": nil], .audience), (["aud": .array([])], .audience),
            (["aud": .array([.string("app")])], nil),
            (["aud": .array([.string("app"), .string("api")])], .authorizedParty),
            (["azp": .string("app")], nil), (["azp": .string("other")], .authorizedParty),
            (["exp": .integer(1_799_999_941)], nil), (["exp": .integer(1_799_999_940)], .expired), (["exp": nil], .expired),
            (["exp": .string("1800003600")], .expired), (["exp": .number(1_800_003_600.5)], nil),
            (["iat": .integer(1_800_000_060)], nil), (["iat": .integer(1_800_000_061)], .notYetValid),
            (["nbf": .integer(1_800_000_061)], .notYetValid), (["nbf": .integer(1_800_000_060)], nil),
            (["nonce": .string("m")], .nonce), (["nonce": nil], .nonce), (["nonce": .string("")], .nonce),
            (["sub": nil], .subject), (["sub": .string("")], .subject),
        ] as [([String: JSONValue?], IDTokenError.Code?)])
    func checksIDTokenClaims(changes: [String: JSONValue?], code: IDTokenError.Code?) {
        #expect(check(changes) == code)
    }

    @Test(
        "An ID token with a claim of another type, or with a subject that is too long, is refused",
        arguments: [
            (["iat": nil], .issuedAt), (["iat": .null], .issuedAt), (["iat": .string("1800000000")], .issuedAt),
            (["iat": .bool(true)], .issuedAt), (["iat": .number(1_800_000_000.5)], nil),
            (["nbf": .string("1800000000")], .notYetValid), (["nbf": .null], .notYetValid),
            (["aud": .array([.string("app"), .integer(1)]), "azp": .string("app")], .audience),
            (["aud": .array([.string("app"), .null])], .audience), (["aud": .integer(1)], .audience),
            (["azp": .integer(1)], .authorizedParty), (["azp": .array([.string("app")])], .authorizedParty),
            // Null counts as missing.
            (["azp": .null], nil), (["nonce": .null], .nonce),
            (["azp": .null, "aud": .array([.string("app"), .string("api")])], .authorizedParty),
            (["sub": .string(String(repeating: "a", count: 255))], nil), (["sub": .string("Jürgen")], nil),
            (["sub": .string(String(repeating: "a", count: 256))], .subject), (["sub": .integer(7)], .subject),
        ] as [([String: JSONValue?], IDTokenError.Code?)])
    func checksIDTokenClaimTypes(changes: [String: JSONValue?], code: IDTokenError.Code?) {
        #expect(check(changes) == code)
    }

    @Test(
        "An ID token with another audience is accepted only if the client trusts that audience",
        arguments: [
            (["app"], [], nil), (["app", "api"], ["api"], nil), (["api", "app", "web"], ["web", "api"], nil),
            (["app", "api"], [], .audience), (["app", "api"], ["web"], .audience), (["app", "api", "web"], ["api"], .audience),
            (["api"], ["api"], .audience),
        ] as [([String], [String], IDTokenError.Code?)])
    func checksFurtherAudiences(audiences: [String], trusted: [String], code: IDTokenError.Code?) {
        let audience = JSONValue.array(audiences.map { .string($0) })
        #expect(check(["aud": audience, "azp": .string("app")], trusting: trusted) == code)
    }

    @Test(
        "A refreshed ID token must have the subject of the stored one, and its nonce if both have one",
        arguments: [
            (["sub": .string("alice")], [:], .replacesStored), (["sub": .string("bob")], [:], .refused(.subject)),
            ([:], [:], .refused(.subject)), (["sub": .integer(1)], [:], .refused(.subject)),
            // The two spellings of é are equal for Swift, and different for a server.
            (["sub": .string("e\u{301}")], ["sub": .string("\u{E9}")], .refused(.subject)),
            (["sub": .string("alice"), "nonce": .string("n")], [:], .replacesStored),
            (["sub": .string("alice"), "nonce": .string("n")], ["nonce": nil], .replacesStored),
            (["sub": .string("alice"), "nonce": .string("n")], ["nonce": .null], .replacesStored),
            (["sub": .string("alice"), "nonce": .string("m")], [:], .refused(.nonce)),
            (["sub": .string("alice"), "nonce": .string("n")], ["nonce": .integer(1)], .refused(.nonce)),
            (["sub": .string("alice")], ["iss": .string("https://other")], .refused(.issuer)),
            (["sub": .string("alice")], ["aud": .string("other")], .refused(.audience)),
            (["sub": .string("alice")], ["exp": .integer(1)], .refused(.expired)),
        ] as [([String: JSONValue], [String: JSONValue?], Refreshed)])
    func comparesRefreshedIDToken(stored: [String: JSONValue], changes: [String: JSONValue?], result: Refreshed) {
        #expect(refresh(changes, stored: stored) == result)
    }

    @Test(
        "A refreshed ID token with another auth_time does not replace the stored one, and the tokens are accepted",
        arguments: [
            (nil, ["auth_time": .integer(5)], .replacesStored), (.integer(5), [:], .replacesStored),
            (.integer(5), ["auth_time": .number(5)], .replacesStored), (.integer(5), ["auth_time": .null], .replacesStored),
            (.integer(5), ["auth_time": .integer(6)], .keepsStored), (.integer(5), ["auth_time": .string("5")], .keepsStored),
            (.integer(5), ["auth_time": .integer(6), "sub": .string("bob")], .refused(.subject)),
            (.integer(5), ["auth_time": .integer(6), "iat": nil], .refused(.issuedAt)),
        ] as [(JSONValue?, [String: JSONValue?], Refreshed)])
    func keepsStoredIDTokenAfterOtherAuthTime(time: JSONValue?, changes: [String: JSONValue?], result: Refreshed) {
        var stored: [String: JSONValue] = ["sub": .string("alice")]
        stored["auth_time"] = time
        #expect(refresh(changes, stored: stored) == result)
    }

    @Test(
        "A refreshed ID token may have the audiences of the stored one, and another audience keeps the stored one",
        arguments: [
            (["app", "api"], ["app", "api"], [], .replacesStored), (["app"], ["app", "api"], [], .keepsStored),
            (["app"], ["app", "api"], ["api"], .replacesStored), (["app", "api"], ["app", "api", "web"], [], .keepsStored),
            (["app", "api"], ["api"], [], .refused(.audience)), (nil, ["app", "api"], [], .keepsStored),
        ] as [([String]?, [String], [String], Refreshed)])
    func comparesAudiencesAtRefresh(stored: [String]?, audiences: [String], trusted: [String], result: Refreshed) {
        let old = stored.map { ["sub": .string("alice"), "aud": .array($0.map { .string($0) })] as [String: JSONValue] }
        let changes: [String: JSONValue?] = ["aud": .array(audiences.map { .string($0) }), "azp": .string("app")]
        #expect(refresh(changes, stored: old, trusting: trusted) == result)
    }

    @Test(
        "When the clocks differ too much, the times of a refreshed ID token keep the stored one, and must be numbers",
        arguments: [
            ([:], .replacesStored), (["exp": .integer(1_799_900_000)], .keepsStored),
            (["iat": .integer(1_800_100_000)], .keepsStored), (["nbf": .integer(1_800_100_000)], .keepsStored),
            (["exp": nil], .refused(.expired)), (["iat": .string("1")], .refused(.issuedAt)),
            (["nbf": .string("1")], .refused(.notYetValid)),
            (["exp": .integer(1_799_900_000), "sub": .string("bob")], .refused(.subject)),
        ] as [([String: JSONValue?], Refreshed)])
    func keepsStoredIDTokenWhenClocksDiffer(changes: [String: JSONValue?], result: Refreshed) {
        #expect(refresh(changes, stored: ["sub": .string("alice")], clocksDiffer: true) == result)
    }

    @Test(
        "An ID token must confirm the authentication that the client requested",
        arguments: [
            (["max_age": "60"], 0, ["auth_time": .integer(1_799_999_880)], nil),
            (["max_age": "60"], 0, ["auth_time": .integer(1_799_999_879)], .authenticationTime),
            (["max_age": "60"], 0, [:], .authenticationTime),
            (["max_age": "60"], 0, ["auth_time": .string("1800000000")], .authenticationTime),
            (["max_age": "60"], 0, ["auth_time": .integer(1_800_000_060)], nil),
            (["max_age": "60"], 0, ["auth_time": .integer(1_800_000_061)], .authenticationTime),
            (["max_age": "0"], 300, ["auth_time": .integer(1_799_999_640)], nil),
            (["max_age": "0"], 300, ["auth_time": .integer(1_799_999_639)], .authenticationTime),
            (["max_age": "soon"], 0, ["auth_time": .integer(1_799_999_939)], .authenticationTime),
            (["max_age": ""], 0, [:], nil),
            // The name at OpenAM.
            (["max_age": "60"], 0, ["auth:time": .integer(1_799_999_990)], nil),
            (["max_age": "60"], 0, ["auth:time": .integer(1_799_990_000)], .authenticationTime),
            (["max_age": "60"], 0, ["auth_time": .null, "auth:time": .integer(1_799_999_990)], nil),
            (["max_age": "60"], 0, ["auth_time": .null], .authenticationTime),
            (["acr_values": "gold silver"], 0, ["acr": .string("silver")], nil),
            (["acr_values": "gold silver"], 0, ["acr": .string("0")], .authenticationContext),
            (["acr_values": "gold silver"], 0, ["acr": .string("gold silver")], .authenticationContext),
            (["acr_values": "gold"], 0, [:], .authenticationContext),
            (["acr_values": "gold"], 0, ["acr": .null], .authenticationContext),
            (["acr_values": "gold"], 0, ["acr": .array([.string("gold")])], .authenticationContext),
            (["acr_values": ""], 0, [:], nil), ([:], 0, ["acr": .string("0")], nil),
        ] as [([String: String], Double, [String: JSONValue?], IDTokenError.Code?)])
    func confirmsRequestedAuthentication(
        parameters: [String: String], duration: Double, changes: [String: JSONValue?], code: IDTokenError.Code?
    ) {
        #expect(check(changes, requested: RequestedAuthentication(parameters, duration: duration)) == code)
    }

    @Test(
        "Without the requirement of an acr, an ID token may lack it, and must not have one that was not requested",
        arguments: [
            ([:], nil), (["acr": .null], nil), (["acr": .string("gold")], nil), (["acr": .string("0")], .authenticationContext),
            (["acr": .integer(0)], .authenticationContext), (["acr": .string("")], .authenticationContext),
        ] as [([String: JSONValue?], IDTokenError.Code?)])
    func acceptsMissingContext(changes: [String: JSONValue?], code: IDTokenError.Code?) {
        let requested = RequestedAuthentication(["acr_values": "gold silver"], requiresContext: false)
        #expect(check(changes, requested: requested) == code)
    }

    @Test("The error about an audience, a missing acr or an old authentication names the claim and the setting")
    func namesSettingInError() {
        let further = refusal(["aud": .array([.string("app"), .string("2841\u{1B}[2J")]), "azp": .string("app")])
        #expect(further?.description.hasPrefix("the id_token was refused: audience: ") == true)
        #expect(further?.description.contains(#"the audience "2841[2J";"#) == true)
        #expect(further?.description.contains("client.trustedAudiences") == true)
        let context = refusal([:], requested: RequestedAuthentication(["acr_values": "gold"]))
        #expect(context?.description.contains("acr_values") == true)
        #expect(context?.description.contains("client.requiresACR: false") == true)
        let other = refusal(["acr": .string("0")], requested: RequestedAuthentication(["acr_values": "gold"]))
        #expect(other?.description.contains("acr_values") == true && other?.description.contains("requiresACR") == false)
        let age = refusal(["auth_time": .integer(1)], requested: RequestedAuthentication(["max_age": "60"]))
        #expect(age?.description.contains("max_age") == true)
        #expect(refusal(["sub": nil])?.description == "the id_token was refused: subject")
    }

    @Test(
        "The time of a server's response counts up to a difference of 18 hours",
        arguments: [(0, true), (64_800, true), (-64_800, true), (64_801, false), (-64_801, false), (nil, false)]
            as [(Double?, Bool)])
    func limitsServerTime(offset: Double?, counts: Bool) {
        let date = offset.map { Self.now + $0 }
        let expected = counts ? date : Self.now
        #expect(IDTokenRules.time(of: date, at: Self.now) == expected)
        #expect(IDTokenRules.isTooFar(date, from: Self.now) == (offset != nil && !counts))
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
