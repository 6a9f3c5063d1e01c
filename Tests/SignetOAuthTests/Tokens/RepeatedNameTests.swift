import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

/// Two readers of a JSON object with a name twice may use different members: one verifies, the other decides (RFC 8259 section 4,
/// RFC 7519 section 4).
@Suite("A name that occurs twice in what a server sends")
struct RepeatedNameTests {
    /// Returns a change that adds a member in front of all others, or behind them.
    private static func adding(_ member: String, first: Bool) -> @Sendable (String) -> String {
        { first ? "{\(member)," + $0.dropFirst() : $0.dropLast() + ",\(member)}" }
    }

    @Test(
        "An ID token with a claim or a header parameter twice is refused, and its tokens are revoked and not kept",
        arguments: [
            ("claims", #""sub":"mallory""#), ("claims", #""sub":7"#), ("claims", #""sub":null"#),
            ("claims", #""\u0073ub":"mallory""#),
            ("claims", #""aud":"mallory""#), ("claims", #""iss":"https://evil.example.test""#), ("claims", #""nonce":"mallory""#),
            ("claims", #""exp":9999999999"#), ("claims", #""x":{"y":1,"y":2}"#), ("header", #""alg":"none""#),
            ("header", #""alg":"ES256""#), ("header", #""kid":"k2""#), ("header", #""x":1,"x":1"#),
        ], [true, false])
    func revokesTokensOnRepeatedClaim(change: (part: String, member: String), first: Bool) async throws {
        try await TokenSourceFixture.with(.set { $0.changes[change.part] = Self.adding(change.member, first: first) }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .idTokenRefused && error?.cause == .idToken(IDTokenError(.form)))
            #expect(try await fixture.store.token() == nil && fixture.provider.now.accessTokens.isEmpty)
        }
    }

    @Test("An ID token with the same member once at different depths is accepted")
    func acceptsNestedName() async throws {
        try await TokenSourceFixture.with(.set { $0.claims["act"] = .object(["sub": .string("bob")]) }) { fixture in
            let token = try await fixture.tokens.token()
            #expect(token.idToken != nil)
            #expect(try await TokenReader(fixture.store, clock: fixture.clock).identity()?["sub"]?.string == "alice")
        }
    }

    @Test(
        "A response of the token endpoint with a member twice is refused, and nothing of it is kept",
        arguments: [
            #""access_token":"mallory""#, #""id_token":"mallory""#, #""scope":"admin""#, #""acces\u0073_token":"mallory""#,
        ],
        [true, false])
    func refusesRepeatedTokenMember(member: String, first: Bool) async throws {
        try await TokenSourceFixture.with(.set { $0.changes["token"] = Self.adding(member, first: first) }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .refused && error?.isRetryable == false && error?.oauth?.code == .repeatedMember)
            #expect(error?.description.contains("mallory") == false)
            #expect(try await fixture.store.token() == nil)
        }
    }

    @Test("A userinfo response with the subject twice is refused", arguments: [true, false])
    func refusesRepeatedSubject(first: Bool) async throws {
        try await TokenSourceFixture.with(.set { $0.changes["userinfo"] = Self.adding(#""sub":"mallory""#, first: first) }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            #expect(error?.code == .refused && error?.oauth?.code == .repeatedMember)
        }
    }

    @Test("A userinfo response about an unknown person is refused when the stored ID token has no readable subject")
    func refusesUserInfoWithoutKnownSubject() async throws {
        let twice = "e30.\(Base64.encode(Array(#"{"sub":"alice","sub":"mallory"}"#.utf8), as: .url)).e30"
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(left: 3600, session: nil, idToken: twice),
            .set { TokenSourceFixture.addOldToken(&$0) }
        ) { (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.userInfo() }.tokenError
            #expect(error?.cause == .idToken(IDTokenError(.subject)))
            #expect(try await TokenReader(fixture.store, clock: fixture.clock).identity() == nil)
        }
    }

    @Test(
        "A key set or a discovery document with a name twice is refused before a code is used",
        arguments: [
            ("jwks", #""keys":[]"#), ("jwks", #""x":[{"kid":"a","kid":"b"}]"#),
            ("discovery", #""issuer":"https://evil.example.test""#),
            ("discovery", #""token_endpoint":"https://evil.example.test/token""#),
        ], [true, false])
    func refusesRepeatedMetadata(change: (path: String, member: String), first: Bool) async throws {
        try await TokenSourceFixture.with(
            endpoints: .from { OAuthEndpoints(discovery: $0.discoveryAddress) },
            .set { $0.changes[change.path] = Self.adding(change.member, first: first) }
        ) { (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .refused && error?.oauth?.code == .repeatedMember)
            #expect(fixture.provider.count("token") == 0)
        }
    }
}

extension TokenError {
    fileprivate var oauth: OAuthError? { if case .server(let error) = cause { error } else { nil } }
}
