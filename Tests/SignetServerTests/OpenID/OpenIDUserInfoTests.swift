import SignetCore
import SignetNetwork
import TestSupport
import Testing

@testable import SignetServer

/// The modules about the userinfo endpoint and the requested claims of the Basic and of the Form Post plan.
@Suite("OpenID provider: userinfo and requested claims")
struct OpenIDUserInfoTests {
    /// The standard claims of each scope (OpenID Connect Core section 5.4).
    private static let claims: [String: Set<String>] = [
        "openid": ["sub"], "email": ["email", "email_verified"], "address": ["address"],
        "phone": ["phone_number", "phone_number_verified"],
        "profile": [
            "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website",
            "gender", "birthdate", "zoneinfo", "locale", "updated_at",
        ],
    ]

    /// A module with a request to the userinfo endpoint.
    struct UserInfoRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: String
        let isInForm: Bool
    }

    private static let requests = [
        UserInfoRequest(testDescription: "oidcc-userinfo-get", method: "GET", isInForm: false),
        UserInfoRequest(testDescription: "oidcc-userinfo-post-header", method: "POST", isInForm: false),
        UserInfoRequest(testDescription: "oidcc-userinfo-post-body", method: "POST", isInForm: true),
    ]

    @Test(
        "The userinfo endpoint takes the access token in the header of GET and POST, and in the form of POST",
        arguments: requests, AnswerMode.allCases)
    func answersUserInfoRequest(request: UserInfoRequest, mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn()
            let header: [String: String] = request.isInForm ? [:] : ["Authorization": "Bearer \(tokens.access)"]
            let form: [String: String?]? = request.isInForm ? ["access_token": tokens.access] : nil
            let answer = try await provider.send(request.method, "userinfo_endpoint", headers: header, form)
            let claims = try client.claims(in: answer, of: tokens)
            // A request for the scope openid alone discloses nothing else.
            #expect(Set(claims.keys) == ["sub"])
        }
    }

    /// A module with a request for scopes.
    struct ScopeRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let scopes: [String]
    }

    private static let scopeRequests = [
        ScopeRequest(testDescription: "oidcc-scope-profile", scopes: ["openid", "profile"]),
        ScopeRequest(testDescription: "oidcc-scope-email", scopes: ["openid", "email"]),
        ScopeRequest(testDescription: "oidcc-scope-address", scopes: ["openid", "address"]),
        ScopeRequest(testDescription: "oidcc-scope-phone", scopes: ["openid", "phone"]),
        ScopeRequest(testDescription: "oidcc-scope-all", scopes: ["openid", "email", "phone", "address", "profile"]),
    ]

    @Test(
        "The userinfo endpoint returns every standard claim of the requested scopes and no other",
        arguments: scopeRequests, AnswerMode.allCases)
    func userInfoHasClaimsOfScopes(request: ScopeRequest, mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            // Otherwise the suite skips the module.
            #expect(Set(provider.list("scopes_supported")).isSuperset(of: request.scopes))
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn(["scope": request.scopes.joined(separator: " ")])
            let granted = (tokens.json["scope"]?.string ?? "").split(separator: " ").map { String($0) }
            #expect(Set(granted) == Set(request.scopes))
            let expected = request.scopes.reduce(into: Set<String>()) { $0.formUnion(Self.claims[$1] ?? []) }
            let claims = try await client.userInfo(tokens)
            #expect(Set(claims.keys) == expected)
        }
    }

    @Test("The order of the scopes and of the parameters of a request has no meaning", arguments: AnswerMode.allCases)
    func takesScopesAndParametersInAnyOrder(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let parameters = client.parameters(["scope": "email openid"])
            let query = parameters.compactMapValues { $0 }.sorted { $0.key > $1.key }
                .map { "\($0.key)=\($0.value.percentEncoded())" }.joined(separator: "&")
            let endpoint = try provider.endpoint("authorization_endpoint")
            let page = try await client.browser.open("\(endpoint)?\(query)")
            let authorization = try await client.finish(page, nonce: parameters["nonce"] ?? nil)
            let tokens = try await client.tokens(authorization)
            let claims = try await client.userInfo(tokens)
            #expect(Set(claims.keys) == ["sub", "email", "email_verified"])
        }
    }

    @Test(
        "An essential claim of the parameter claims comes from the userinfo endpoint and is not in the id_token",
        arguments: AnswerMode.allCases)
    func essentialClaimComesFromUserInfo(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.metadata["claims_parameter_supported"] == .bool(true))
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn(["claims": #"{"userinfo":{"name":{"essential":true}}}"#])
            #expect(tokens.claims["name"] == nil)
            let claims = try await client.userInfo(tokens)
            #expect(claims["name"] == "Mira Holm")
            #expect(Set(claims.keys) == ["sub", "name"])
        }
    }
}
