import Foundation
import SignetCore
import SignetOAuth
import SignetStorage
import TestSupport
import Testing

@Suite("Session and tokens of the ForgeRock SDK for iOS")
struct LegacyTokensTests {
    private static let service = "https://am.example.test/am/alpha/com.forgerock.ios.keychainservice"
    private static let now = Date(timeIntervalSince1970: 1_735_700_000)

    private static func owner(
        url: String = "https://am.example.test/am", bundle: String = "com.example.app", accessGroup: String? = nil
    ) -> LegacyTokens.Owner {
        LegacyTokens.Owner(url: url, realm: "alpha", bundle: bundle, accessGroup: accessGroup)
    }

    @Test(
        "The session, the tokens and the cookies of a server are read, with and without an access group",
        arguments: [nil, "group"] as [String?])
    func readsLegacySession(accessGroup: String?) throws {
        let legacy = try LegacyTokens(in: LegacyArchive.fixture(), of: Self.owner(accessGroup: accessGroup), now: Self.now)
        #expect(
            legacy.session == SSOToken(value: Secret(text: "forgerock-session"), successURL: "/am/console", realm: "/alpha"))
        let token = try #require(legacy.token)
        #expect(token.value == Secret(text: "forgerock-access") && token.refreshToken == Secret(text: "forgerock-refresh"))
        #expect(token.scope == "openid profile" && token.idToken == nil)
        #expect(token.issuedAt == Date(timeIntervalSince1970: 1_735_689_600.5))
        #expect(token.expiresAt == Date(timeIntervalSince1970: 1_735_693_200.5))
        #expect(token.session == legacy.session.map(SessionIdentity.init))
        let cookie = try #require(legacy.cookies.cookies.first)
        #expect(cookie.name == "iPlanetDirectoryPro" && cookie.isHostOnly && cookie.isSecure && cookie.isHTTPOnly)
        #expect(legacy.cookies.cookies(for: "https://am.example.test/am/json", now: Self.now).count == 1)
        #expect(legacy.damaged.isEmpty)
    }

    @Test("Another server, realm or app has nothing to take over")
    func separatesServers() throws {
        let others = [
            Self.owner(url: "https://other.example.test/am"), Self.owner(url: "https://am.example.test"),
            Self.owner(bundle: "com.example.other"),
        ]
        for owner in others {
            let legacy = try LegacyTokens(in: LegacyArchive.fixture(), of: owner, now: Self.now)
            #expect(legacy.isEmpty && legacy.damaged.isEmpty)
        }
    }

    @Test("A session whose tokens are damaged is read alone")
    func readsSessionWithoutTokens() throws {
        let part = ChangedLegacyStore(try LegacyArchive.fixture()) { service, item in
            service.hasSuffix(".local") ? nil : item.content
        }
        let legacy = try LegacyTokens(in: part, of: Self.owner(), now: Self.now)
        #expect(legacy.session != nil && legacy.token == nil)
        #expect(legacy.damaged == ["access_token"])
    }

    @Test("Tokens of a session that does not open are not taken over without it")
    func refusesTokensWithoutSession() throws {
        let part = ChangedLegacyStore(try LegacyArchive.fixture()) { _, item in
            item.name == "sso_token" ? nil : item.content
        }
        let legacy = try LegacyTokens(in: part, of: Self.owner(), now: Self.now)
        #expect(legacy.session == nil && legacy.token == nil)
        #expect(legacy.damaged == ["sso_token"])
    }
}
