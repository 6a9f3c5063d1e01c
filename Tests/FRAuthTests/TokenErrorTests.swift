import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Tests of the errors about tokens: protocol/journey.md section 4.8.
@Suite("Token errors of FRAuth")
struct TokenErrorTests {
    @Test(
        "A token error has the ForgeRock SDK's code, and keeps the token and the session",
        arguments: [
            (400, #"{"error":"invalid_request"}"#, 1_500_001), (401, #"{"error":"invalid_client"}"#, 1_500_002),
            (400, #"{"error":"unauthorized_client"}"#, 1_500_004), (400, #"{"error":"unsupported_grant_type"}"#, 1_500_005),
            (400, #"{"error":"invalid_scope","error_description":"no"}"#, 1_500_007),
            (403, #"{"error":"access_denied"}"#, 1_500_009), (400, #"{"error":"who_knows"}"#, 1_500_098),
            (503, "", 1_300_000), (404, "<html>", 1_300_000), (400, "", 1_300_000), (200, "<html>", 5_000_003),
            (400, #"{"code":400,"reason":"Bad Request","message":"no such client"}"#, 1_300_002),
        ])
    func mapsTokenErrorCodes(status: Int, body: String, code: Int) async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard request.url.contains("access_token") || request.url.contains("authorize") else {
                    return try await network.send(request)
                }
                return HTTPResponse(status: status, body: Array(body.utf8))
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try #require(FRUser.currentUser)
                let token = user.token
                do {
                    try await user.refresh()
                    Issue.record("the token was renewed")
                } catch {
                    #expect((error as? any CodedFRError)?.code == code, "\(error)")
                    if let error = error as? AuthApiError { #expect(error.status == status) }
                }
                #expect(user.token == token && FRSession.currentSession != nil)
            }
            await network.close()
        }
    }

    @Test(
        "A token request that needs the user's interaction fails with its own code and keeps the session",
        arguments: [
            ("?error=consent_required", 1_500_098), ("?error=interaction_required", 1_500_098),
            ("?error=login_required", 1_500_098), (nil, 1_500_008),
        ] as [(String?, Int)])
    func keepsSessionWhenInteractionIsRequired(answer: String?, code: Int) async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard request.url.contains("/authorize") else { return try await network.send(request) }
                let query = FormCoding.query(of: request.url)
                let back = answer.map { "\(query["redirect_uri"] ?? "")\($0)&state=\(query["state"] ?? "")" }
                return HTTPResponse(status: 302, headers: ["Location": back ?? "/consent"])
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try #require(FRUser.currentUser)
                try await user.revokeAccessToken()
                do {
                    try await user.getAccessToken()
                    Issue.record("the request returned a token")
                } catch {
                    #expect((error as? any CodedFRError)?.code == code, "\(error)")
                }
                #expect(FRSession.currentSession != nil && FRUser.browser() != nil)
            }
            await network.close()
        }
    }

    @Test(
        "After an error that requires a login, a login works, although the server doesn't state that the session has ended",
        arguments: [400, 403, 404], [true, false])
    func logsInWhenLoginIsRequired(status: Int, hasToken: Bool) async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            let network = AsyncHTTPTransport()
            let isBroken = Mutex(true)
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard isBroken.withLock({ $0 }) else { return try await network.send(request) }
                if request.url.contains("/authorize") { return HTTPResponse(status: 302, headers: ["Location": "/login"]) }
                if request.url.contains("getSessionInfo") { return HTTPResponse(status: status, body: Array("<html>".utf8)) }
                if request.url.contains("access_token") {
                    return HTTPResponse(status: 400, body: Array(#"{"error":"invalid_request"}"#.utf8))
                }
                return try await network.send(request)
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try #require(FRUser.currentUser)
                let session = try #require(FRSession.currentSession?.sessionToken)
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { _ = try await FRUser.login() }
                if !hasToken { try await user.revokeAccessToken() }
                await #expect(throws: AuthError.userAuthenticationRequired) {
                    if hasToken { try await user.refresh() } else { try await user.getAccessToken() }
                }
                #expect(FRSession.currentSession?.sessionToken == session)
                isBroken.withLock { $0 = false }
                let again = try await logIn()
                #expect(again.token != nil && FRSession.currentSession != nil)
                let start = transport.requests.last { $0.url.contains("authIndexValue") }
                #expect(start?.url.contains("ForceAuth=true") == true)
                await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { _ = try await FRUser.login() }
            }
            await network.close()
        }
    }

    @Test("Each error about tokens has its domain, code and description")
    func numbersTokenErrors() {
        let reason = "r"
        let errors: [any CodedFRError] = [
            OAuth2Error.invalidAuthorizeRequest(reason), OAuth2Error.invalidClient(reason), OAuth2Error.invalidGrant(reason),
            OAuth2Error.unauthorizedClient(reason), OAuth2Error.unsupportedGrantType(reason),
            OAuth2Error.unsupportedResponseType(reason), OAuth2Error.invalidScope(reason),
            OAuth2Error.missingOrInvalidRedirectURI(reason), OAuth2Error.accessDenied(reason),
            OAuth2Error.invalidPKCEState, OAuth2Error.other(reason), OAuth2Error.unknown(reason),
            BrowserError.externalUserAgentFailure, BrowserError.externalUserAgentAuthenticationInProgress,
            BrowserError.externalUserAgentCancelled, TokenError.failToParseToken(reason), TokenError.nullRefreshToken,
            TokenError.nullToken,
        ]
        #expect(
            errors.map(\.code) == [
                1_500_001, 1_500_002, 1_500_003, 1_500_004, 1_500_005, 1_500_006, 1_500_007, 1_500_008, 1_500_009, 1_500_010,
                1_500_098, 1_500_099, 1_400_000, 1_400_001, 1_400_002, 3_000_000, 3_000_001, 3_000_002,
            ])
        let nameless = errors.filter { $0.description.isEmpty || !type(of: $0).domain.hasPrefix("com.forgerock.ios.") }
        #expect(nameless.isEmpty)
    }
}
