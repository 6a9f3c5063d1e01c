import Foundation
import SignetCore
import Testing

@Suite("Responses of OAuth 2.0 servers")
struct OAuthAnswerTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func read(_ status: Int, _ body: String) -> Result<AccessToken, OAuthError> {
        do throws(OAuthError) {
            return .success(
                try TokenResponse.token(status: status, body: Array(body.utf8), requestedScope: "openid", now: Self.now))
        } catch {
            return .failure(error)
        }
    }

    @Test("The code challenge of a verifier is that of RFC 7636 appendix B")
    func codeChallenge() {
        let challenge = ProofKey.challenge(for: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("An authorization attempt is unique, and extra parameters cannot weaken it")
    func authorizationAttemptIsUnique() {
        let attempt = AuthorizationAttempt.new()
        #expect(attempt != .new())
        #expect(attempt.verifier.count == 43 && attempt.state.count == 43 && attempt.nonce.count == 43)
        let fields = attempt.parameters(
            clientID: "app", redirectURI: "https://a/cb", scopes: ["openid", "a b"],
            extra: [("state", "mine"), ("code_challenge_method", "plain"), ("prompt", "login")])
        let query = FormCoding.decode(FormCoding.encode(fields))
        #expect(query["state"] == attempt.state && query["code_challenge_method"] == "S256" && query["prompt"] == "login")
        #expect(query["nonce"] == attempt.nonce && query["scope"] == "openid a b")
        #expect(query["code_challenge"] == ProofKey.challenge(for: attempt.verifier.text))
        let plain = attempt.parameters(clientID: "app", redirectURI: "https://a/cb", scopes: ["read"])
        let names = plain.map(\.name)
        #expect(!names.contains("nonce"))
    }

    @Test(
        "Special characters in a form are escaped and read back",
        arguments: ["", "a", "a b", "a+b", "a&b=c", "100%", "ü/?#", "a\r\nb", "%20", "AQIC5w*~._-"])
    func formEscaping(text: String) {
        let form = FormCoding.encode([(name: "k\(text)", value: text), (name: "z", value: "1")])
        #expect(FormCoding.decode(form) == ["k\(text)": text, "z": "1"])
        #expect(form.split(separator: "&").count == 2 && !form.contains(" ") && !form.contains("\r"))
    }

    @Test(
        "Query fields are added to an address before its fragment",
        arguments: [
            ("https://a/b", "https://a/b?x=1"), ("https://a/b?y=2", "https://a/b?y=2&x=1"), ("https://a/b?", "https://a/b?x=1"),
            ("https://a/b#f", "https://a/b?x=1#f"), ("https://a/b?y#f#g", "https://a/b?y&x=1#f#g"),
        ])
    func addsQueryBeforeFragment(url: String, result: String) {
        #expect(FormCoding.address(url, adding: [("x", "1")]) == result)
        #expect(FormCoding.address(url, adding: []) == url)
    }

    @Test(
        "A token lifetime is read in each common form",
        arguments: [
            ("3600", 3600), ("\"3600\"", 3600), ("3600.0", 3600), ("0", 0), ("-5", 0), ("null", nil), ("\"soon\"", nil),
            ("1e300", 315_360_000), ("true", nil),
        ] as [(String, Double?)])
    func readsTokenLifetimes(text: String, seconds: Double?) throws {
        let token = try read(200, #"{"access_token":"a","token_type":"Bearer","expires_in":\#(text)}"#).get()
        let expiry = seconds.map { Self.now + $0 }
        #expect(token.expiresAt == expiry)
    }

    @Test("A member missing from a token response has its default value")
    func sparseTokenResponse() throws {
        let token = try read(200, "\u{FEFF} {\"access_token\":\"a\"}").get()
        #expect(token.tokenType == "Bearer" && token.scope == "openid" && token.refreshToken == nil && token.expiresAt == nil)
        let lists = try read(200, #"{"access_token":"a","scope":["x","y"],"refresh_token":"","id_token":null}"#).get()
        #expect(lists.scope == "x y" && lists.refreshToken == nil && lists.idToken == nil)
    }

    @Test(
        "A token of another type than Bearer, or with other characters than visible ASCII, can't be used",
        arguments: [
            (#""token_type":"Bearer""#, true), (#""token_type":"bearer""#, true), (#""token_type":"bEARER""#, true),
            (#""token_type":null"#, true), (#""x":1"#, true),
            (#""token_type":"mac""#, false), (#""token_type":"DPoP""#, false), (#""token_type":"""#, false),
            (#""token_type":"Bearer ""#, false), (#""token_type":["Bearer"]"#, false), (#""token_type":7"#, false),
            (#""refresh_token":"a b~!""#, true), (#""refresh_token":"a\r\nb""#, false), (#""refresh_token":"ä""#, false),
            (#""refresh_token":"a\u007f""#, false), (#""refresh_token":"\u0000""#, false),
        ])
    func refusesUnusableTokens(member: String, expected: Bool) throws {
        let token = try read(200, #"{"access_token":"a",\#(member)}"#).get()
        #expect(isUsable(token) == expected)
    }

    @Test(
        "An access token with a space, a control character or a character beyond ASCII can't be used",
        arguments: [
            ("!az09~-._+/=", true), ("a b", false), (#"a\r\nX-Header: b"#, false), (#"a\tb"#, false), (#"a\u0000"#, false),
            (#"a\u007f"#, false), ("ä", false), ("a\u{1F511}", false),
        ])
    func refusesUnusableAccessTokens(text: String, expected: Bool) throws {
        let token = try read(200, #"{"access_token":"\#(text)"}"#).get()
        #expect(isUsable(token) == expected)
    }

    private func isUsable(_ token: AccessToken) -> Bool {
        do throws(OAuthError) {
            try TokenResponse.check(token)
            return true
        } catch {
            #expect(error.code == .unusableToken && !error.isRetryable && !error.endsGrant)
            return false
        }
    }

    @Test(
        "An error response is read from its OAuth error or its HTTP status",
        arguments: [
            (400, #"{"error":"invalid_grant","error_description":"gone"}"#, .invalidGrant, false),
            (401, #"{"error":"invalid_client"}"#, .invalidClient, false),
            (403, #"{"error":"invalid_code"}"#, .other, false),
            (400, "", .unreadable, false), (401, "", .unreadable, false), (404, "<html>", .unreadable, false),
            (200, "<html>Welcome to the hotel", .unreadable, true), (200, "", .unreadable, true),
            (200, #"{"access_token":"a","refre"#, .unreadable, true), (200, "{}", .unreadable, true),
            (200, #"{"access_token":""}"#, .unreadable, true), (200, "[]", .unreadable, true),
            (200, #"{"error":"invalid_grant"}"#, .invalidGrant, false),
            (500, "", .failed, true), (502, "<html>", .failed, true), (503, "{}", .failed, true), (511, "<html>", .failed, true),
            (500, #"{"error":"invalid_grant"}"#, .failed, true),
            (503, #"{"error":"temporarily_unavailable"}"#, .temporarilyUnavailable, true),
            (500, #"{"error":"server_error"}"#, .serverError, true), (429, "", .failed, true),
            (429, #"{"error":"slow_down"}"#, .slowDown, true),
            (401, #"{"code":401,"reason":"Unauthorized","message":"Access Denied"}"#, .other, false),
            (400, #"{"error":"failed"}"#, .other, false), (400, #"{"error":"unreadable"}"#, .other, false),
            (400, #"{"error":{}}"#, .unreadable, false),
        ] as [(Int, String, OAuthError.Code, Bool)])
    func readsErrorResponseFromBodyOrStatus(status: Int, body: String, code: OAuthError.Code, isRetryable: Bool) throws {
        guard case .failure(let error) = read(status, body) else {
            Issue.record("a token was read")
            return
        }
        #expect(error.code == code && error.status == status && error.isRetryable == isRetryable)
        #expect(error.endsGrant == (code == .invalidGrant && status >= 400))
    }

    @Test("Text of a server cannot control or flood a terminal")
    func sanitizesServerText() throws {
        let body = #"{"error":"x\u001b[2J","error_description":"\#(String(repeating: "y", count: 5000))\u202e"}"#
        guard case .failure(let error) = read(400, body) else { return }
        #expect(error.name == "x[2J" && error.description.count < 400)
    }

    private static let redirect = "https://app.example.com/cb"

    @Test(
        "The code is taken only from a response to this request",
        arguments: [
            ("?code=c&state=s", nil), ("?code=c&state=s&iss=https%3A%2F%2Fop", nil), ("/?state=s&code=c", nil),
            ("?code=c&state=t", .stateMismatch), ("?code=c", .stateMismatch), ("?code=c&state=", .stateMismatch),
            ("", .stateMismatch),
            ("?state=s", .noCode), ("?code=&state=s", .noCode),
            ("?code=c&state=s&iss=https%3A%2F%2Fevil", .issuerMismatch),
            ("?error=access_denied&error_description=no&state=s", .accessDenied),
            ("?error=login_required&state=s", .loginRequired),
            ("?error=login_required", .loginRequired), ("?error=access_denied&state=t", .stateMismatch),
            ("?error=made_up&state=s", .other), ("?error=access_denied&code=c&state=s", .accessDenied),
            ("x?code=c&state=s", .notRedirected),
            ("?code=c&state=s&code=d", .repeatedMember), ("?code=c&state=s&code=c", .repeatedMember),
            ("?code=c&state=s&state=t", .repeatedMember), ("?code=c&state=s&c%6Fde=d", .repeatedMember),
            ("?code=c&state=s&iss=https%3A%2F%2Fop&iss=https%3A%2F%2Fevil", .repeatedMember),
            ("?code=c&state=s&x&x", .repeatedMember), ("?error=access_denied&error=login_required&state=s", .repeatedMember),
            ("?code=c&state=s&x=%zz", .unreadable), ("?code=c&state=s&x=%ff", .unreadable), ("?code=c&state=s&%4=x", .unreadable),
        ] as [(String, OAuthError.Code?)])
    func takesCodeOfOwnRequest(rest: String, code: OAuthError.Code?) {
        let outcome: Result<Secret, OAuthError>
        do throws(OAuthError) {
            outcome = .success(
                try AuthorizationResponse.code(
                    location: Self.redirect + rest, redirectURI: Self.redirect, state: "s", issuer: "https://op"))
        } catch {
            outcome = .failure(error)
            #expect(!error.endsGrant)
        }
        if let code {
            #expect(throws: OAuthError.self) { _ = try outcome.get() }
            if case .failure(let error) = outcome { #expect(error.code == code) }
        } else {
            #expect((try? outcome.get()) == Secret("c".utf8))
        }
    }

    @Test(
        "The fields of an answer are read alike from a query and from a form, each once and with valid escapes",
        arguments: [
            ("code=c%2B1&state=s", ["code": "c+1", "state": "s"]), ("a+b=c%20d&&e", ["a b": "c d", "e": ""]), ("", [:]),
            ("a=b=c", ["a": "b=c"]), ("a=1&a=2", nil), ("a=1&%61=2", nil), ("a&a", nil), ("a=%", nil), ("a=%zz", nil),
            ("%f=1", nil), ("a=%ff", nil), ("a=%C3%A9", ["a": "\u{E9}"]), ("a&\u{301}=1", ["a": "", "\u{301}": "1"]),
        ] as [(String, [String: String]?)])
    func readsFieldsOnce(text: String, expected: [String: String]?) {
        let fields = try? AuthorizationResponse.fields(of: text)
        let form = try? FormCoding.decodeOnce(text)
        #expect(fields == expected && form == expected)
    }

    @Test("A response without the issuer that the server promised, or without a redirect to the app, is refused")
    func checksIssuerAndRedirect() {
        let missing = OAuthError(.issuerMismatch, explanation: "the answer has no iss, which the server promises")
        #expect(throws: missing) {
            _ = try AuthorizationResponse.code(
                location: "app://cb?code=c&state=s", redirectURI: "app://cb", state: "s", issuer: "i", requiresIssuer: true)
        }
        // The issuer can be one that a discovery document names. The text of the answer is not repeated.
        let other = OAuthError(.issuerMismatch, explanation: "the iss of the answer is not the issuer i[2J")
        #expect(throws: other) {
            _ = try AuthorizationResponse.code(
                location: "app://cb?code=c&state=s&iss=o", redirectURI: "app://cb", state: "s", issuer: "i\u{1B}[2J")
        }
        for location in [nil, "https://op/login?goto=https://app.example.com/cb", "https://app.example.com/cbx?code=c&state=s"] {
            #expect {
                _ = try AuthorizationResponse.code(location: location, redirectURI: Self.redirect, state: "s")
            } throws: { ($0 as? OAuthError)?.code == .notRedirected }
        }
    }
}
