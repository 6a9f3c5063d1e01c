import SignetCore
import SignetNetwork
import TestSupport
import Testing

@testable import SignetServer

/// The modules about the parameters of authorization requests of the Basic and of the Form Post plan.
@Suite("OpenID provider: parameters of authorization requests")
struct OpenIDRequestTests {
    /// A module with a parameter that the server may ignore.
    struct VoluntaryParameter: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let value: String
    }

    private static let voluntary = [
        VoluntaryParameter(testDescription: "oidcc-display-page", name: "display", value: "page"),
        VoluntaryParameter(testDescription: "oidcc-display-popup", name: "display", value: "popup"),
        VoluntaryParameter(
            testDescription: "oidcc-ensure-request-with-unknown-parameter-succeeds", name: "not_a_parameter", value: "1"),
        VoluntaryParameter(testDescription: "oidcc-login-hint", name: "login_hint", value: "mira@127.0.0.1"),
        VoluntaryParameter(testDescription: "oidcc-ui-locales", name: "ui_locales", value: "se"),
        VoluntaryParameter(testDescription: "oidcc-claims-locales", name: "claims_locales", value: "se"),
    ]

    @Test("A parameter that the server may ignore does no harm", arguments: voluntary, AnswerMode.allCases)
    func acceptsVoluntaryParameter(parameter: VoluntaryParameter, mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let authorization = try await client.authorize([parameter.name: parameter.value])
            // A person sees the login page.
            let page = try #require(authorization.loginPage)
            #expect(page.status == 200 && page.heading == "Sign In")
            let tokens = try await client.tokens(authorization)
            #expect(try await client.userInfo(tokens)["sub"] == "mira")
        }
    }

    @Test("A request without response_type is reported to the client", arguments: AnswerMode.allCases)
    func reportsMissingResponseType(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let error = try client.error(try await client.authorize(["response_type": nil]))
            #expect(["invalid_request", "unsupported_response_type"].contains(error))
        }
    }

    @Test("An authorization request may come by POST", arguments: AnswerMode.allCases)
    func authorizationRequestByPostSucceeds(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.tokens(try await client.authorize(byPost: true))
            #expect(try await client.userInfo(tokens)["sub"] == "mira")
        }
    }

    @Test(
        "A request for all offered acr_values gets an id_token that names one of them",
        arguments: AnswerMode.allCases)
    func acrNamesRequestedJourney(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let offered = provider.list("acr_values_supported")
            #expect(!offered.isEmpty)
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let tokens = try await client.logIn(["acr_values": offered.joined(separator: " ")])
            let acr = try #require(tokens.claims["acr"]?.string)
            #expect(offered.contains(acr))
        }
    }

    // MARK: Request objects

    /// Returns an unsigned request object with the parameters of a request.
    private func requestObject(_ parameters: [String: String?]) -> String {
        let claims = parameters.compactMapValues { $0 }.mapValues { JSONValue.string($0) }
        let header = Base64.encode(Array(#"{"alg":"none"}"#.utf8), as: .url)
        return "\(header).\(Base64.encode(JSON.encode(JSONValue.object(claims)), as: .url))."
    }

    /// The changes that leave the parameters that a client has to send beside a request object (OpenID Connect Core section 6.1).
    ///
    /// The response mode is in the object alone too.
    private let onlyRequired: [String: String?] = ["state": nil, "nonce": nil, "response_mode": nil]

    @Test("A request object is answered with request_not_supported", arguments: AnswerMode.allCases)
    func requestObjectIsNotSupported(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.metadata["request_parameter_supported"] == .bool(false))
            #expect(provider.metadata["request_object_signing_alg_values_supported"] == nil)
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let object = requestObject(client.parameters())
            let authorization = try await client.authorize(onlyRequired.merging(["request": object]) { $1 })
            #expect(try client.error(authorization, state: nil) == "request_not_supported")
        }
    }

    @Test("A request object at an address is answered with request_uri_not_supported", arguments: AnswerMode.allCases)
    func requestURIIsNotSupported(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            #expect(provider.metadata["request_uri_parameter_supported"] == .bool(false))
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let address = "https://localhost.emobix.co.uk:8443/test/a/signet/requesturi/1#2"
            let authorization = try await client.authorize(["state": nil, "nonce": nil, "request_uri": address])
            #expect(try client.error(authorization, state: nil) == "request_uri_not_supported")
        }
    }

    // MARK: Redirect addresses

    @Test(
        "A request with an unregistered redirect address gets a page with the error, with and without a request object",
        arguments: [false, true], AnswerMode.allCases)
    func unregisteredRedirectAddressGetsPage(hasObject: Bool, mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            var changes: [String: String?] = ["redirect_uri": ProviderUnderTest.redirectURI + "_invalid"]
            if hasObject { changes.merge(onlyRequired.merging(["request": requestObject(client.parameters())]) { $1 }) { $1 } }
            let authorization = try await client.authorize(changes)
            let page = authorization.answer
            #expect(authorization.loginPage == nil && page.status == 400 && page.isPage)
            #expect(page.headers["Location"] == nil && page.form == nil)
            #expect(page.words.contains("The redirection URI provided does not match a pre-registered value."))
        }
    }
}
