import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The modules about the login of the user of the Basic and of the Form Post plan.
@Suite("OpenID provider: logins with prompt, max_age and id_token_hint")
struct OpenIDLoginTests {
    /// The errors of a request that needs a page although it forbids pages (OpenID Connect Core section 3.1.2.6).
    static let needsPage = ["interaction_required", "login_required", "account_selection_required", "consent_required"]

    /// Checks the page of a second login, at which a person looks.
    private func checkLoginPage(_ page: WebAnswer?) throws {
        let page = try #require(page)
        #expect(page.status == 200 && page.isPage && page.heading == "Sign In")
    }

    @Test("A request with prompt=login makes a logged-in user log in again", arguments: AnswerMode.allCases)
    func promptLoginAsksAgain(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let first = try await client.logIn()
            provider.clock.advance(by: 1)
            let authorization = try await client.authorize(["prompt": "login"])
            try checkLoginPage(authorization.loginPage)
            let second = try await client.tokens(authorization)
            let times = [first, second].map { $0.claims["auth_time"]?.lenientInteger ?? 0 }
            #expect(times[0] < times[1])
        }
    }

    @Test(
        "A request with max_age asks a user again whose login is older, and the id_token has the time of the new login",
        arguments: AnswerMode.allCases)
    func maxAgeAsksAgain(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let first = try await client.logIn()
            provider.clock.advance(by: 2)
            let authorization = try await client.authorize(["max_age": "1"])
            try checkLoginPage(authorization.loginPage)
            let second = try await client.tokens(authorization)
            let (before, after) = (first.claims["auth_time"]?.lenientInteger ?? 0, second.claims["auth_time"]?.lenientInteger)
            let time = try #require(after)
            #expect(before < time && time >= Int64(provider.clock.now.timeIntervalSince1970) - 1)
        }
    }

    @Test("A request with prompt=none and without a session is reported to the client", arguments: AnswerMode.allCases)
    func promptNoneReportsMissingLogin(mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let authorization = try await client.authorize(["prompt": "none"])
            #expect(authorization.loginPage == nil)
            let error = try client.error(authorization)
            #expect(Self.needsPage.contains(error))
        }
    }

    /// A module with two requests of one login.
    struct SameLogin: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first: [String: String?] = [:]
        var second: [String: String?]
        var sendsHint = false
    }

    private static let sameLogins = [
        SameLogin(testDescription: "oidcc-prompt-none-logged-in", second: ["prompt": "none"]),
        SameLogin(testDescription: "oidcc-max-age-10000", first: ["max_age": "15000"], second: ["max_age": "10000"]),
        SameLogin(testDescription: "oidcc-id-token-hint", second: ["prompt": "none"], sendsHint: true),
    ]

    @Test(
        "The second request of a logged-in user is answered without a page, about the same login",
        arguments: sameLogins, AnswerMode.allCases)
    func answersSameLoginSilently(login: SameLogin, mode: AnswerMode) async throws {
        try await ProviderUnderTest.run { provider in
            let client = try OpenIDRelyingParty(provider, mode: mode)
            let first = try await client.logIn(login.first)
            provider.clock.advance(by: 1)
            var request = login.second
            if login.sendsHint { request["id_token_hint"] = first.id }
            let authorization = try await client.authorize(request)
            #expect(authorization.loginPage == nil)
            let second = try await client.tokens(authorization)
            #expect(first.claims["auth_time"] != nil && first.claims["auth_time"] == second.claims["auth_time"])
            #expect(first.claims["sub"] == second.claims["sub"])
        }
    }
}
