import Foundation
import SignetCore
import Testing

@Suite("Rules for logout tokens")
struct LogoutTokenRuleTests {
    private static let now: Int64 = 1_800_000_000
    private static let claims: [String: JSONValue] = [
        "iss": .string("https://op"), "aud": .string("app"), "iat": .integer(now), "exp": .integer(now + 120),
        "jti": .string("1"), "sub": .string("alice"), "events": .object([LogoutTokenRules.event: .object([:])]),
    ]

    /// Returns the code of the error for a token with changes, at a time after its issue.
    private func code(
        _ changes: [String: JSONValue?] = [:], after seconds: Double = 0, _ policy: LogoutTokenPolicy = LogoutTokenPolicy()
    ) -> LogoutTokenError.Code? {
        var claims = Self.claims
        for (name, value) in changes { claims[name] = value }
        let rules = LogoutTokenRules(issuer: "https://op", clientID: "app", policy: policy)
        do throws(LogoutTokenError) {
            _ = try rules.token(
                header: ["alg": .string("RS256")], claims: claims, now: Date(timeIntervalSince1970: Double(Self.now) + seconds))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A logout token is accepted from its issue to its expiry, with a clock difference of one minute")
    func logoutTokenHasTimes() {
        #expect(code(after: -61) == .notYetValid)
        #expect(code(after: -60) == nil)
        #expect(code(after: 179) == nil)
        #expect(code(after: 180) == .expired)
    }

    @Test("A logout token that expires late is accepted up to its maximum age")
    func logoutTokenHasMaximumAge() {
        let late: [String: JSONValue?] = ["exp": .integer(Self.now + 86_400)]
        #expect(code(late, after: 360) == nil)
        #expect(code(late, after: 361) == .issuedAt)
        let policy = LogoutTokenPolicy(maximumAge: .seconds(30))
        #expect(code(late, after: 90, policy) == nil)
        #expect(code(late, after: 91, policy) == .issuedAt)
    }

    @Test("The ID of a logout token is remembered as long as the token is accepted")
    func rememberedUntilLastUse() throws {
        let rules = LogoutTokenRules(issuer: "https://op", clientID: "app", policy: LogoutTokenPolicy())
        let now = Date(timeIntervalSince1970: Double(Self.now))
        var claims = Self.claims
        let short = try rules.token(header: [:], claims: claims, now: now)
        claims["exp"] = .integer(Self.now + 86_400)
        let long = try rules.token(header: [:], claims: claims, now: now)
        #expect(rules.lastUse(of: short) == now + 180 && rules.lastUse(of: long) == now + 360)
    }

    @Test("An issuer or an audience in another Unicode normalization is another one")
    func comparesBytesOfLogoutToken() {
        let rules = LogoutTokenRules(issuer: "https://op/\u{E9}", clientID: "app", policy: LogoutTokenPolicy())
        var claims = Self.claims
        claims["iss"] = .string("https://op/e\u{301}")
        #expect(throws: LogoutTokenError(.issuer)) {
            try rules.token(header: [:], claims: claims, now: Date(timeIntervalSince1970: Double(Self.now)))
        }
    }

    @Test("The description of a logout token's error has the code and the cause")
    func describesLogoutTokenError() {
        #expect(LogoutTokenError(.audience).description == "the logout token was refused: audience")
        #expect(
            LogoutTokenError(.unavailable, explanation: "no keys").description
                == "the logout token was refused: unavailable: no keys")
    }
}
