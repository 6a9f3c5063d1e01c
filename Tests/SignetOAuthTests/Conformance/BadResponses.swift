import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import TestSupport

/// Deviations of the responses of the token endpoint, of the authorization endpoint, and of userinfo.
enum BadResponses {
    private static let page = HTTPResponse(
        status: 200, headers: ["Content-Type": "text/html"], body: Array("<html><title>Hotel</title>Log in first".utf8))

    private static func json(_ text: String, status: Int = 200) -> HTTPResponse { ScriptedProvider.json(text, status: status) }

    private static func redirect(_ status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Location": "https://evil.example.test/"])
    }

    /// Token responses whose tokens must not be used.
    static let tokens: [ProviderCase] = {
        var cases: [ProviderCase] = [
            .response("token_type", .string("mac"), .failed(.refused, "not Bearer"), "token_type is mac"),
            .response(
                "token_type", .string("DPoP"), .failed(.refused, "not Bearer"), "token_type is DPoP, which was not asked for"),
            .response("token_type", .string("Bearer x"), .failed(.refused, "not Bearer"), "token_type has two words"),
            .response("token_type", .integer(7), .failed(.refused, "not Bearer"), "token_type is a number"),
            .response("access_token", nil, .failed(.unreachable, "access token"), "no access token"),
            .response("access_token", .string(""), .failed(.unreachable, "access token"), "the access token is empty"),
            .response("access_token", .integer(7), .failed(.unreachable, "access token"), "the access token is a number"),
            .response("error", .string("server_error"), .failed(.unreachable, "server_error"), "an error beside the tokens"),
            .tokens(json(#"{"error":"invalid_client"}"#, status: 401), .failed(.refused, "invalid_client"), "refused client"),
            .tokens(json("[]"), .failed(.unreachable, "unreadable"), "a list"),
            .tokens(json(""), .failed(.unreachable, "unreadable"), "nothing"),
            .tokens(page, .failed(.unreachable, "unreadable"), "a page"),
            .tokens(redirect(307), .failed(.unreachable, "unreadable"), "a redirect to another server"),
            .tokens(json("{}", status: 500), .failed(.unreachable, "failed"), "an error of the server"),
        ]
        let nested = String(repeating: "[", count: 100_000)
        cases.append(.tokens(json(#"{"x":"# + nested), .failed(.unreachable, "unreadable"), "100,000 levels of lists"))
        for (name, text) in [
            ("CR LF", "access\r\nX-Header: 1"), ("LF", "access\n"), ("a NUL", "access\u{0}"),
            ("a letter outside of ASCII", "accessü"),
            ("a DEL", "access\u{7F}"),
        ] {
            cases.append(
                .response("access_token", .string(text), .failed(.refused, "access token has"), "the access token has \(name)"))
            cases.append(
                .response("refresh_token", .string(text), .failed(.refused, "refresh token has"), "the refresh token has \(name)")
            )
        }
        for member in [#""access_token":"other""#, #""id_token":"other""#, #""scope":"admin""#] {
            cases.append(
                ProviderCase("a member twice, \(member)", .failed(.refused, "repeatedMember")) {
                    $0.tokensText = { "{\(member)," + $0.dropFirst() }
                })
        }
        return cases
    }()

    /// Token responses that the client accepts.
    static let acceptedTokens: [ProviderCase] = [
        .response("token_type", .string("bEARER"), .accepted, "token_type in another case"),
        .response("token_type", nil, .accepted, "no token_type"),
        .response("expires_in", nil, .accepted, "no expires_in"),
        .response("expires_in", .string("3600"), .accepted, "expires_in is text"),
        .response("expires_in", .number(1e300), .accepted, "expires_in is huge"),
        .response("refresh_token", nil, .accepted, "no refresh token"),
        .response("scope", nil, .accepted, "no scope"),
        .response("scope", .array([.string("openid"), .string("profile")]), .accepted, "scope is a list"),
        .response("scope", .string("profile"), .accepted, "openid is not in the scope, and an ID token comes"),
        .response("x-future", .object([:]), .accepted, "an unknown member"),
        .claim("azp", .null, .accepted, "azp is null, which counts as missing"),
        ProviderCase("Date is not a date", .accepted) { $0.tokenHeaders = ["Date": "today"] },
        ProviderCase("the clock of the server is 2 hours late, in Date and in the ID token", .accepted) {
            $0.claims = { claims in
                guard case .integer(let now)? = claims["iat"] else { return }
                claims["iat"] = .integer(now - 7200)
                claims["exp"] = .integer(now - 6600)
            }
            $0.tokenHeaders = ["Date": HTTPDate.text(of: Date() - 7200)]
        },
    ]

    /// Responses to a refresh whose tokens must not be used.
    static let refreshes: [ProviderCase] = [
        .response("token_type", .string("mac"), .failed(.loginRequired, "unusableToken"), "token_type is mac"),
        .response("access_token", .string("a\r\nb"), .failed(.loginRequired, "unusableToken"), "the access token has CR LF"),
        .response("refresh_token", .string("a\u{0}"), .failed(.loginRequired, "unusableToken"), "the refresh token has a NUL"),
        ProviderCase("the access token twice", .failed(.loginRequired, "repeatedMember")) {
            $0.tokensText = { #"{"access_token":"other","# + $0.dropFirst() }
        },
        ProviderCase("sub twice in the ID token", .failed(.loginRequired, "form")) {
            $0.claimsText = { #"{"sub":"mallory","# + $0.dropFirst() }
        },
    ]

    /// Answers of the authorization endpoint that end the login before a code is used.
    static let answers: [ProviderCase] = [
        .adding("iss", "https://evil.example.test", .failed(.refused, "issuerMismatch"), "iss of another server"),
        .adding("iss", "\(ScriptedProvider.issuer)/", .failed(.refused, "issuerMismatch"), "iss with a slash at its end"),
        .adding("error", "access_denied", .failed(.refused, "access_denied"), "an error beside the code"),
        .answer("code", nil, .failed(.refused, "noCode"), "no code"),
        .answer("code", "", .failed(.refused, "noCode"), "an empty code"),
        .metadata(
            "authorization_response_iss_parameter_supported", .bool(true), .failed(.refused, "issuerMismatch"),
            "iss is promised and missing"),
    ]

    /// Answers of the authorization endpoint that the client accepts.
    static let acceptedAnswers: [ProviderCase] = [
        .adding("iss", ScriptedProvider.issuer, .accepted, "iss, which was not promised"),
        .adding("session_state", "x", .accepted, "an unknown field"),
        ProviderCase("iss is promised and there", .accepted) {
            $0.metadata = { $0["authorization_response_iss_parameter_supported"] = .bool(true) }
            $0.answer = { $0.append((name: "iss", value: ScriptedProvider.issuer)) }
        },
    ]

    /// Answers that are not those of this login, or can't be read: the client goes on waiting, and says at the end that they came.
    static let foreignAnswers: [ProviderCase] = {
        let refusal = ProviderCase.Expectation.failed(.cancelled, "1 answer that came was not the answer to this login")
        return [
            .answer("state", nil, refusal, "no state"), .answer("state", "other", refusal, "the state of another login"),
            .answer("state", "", refusal, "an empty state"),
            .adding("code", "other", refusal, "code twice"), .adding("state", "other", refusal, "state twice"),
            ProviderCase("iss twice", refusal) {
                $0.answer = { fields in
                    fields.append((name: "iss", value: ScriptedProvider.issuer))
                    fields.append((name: "iss", value: "https://evil.example.test"))
                }
            },
        ]
    }()

    /// Userinfo responses whose claims must not be used.
    static let userInfo: [ProviderCase] = {
        var cases: [ProviderCase] = [
            .userInfo("sub", nil, .failed(.idTokenRefused, "subject"), "no sub"),
            .userInfo("sub", .integer(7), .failed(.idTokenRefused, "subject"), "sub is a number"),
            .userInfo("sub", .string(""), .failed(.idTokenRefused, "subject"), "sub is empty"),
            .userInfo("sub", .string("Alice"), .failed(.idTokenRefused, "subject"), "sub in another case"),
            .userInfo(json("[]"), .failed(.unreachable, "unreadable"), "userinfo is a list"),
            .userInfo(page, .failed(.unreachable, "unreadable"), "userinfo is a page"),
            .userInfo(redirect(302), .failed(.unreachable, "unreadable"), "userinfo redirects to another server"),
            .signedUserInfo("iss", .string("https://evil.example.test"), .failed(.idTokenRefused, "issuer"), "another iss"),
            .signedUserInfo("aud", .string("other"), .failed(.idTokenRefused, "audience"), "another aud"),
            .signedUserInfo("sub", .string("mallory"), .failed(.idTokenRefused, "subject"), "another sub, signed"),
            .signedUserInfo("exp", .integer(1), .failed(.idTokenRefused, "expired"), "signed and expired"),
        ]
        cases.append(
            ProviderCase("sub twice", .failed(.refused, "repeatedMember")) {
                $0.userInfoText = { #"{"sub":"mallory","# + $0.dropFirst() }
            })
        cases.append(
            ProviderCase("signed, with sub twice", .failed(.idTokenRefused, "form")) {
                $0.signsUserInfo = true
                $0.userInfoText = { #"{"sub":"mallory","# + $0.dropFirst() }
            })
        cases.append(
            ProviderCase("signed by another key", .failed(.idTokenRefused, "signature")) {
                $0.signsUserInfo = true
                $0.userInfoSignature = { ProviderKey.shared[1].signature(of: $0, algorithm: "RS256") }
            })
        return cases
    }()

    /// Userinfo responses that the client accepts.
    static let acceptedUserInfo: [ProviderCase] = [
        .signedUserInfo("x-future", .null, .accepted, "signed userinfo"),
        .signedUserInfo("iss", nil, .accepted, "signed userinfo without iss"),
        .signedUserInfo("aud", .array([.string("app")]), .accepted, "signed userinfo with a list in aud"),
        .userInfo("_claim_names", .object(["age": .string("src1")]), .accepted, "aggregated or distributed claims"),
        .userInfo("email_verified", .string("true"), .accepted, "a Boolean value as text"),
    ]

    /// Discovery documents and key sets with which no login begins.
    static let metadata: [ProviderCase] = {
        let issuer = ScriptedProvider.issuer
        var cases: [ProviderCase] = [
            .metadata("issuer", nil, .failed(.notConfigured, "issuer"), "no issuer"),
            .metadata("issuer", .integer(7), .failed(.notConfigured, "issuer"), "the issuer is a number"),
            .metadata("issuer", .string("\(issuer)/alice"), .failed(.refused, "issuerMismatch"), "the issuer has another path"),
            .metadata(
                "issuer", .string("https://OP.example.test"), .failed(.refused, "issuerMismatch"), "the issuer in upper case"),
            .metadata("issuer", .string("\(issuer):443"), .failed(.refused, "issuerMismatch"), "the issuer with a port"),
            .metadata("issuer", .string("http://op.example.test"), .failed(.notConfigured, "issuer"), "the issuer with http"),
            .metadata(
                "authorization_endpoint", nil, .failed(.notConfigured, "authorization_endpoint"), "no authorization endpoint"),
            .metadata("token_endpoint", nil, .failed(.notConfigured, "token_endpoint"), "no token endpoint"),
            .metadata(
                "token_endpoint", .string("http://op.example.test/token"), .failed(.notConfigured, "token_endpoint"),
                "the token endpoint has http"),
            .metadata("jwks_uri", .array([]), .failed(.notConfigured, "jwks_uri"), "jwks_uri is a list"),
            .metadata(json("[]"), .failed(.unreachable, "unreadable"), "the document is a list"),
            .metadata(page, .failed(.unreachable, "unreadable"), "the document is a page"),
            .metadata(json("{}", status: 404), .failed(.refused, "404"), "the document is missing"),
            .metadata(redirect(301), .failed(.unreachable, "unreadable"), "the document is at another server"),
        ]
        cases.append(
            ProviderCase("the issuer twice", .failed(.refused, "repeatedMember")) {
                $0.metadataText = { #"{"issuer":"https://evil.example.test","# + $0.dropFirst() }
            })
        return cases
    }()
}
