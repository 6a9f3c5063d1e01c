import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

/// A provider that answers otherwise than the client asked: its tokens are revoked and not kept.
@Suite("Checks of token responses")
struct ClaimCheckTests {
    typealias Claims = [String: JSONValue]

    private static func client(_ parameters: [String: String] = [:], _ change: (inout OAuthClient) -> Void = { _ in })
        -> OAuthClient
    {
        var client = OAuthClient(
            clientID: "app", redirectURI: "https://app.example.com/cb", scopes: ["openid", "read"],
            authorizationParameters: parameters)
        change(&client)
        return client
    }

    /// Checks that a request for a token fails with a code, or succeeds when it is nil, and that refused tokens are revoked and not
    /// kept.
    private func expect(_ code: IDTokenError.Code?, _ fixture: TokenSourceFixture) async throws {
        let error = await outcome { try await fixture.tokens.token() }.tokenError
        let stored = try await fixture.store.token()
        #expect((error == nil) == (code == nil) && error?.idTokenError == code)
        #expect((stored == nil) == (code != nil))
        #expect(fixture.provider.now.accessTokens.isEmpty == (code != nil))
        #expect(fixture.provider.count("revoke") == (code == nil ? 0 : 1))
    }

    // MARK: The form of the tokens

    /// Texts of a token response, their replacements, and whether the client accepts the response.
    static let replacements: [(text: String, replacement: String, isAccepted: Bool)] = [
        (#""Bearer""#, #""bEARER""#, true), (#","token_type":"Bearer""#, "", true), (#""Bearer""#, #""mac""#, false),
        (#""Bearer""#, #""DPoP""#, false), (#""Bearer""#, #""Bearer\r\nX: y""#, false), (#""Bearer""#, "7", false),
        (#""refresh_token":""#, #""refresh_token":"\r\n"#, false), (#""refresh_token":""#, #""refresh_token":"ä"#, false),
    ]

    @Test("A token of another type, or one that no header can have, is refused and revoked", arguments: replacements)
    func refusesUnusableToken(text: String, replacement: String, isAccepted: Bool) async throws {
        try await TokenSourceFixture.with(.set { $0.changes["token"] = { $0.replacing(text, with: replacement) } }) {
            (fixture: TokenSourceFixture) async throws in
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.oauthCode == (isAccepted ? nil : .unusableToken))
            let words = error?.description ?? ""
            #expect(!words.contains("mac") && !words.contains("\n"))
            let stored = try await fixture.store.token()
            #expect((stored != nil) == isAccepted)
            #expect(stored?.authorization.hasPrefix("Bearer ") ?? true)
            #expect(fixture.provider.count("revoke") == (isAccepted ? 0 : 1))
        }
    }

    @Test("A refresh with a token that cannot be used ends the login, and what can be revoked is revoked")
    func refusesUnusableTokenAtRefresh() async throws {
        try await TokenSourceFixture.with(
            session: nil, token: TokenSourceFixture.old(session: nil),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.changes["token"] = { $0.replacing("Bearer", with: "mac") }
            }
        ) { (fixture: TokenSourceFixture) async throws in
            for _ in 0..<2 {
                let error = await outcome { try await fixture.tokens.token() }.tokenError
                #expect(error?.code == .loginRequired && error?.oauthCode == .unusableToken)
            }
            let stored = try await fixture.store.token()
            #expect(stored == nil && fixture.provider.count("token") == 1)
            #expect(fixture.provider.now.revoked == ["refresh-2"])
        }
    }

    @Test(
        "The scope openid that was requested requires an ID token, whatever scope the response names", arguments: [true, false])
    func requiresRequestedIDToken(isRequested: Bool) async throws {
        let client = OAuthClient(
            clientID: "app", redirectURI: "https://app.example.com/cb", scopes: isRequested ? ["openid", "read"] : ["read"])
        try await TokenSourceFixture.with(
            client: client,
            .set {
                $0.omitsIDToken = true
                $0.changes["token"] = { $0.replacing("openid read", with: "read") }
            }
        ) { (fixture: TokenSourceFixture) async throws in
            try await expect(isRequested ? IDTokenError.Code.form : nil, fixture)
        }
    }

    // MARK: Claims

    @Test(
        "An ID token without a numeric iat, or with a claim of another type, is refused",
        arguments: [
            (["iat": .null], .issuedAt), (["iat": .string("1")], .issuedAt), (["nbf": .string("1")], .notYetValid),
            (["azp": .integer(1)], .authorizedParty), (["nonce": .null], .nonce),
            (["aud": .array([.string("app"), .integer(1)])], .audience),
            (["sub": .string(String(repeating: "a", count: 256))], .subject),
        ] as [(Claims, IDTokenError.Code)])
    func refusesClaimOfOtherType(claims: Claims, code: IDTokenError.Code) async throws {
        try await TokenSourceFixture.with(.set { $0.claims = claims }) { (fixture: TokenSourceFixture) async throws in
            try await expect(code, fixture)
        }
    }

    @Test("A further audience of an ID token must be named as trusted", arguments: [true, false])
    func requiresTrustedAudience(isTrusted: Bool) async throws {
        let client = Self.client { $0.trustedAudiences = isTrusted ? ["api"] : [] }
        let claims: Claims = ["aud": .array([.string("app"), .string("api")]), "azp": .string("app")]
        try await TokenSourceFixture.with(client: client, .set { $0.claims = claims }) {
            (fixture: TokenSourceFixture) async throws in
            try await expect(isTrusted ? nil : IDTokenError.Code.audience, fixture)
            guard !isTrusted else { return }
            let words = await outcome { try await fixture.tokens.token() }.tokenError?.description ?? ""
            #expect(words.contains(#""api""#) && words.contains("client.trustedAudiences"))
        }
    }

    @Test(
        "A client that does not require an acr accepts an ID token without one, and refuses another one than requested",
        arguments: [(nil, nil), ("gold", nil), ("0", .authenticationContext)] as [(String?, IDTokenError.Code?)])
    func acceptsIDTokenWithoutACR(context: String?, code: IDTokenError.Code?) async throws {
        let client = Self.client(["acr_values": "gold"]) { $0.requiresACR = false }
        try await TokenSourceFixture.with(client: client, .set { $0.claims["acr"] = context.map { .string($0) } }) {
            (fixture: TokenSourceFixture) async throws in try await expect(code, fixture)
        }
    }

    @Test("A session without the requested acr requires an interaction, and no tokens are requested again before a login")
    func asksOnceForUnconfirmedSession() async throws {
        try await TokenSourceFixture.with(client: Self.client(["acr_values": "gold"])) {
            (fixture: TokenSourceFixture) async throws in
            for _ in 0..<3 {
                let error = await outcome { try await fixture.tokens.token() }.tokenError
                #expect(error?.code == .interactionRequired && error?.idTokenError == .authenticationContext)
                #expect(error?.isRetryable == false && error?.description.contains("acr_values") == true)
            }
            #expect(fixture.provider.count("authorize") == 1 && fixture.provider.count("token") == 1)
            #expect(fixture.provider.count("revoke") == 1 && fixture.provider.now.accessTokens.isEmpty)
            let session = try await fixture.store.session()
            #expect(session == TokenSourceFixture.session)
            fixture.provider.change { $0.claims["acr"] = .string("gold") }
            // The journey that the client requested ends with a session, which may be the stored one.
            try await fixture.tokens.adopt(TokenSourceFixture.session)
            let token = try await fixture.tokens.token()
            #expect(token.text.hasPrefix("access-") && fixture.provider.count("authorize") == 2)
        }
    }

    @Test("A token that has not expired is used while the session does not confirm the requested acr")
    func usesTokenOfUnconfirmedSession() async throws {
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(left: 30, refreshToken: nil), client: Self.client(["acr_values": "gold"])
        ) { (fixture: TokenSourceFixture) async throws in
            for _ in 0..<3 {
                let token = try await fixture.tokens.token()
                #expect(token.text == "access-old")
                // A renewal is tried again after five seconds.
                fixture.clock.advance(by: 6)
            }
            #expect(fixture.provider.count("authorize") == 1 && fixture.provider.count("token") == 1)
            fixture.clock.advance(by: 30)
            let error = await outcome { try await fixture.tokens.token() }.tokenError
            #expect(error?.code == .interactionRequired && error?.idTokenError == .authenticationContext)
            let stored = try await fixture.store.token()
            #expect(stored?.text == "access-old" && fixture.provider.count("authorize") == 1)
        }
    }

    @Test(
        "The authentication that the client requested must be confirmed",
        arguments: [
            (["max_age": "600"], -300, nil, nil), (["max_age": "60"], -300, nil, .authenticationTime),
            (["max_age": "60"], nil, nil, .authenticationTime), (["acr_values": "gold"], nil, "gold", nil),
            (["acr_values": "gold"], nil, "0", .authenticationContext),
            (["acr_values": "gold"], nil, nil, .authenticationContext),
        ] as [([String: String], Double?, String?, IDTokenError.Code?)])
    func refusesUnconfirmedAuthentication(
        parameters: [String: String], age: Double?, context: String?, code: IDTokenError.Code?
    ) async throws {
        try await TokenSourceFixture.with(
            client: Self.client(parameters),
            .set {
                $0.claims["auth_time"] = age.map { .integer(Int64(Date().timeIntervalSince1970 + $0)) }
                $0.claims["acr"] = context.map { .string($0) }
            }
        ) { (fixture: TokenSourceFixture) async throws in try await expect(code, fixture) }
    }

    @Test("The parameters of one login count too", arguments: [(600, true), (60, false)])
    func checksParametersOfLogin(age: Int, isAccepted: Bool) async throws {
        let client = OAuthClient(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["openid"],
            authorizationParameters: ["max_age": "9999"])
        let time = Int64(Date().timeIntervalSince1970 - 300)
        try await TokenSourceFixture.with(session: nil, client: client, .set { $0.claims["auth_time"] = .integer(time) }) {
            (fixture: TokenSourceFixture) async throws in
            let login = BrowserLogin(fixture.tokens) { address in
                let response = try await fixture.transport.send(
                    HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": "sso-1"]))
                _ = try await fixture.transport.send(HTTPRequest("GET", try #require(response.headers["Location"])))
            }
            let error = await outcome { try await login.logIn(returningTo: nil, adding: ["max_age": "\(age)"]) }.tokenError
            #expect((error == nil) == isAccepted)
            #expect(error?.idTokenError == (isAccepted ? nil : .authenticationTime))
        }
    }

    @Test(
        "At a refresh, another nonce than before is refused",
        arguments: [
            ([:], nil), (["nonce": .null], nil), (["auth_time": .integer(1_700_000_000)], nil),
            (["nonce": .string("other")], .nonce),
            (["nonce": .string("other"), "auth_time": .integer(1_700_000_001)], .nonce),
        ] as [(Claims, IDTokenError.Code?)])
    func comparesClaimsAtRefresh(claims: Claims, code: IDTokenError.Code?) async throws {
        try await TokenSourceFixture.with(
            .set {
                $0.refreshScope = "openid read"
                $0.claims["auth_time"] = .integer(1_700_000_000)
            }
        ) { (fixture: TokenSourceFixture) async throws in
            _ = try await fixture.tokens.token()
            fixture.provider.change { $0.claims = claims }
            let error = await outcome { try await fixture.tokens.refresh() }.tokenError
            let stored = try await fixture.store.token()
            #expect(error?.idTokenError == code && (error?.code == .loginRequired) == (code != nil))
            #expect((stored == nil) == (code != nil))
        }
    }

    @Test(
        "At a refresh, another auth_time or another audience keeps the login, with the new tokens and the previous ID token",
        arguments: [
            ["auth_time": .integer(1_700_000_001)], ["auth_time": .string("1700000000")],
            ["aud": .array([.string("app"), .string("api")]), "azp": .string("app")],
        ] as [Claims])
    func keepsPreviousIDToken(claims: Claims) async throws {
        try await TokenSourceFixture.with(
            .set {
                $0.refreshScope = "openid read"
                $0.claims["auth_time"] = .integer(1_700_000_000)
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let first = try await fixture.tokens.token()
            fixture.provider.change { $0.claims = claims }
            let second = try await fixture.tokens.refresh()
            #expect(second.value != first.value && second.refreshToken != first.refreshToken)
            #expect(second.idToken == first.idToken && first.idToken != nil)
            let stored = try await fixture.store.token()
            #expect(stored == second && fixture.provider.now.revoked.isEmpty)
            let isAccepted = fixture.provider.now.accessTokens[second.text] != nil
            #expect(isAccepted)
        }
    }

    @Test("At a refresh, the audiences of the previous ID token are accepted although the client does not trust them")
    func acceptsPreviousAudiences() async throws {
        let claims = #"{"sub":"alice","aud":["app","api"],"azp":"app"}"#
        let idToken = "e30." + Base64.encode(Array(claims.utf8), as: .url) + ".e30"
        try await TokenSourceFixture.with(
            token: TokenSourceFixture.old(idToken: idToken),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.refreshScope = "openid read"
                $0.claims = ["aud": .array([.string("app"), .string("api")]), "azp": .string("app")]
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let token = try await fixture.tokens.token()
            #expect(token.text != "access-old" && token.idToken?.text != idToken && token.idToken != nil)
        }
    }

    // MARK: Algorithms and keys

    @Test(
        "An ID token must have the algorithm that the client expects, or one that the discovery document lists",
        arguments: [
            ("ES256", nil, true), ("PS256", nil, false), (nil, #"["PS256"]"#, false), (nil, #"["PS256","ES256"]"#, true),
            (nil, "[]", true), (nil, nil, true), ("ES256", #"["PS256"]"#, true),
        ] as [(String?, String?, Bool)])
    func limitsAlgorithms(expected: String?, listed: String?, isAccepted: Bool) async throws {
        let list = listed.map { #","id_token_signing_alg_values_supported":\#($0)}"# } ?? "}"
        try await TokenSourceFixture.with(
            endpoints: .from { OAuthEndpoints(discovery: $0.discoveryAddress) },
            client: Self.client { $0.idTokenSignedResponseAlg = expected },
            .set { $0.changes["discovery"] = { String($0.dropLast()) + list } }
        ) { (fixture: TokenSourceFixture) async throws in
            try await expect(isAccepted ? nil : IDTokenError.Code.algorithm, fixture)
        }
    }

    @Test(
        "A key of the server verifies only if its members allow it and have the form of a JWK",
        arguments: [
            (#""use":"sig""#, #""use":"enc""#, false), (#""use":"sig""#, #""use":7"#, false), (#","use":"sig""#, "", true),
            (#""use":"sig""#, #""use":null"#, true),
            (#""use":"sig""#, #""key_ops":["verify"]"#, true), (#""use":"sig""#, #""key_ops":["sign","verify"]"#, true),
            (#""use":"sig""#, #""use":"sig","key_ops":null"#, true), (#""use":"sig""#, #""key_ops":["encrypt"]"#, false),
            (#""use":"sig""#, #""key_ops":["verify","verify"]"#, false), (#""use":"sig""#, #""key_ops":["verify",1]"#, false),
            (#""use":"sig""#, #""key_ops":"verify""#, false), (#""use":"sig""#, #""key_ops":[]"#, false),
            (#"","y":""#, #"=","y":""#, false),
        ])
    func readsKeyMembers(text: String, replacement: String, isAccepted: Bool) async throws {
        try await TokenSourceFixture.with(.set { $0.changes["jwks"] = { $0.replacing(text, with: replacement) } }) {
            (fixture: TokenSourceFixture) async throws in
            try await expect(isAccepted ? nil : IDTokenError.Code.signature, fixture)
        }
    }
}

/// The settings of a client for the checks of ID tokens.
@Suite("Client settings for ID tokens")
struct ClientCheckSettingTests {
    private static let document = """
        {"url": "https://am.example.test/am", "client": {"id": "app", "redirectUri": "a:b",
         "idTokenSignedResponseAlg": "ES256", "trustedAudiences": ["api", "web"], "requiresACR": false}}
        """

    @Test("A document and the environment set the expected algorithm, the trusted audiences and the acr of ID tokens")
    func readsSettingsOfChecks() throws {
        let profile = try ServerProfile(json: Self.document.utf8)
        #expect(profile.client?.idTokenSignedResponseAlg == "ES256" && profile.client?.trustedAudiences == ["api", "web"])
        #expect(profile.client?.requiresACR == false)
        let same = try ServerProfile(environment: [
            "SIGNET_URL": "https://am.example.test/am", "SIGNET_CLIENT_ID": "app", "SIGNET_CLIENT_REDIRECT_URI": "a:b",
            "SIGNET_CLIENT_ID_TOKEN_SIGNED_RESPONSE_ALG": "ES256", "SIGNET_CLIENT_TRUSTED_AUDIENCES": "api web",
            "SIGNET_CLIENT_REQUIRES_ACR": "false",
        ])
        #expect(same == profile)
        let client = OAuthClient(
            clientID: "app", redirectURI: "a:b", scopes: [], idTokenSignedResponseAlg: "ES256",
            trustedAudiences: ["api", "web"], requiresACR: false)
        #expect(profile.client == client)
    }

    @Test("A client requires an acr for acr_values unless a setting says otherwise, which must be true or false")
    func requiresACRByDefault() throws {
        let text = Self.document.replacing(#", "requiresACR": false"#, with: "")
        let profile = try ServerProfile(json: text.utf8)
        #expect(profile.client?.requiresACR == true)
        let wrong = Self.document.replacing(#""requiresACR": false"#, with: #""requiresACR": "no""#)
        #expect {
            try ServerProfile(json: wrong.utf8)
        } throws: { ($0 as? ProfileError)?.key == "client.requiresACR" }
    }

    @Test("An expected algorithm that is not accepted for ID tokens is an error", arguments: ["none", "HS256", "es256", ""])
    func refusesUnsafeExpectedAlgorithm(name: String) {
        let text = Self.document.replacing("ES256", with: name)
        #expect {
            try ServerProfile(json: text.utf8)
        } throws: { ($0 as? ProfileError)?.key == "client.idTokenSignedResponseAlg" }
    }
}

extension TokenError {
    fileprivate var oauthCode: OAuthError.Code? { if case .server(let error) = cause { error.code } else { nil } }
}
