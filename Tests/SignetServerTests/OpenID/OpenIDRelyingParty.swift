import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The response mode of a plan's authorization requests: the modules of the Basic and of the Form Post plan differ in it alone.
enum AnswerMode: String, CaseIterable, Sendable {
    /// The request names no response mode, and the answer is in the query.
    case query
    /// The answer is a form that the browser posts.
    case formPost = "form_post"

    var parameter: String? { self == .query ? nil : rawValue }
}

/// A relying party: a client of the provider under test, and the browser of its user.
struct OpenIDRelyingParty {
    let provider: ProviderUnderTest
    let client: RegisteredClient
    let mode: AnswerMode
    let browser: WebBrowser
    /// True to send the secret in the form, and false to send it in the header `Authorization`.
    var sendsSecretInForm = false

    /// The state of each request: every character that RFC 6749 appendix A.5 allows, and longer than usual.
    static let state = String(decoding: (0x20...0x7E).map { UInt8($0) }, as: UTF8.self) + String(repeating: "s", count: 33)

    init(
        _ provider: ProviderUnderTest, _ id: String = "signet-one", mode: AnswerMode = .query, browser: WebBrowser? = nil
    ) throws {
        let found = provider.configuration.clients.first { $0.id == id }
        client = try #require(found)
        self.provider = provider
        self.mode = mode
        self.browser = browser ?? WebBrowser(provider)
    }

    // MARK: Authorization

    /// The end of an authorization request.
    struct Authorization: Sendable {
        /// The last answer: the one that leads back to the client, or a page on which the browser stays.
        let answer: WebAnswer
        /// The login page that the user filled in; nil when there was none.
        let loginPage: WebAnswer?
        let nonce: String?
    }

    /// Returns the parameters of an authorization request; a nil in `changes` removes a parameter.
    func parameters(_ changes: [String: String?] = [:]) -> [String: String?] {
        var parameters: [String: String?] = [
            "client_id": client.id, "redirect_uri": ProviderUnderTest.redirectURI, "scope": "openid", "response_type": "code",
            "state": Self.state, "nonce": "n-\(RandomID.uuid())",
        ]
        if let mode = mode.parameter { parameters["response_mode"] = mode }
        return parameters.merging(changes) { $1 }
    }

    /// Opens an authorization request in the browser, where the user logs in if a login page appears.
    func authorize(_ changes: [String: String?] = [:], byPost: Bool = false) async throws -> Authorization {
        let parameters = parameters(changes)
        let endpoint = try provider.endpoint("authorization_endpoint")
        let first =
            if byPost {
                try await browser.post(endpoint, parameters)
            } else {
                try await browser.open("\(endpoint)?\(TestServer.form(parameters))")
            }
        return try await finish(first, nonce: parameters["nonce"] ?? nil)
    }

    /// Logs the user in if a page is the login page.
    func finish(_ first: WebAnswer, nonce: String?) async throws -> Authorization {
        guard first.isLogin else { return Authorization(answer: first, loginPage: nil, nonce: nonce) }
        let form = try #require(first.form)
        let answer = try await browser.submit(form, ["IDToken1": "mira", "IDToken2": TestServer.password])
        return Authorization(answer: answer, loginPage: first, nonce: nonce)
    }

    /// Returns the parameters that reach the redirect URI, which come as the response mode says.
    func callback(_ authorization: Authorization, addressed: String = ProviderUnderTest.redirectURI) throws -> [String: String] {
        let answer = authorization.answer
        switch mode {
        case .query:
            #expect((300..<400).contains(answer.status), "\(answer.status) \(answer.text)")
            let location = try #require(answer.headers["Location"])
            let parts = try #require(URLComponents(string: location))
            #expect(location.hasPrefix(addressed + "?") && parts.fragment == nil)
            let items = parts.queryItems ?? []
            #expect(Set(items.map(\.name)).count == items.count, "a parameter comes twice")
            return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, last in last })
        case .formPost:
            #expect(answer.status == 200 && answer.isPage && answer.headers["Location"] == nil, "\(answer.status) \(answer.text)")
            let form = try #require(answer.form)
            #expect(form.method == "post" && form.action == addressed)
            #expect(form.encoding == nil || form.encoding == "application/x-www-form-urlencoded")
            // A browser without scripts has a button, and the policy of the page lets the form lead to the client.
            #expect(form.buttonCount > 0)
            let policy = try #require(answer.headers["Content-Security-Policy"])
            #expect(policy.contains("form-action") && policy.contains("https://localhost.emobix.co.uk:8443"))
            #expect(answer.text.contains("<script"))
            return form.hidden
        }
    }

    /// Returns the code of a successful answer, and checks the other parameters.
    func code(_ authorization: Authorization) throws -> String {
        let answer = try callback(authorization)
        #expect(answer["error"] == nil, "\(answer)")
        #expect(answer["state"] == Self.state)
        #expect(answer["iss"] == provider.metadata["issuer"]?.string)
        #expect(Set(answer.keys) == ["code", "state", "iss"])
        let code = try #require(answer["code"])
        // 128 bits, and a text of random characters has many different ones.
        #expect(code.utf8.count >= 16 && Set(code).count >= 10)
        return code
    }

    /// Returns the code of an error answer, and checks the other parameters (OpenID Connect Core section 3.1.2.6).
    func error(_ authorization: Authorization, state: String? = state) throws -> String {
        let answer = try callback(authorization)
        #expect(answer["code"] == nil)
        #expect(answer["state"] == state)
        #expect(answer["iss"] == provider.metadata["issuer"]?.string)
        let unexpected = Set(answer.keys).subtracting(["error", "error_description", "error_uri", "state", "iss"])
        #expect(unexpected.isEmpty)
        let isPlain = (answer["error_description"] ?? "").utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C
        }
        #expect(isPlain)
        return try #require(answer["error"])
    }

    // MARK: Tokens

    /// The tokens of a successful answer.
    struct Tokens: Sendable {
        let json: JSONValue
        let access: String
        let refresh: String?
        let id: String
        /// The verified claims of the id_token.
        let claims: [String: JSONValue]
    }

    /// Sends a request to the token endpoint, with the secret of the client.
    func token(_ form: [String: String?]) async throws -> WebAnswer {
        let secret = try #require(client.secret)
        let text = String(decoding: secret.bytes, as: UTF8.self)
        if sendsSecretInForm {
            let own: [String: String?] = ["client_id": client.id, "client_secret": text]
            return try await provider.send("POST", "token_endpoint", form.merging(own) { $1 })
        }
        let pair = "\(client.id.percentEncoded()):\(text.percentEncoded())"
        let header = "Basic " + Base64.encode(Array(pair.utf8), as: .standard)
        return try await provider.send("POST", "token_endpoint", headers: ["Authorization": header], form)
    }

    /// Exchanges a code.
    func exchange(_ code: String, _ changes: [String: String?] = [:]) async throws -> WebAnswer {
        let form: [String: String?] = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": ProviderUnderTest.redirectURI,
        ]
        return try await token(form.merging(changes) { $1 })
    }

    /// Exchanges the code of an authorization and checks the tokens.
    func tokens(_ authorization: Authorization, _ changes: [String: String?] = [:]) async throws -> Tokens {
        try await tokens(in: try await exchange(try code(authorization), changes), nonce: authorization.nonce)
    }

    /// Logs the user in and returns the tokens.
    func logIn(_ changes: [String: String?] = [:]) async throws -> Tokens {
        try await tokens(try await authorize(changes))
    }

    /// Logs the user in and returns the code that was exchanged, and its tokens, which work.
    func usedCode() async throws -> (code: String, tokens: Tokens) {
        let authorization = try await authorize()
        let code = try code(authorization)
        let tokens = try await tokens(in: try await exchange(code), nonce: authorization.nonce)
        #expect(try await userInfo(tokens)["sub"] == "mira")
        return (code, tokens)
    }

    /// Checks the answer of the token endpoint (RFC 6749 section 5.1) and its id_token.
    func tokens(in answer: WebAnswer, nonce: String?) async throws -> Tokens {
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers["Content-Type"]?.hasPrefix("application/json") == true)
        #expect(answer.headers["Cache-Control"]?.contains("no-store") == true)
        #expect(answer.headers["Pragma"] == "no-cache")
        let access = try #require(answer.json["access_token"]?.string)
        #expect(access.utf8.count >= 16 && Self.isVisible(access))
        #expect(answer.json["token_type"]?.string?.lowercased() == "bearer")
        let lifetime = try #require(answer.json["expires_in"]?.lenientInteger)
        #expect(lifetime > 0)
        let refresh = answer.json["refresh_token"]?.string
        if let refresh { #expect(refresh.utf8.count >= 16 && Self.isVisible(refresh)) }
        let id = try #require(answer.json["id_token"]?.string)
        let claims = try await provider.verified(id).claims
        try check(claims, nonce: nonce)
        #expect(claims["at_hash"] == .string(TokenSigner.hash(ofAccessToken: access)))
        return Tokens(json: answer.json, access: access, refresh: refresh, id: id, claims: claims)
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// The claims that may be in an id_token without a request for them.
    private static let idTokenClaims: Set = [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "nbf", "jti", "sid",
    ]

    /// Checks the claims of an id_token (OpenID Connect Core sections 2 and 3.1.3.7).
    private func check(_ claims: [String: JSONValue], nonce: String?) throws {
        let now = Int64(provider.clock.now.timeIntervalSince1970)
        #expect(claims["iss"] == provider.metadata["issuer"])
        #expect(claims["aud"] == .string(client.id))
        #expect(claims["azp"] == nil || claims["azp"] == .string(client.id))
        #expect(claims["sub"] == "mira")
        #expect(claims["nonce"]?.string == nonce)
        #expect(claims["iat"] == .integer(now))
        let (end, login) = (try #require(claims["exp"]?.lenientInteger), try #require(claims["auth_time"]?.lenientInteger))
        #expect(end > now && end < now + 86_400 && login <= now)
        #expect(claims["acr"]?.string != "")
        let unexpected = Set(claims.keys).subtracting(Self.idTokenClaims)
        #expect(unexpected.isEmpty)
    }

    // MARK: Userinfo

    /// Requests the claims of the user with an access token in the header, and checks them.
    func userInfo(_ tokens: Tokens) async throws -> [String: JSONValue] {
        let header = ["Authorization": "Bearer \(tokens.access)"]
        return try claims(in: try await provider.send("GET", "userinfo_endpoint", headers: header), of: tokens)
    }

    /// Checks the answer of the userinfo endpoint (OpenID Connect Core sections 5.1 and 5.3.2) and returns its claims.
    func claims(in answer: WebAnswer, of tokens: Tokens) throws -> [String: JSONValue] {
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers["Content-Type"]?.hasPrefix("application/json") == true)
        let claims = try #require(answer.json.object)
        #expect(claims["sub"] == tokens.claims["sub"])
        for (name, value) in claims {
            switch name {
            case "email_verified", "phone_number_verified": #expect(value.bool != nil, "\(name)")
            case "updated_at": #expect(value == .integer(1_735_689_600))
            case "address":
                let parts = try #require(value.object).values.map { $0.string ?? "" }
                #expect(!parts.isEmpty && !parts.contains(""))
            default: #expect(value.string?.isEmpty == false, "\(name)")
            }
        }
        return claims
    }
}
