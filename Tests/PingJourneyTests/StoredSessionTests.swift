import Foundation
import PingJourney
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("A session that the Ping SDK stored")
struct StoredSessionTests {
    private struct Login {
        /// The items in the form of the Ping SDK.
        var items: [String: Data]
        var session: String
        var token: String
    }

    /// Logs in, and returns what the Ping SDK would have stored.
    private static func login(at machine: JourneyFixture) async throws -> Login {
        let journey = machine.journey()
        let success = try #require(try await logIn(journey) as? SuccessNode)
        let token = try await (try #require(await journey.journeyUser())).token().get()
        let session: [String: Any] = ["value": success.session.value, "successUrl": "/console", "realm": "/alpha"]
        let tokens: [String: Any] = [
            "access_token": token.accessToken, "token_type": "Bearer", "scope": token.scope ?? "", "expires_in": 600,
            "refresh_token": token.refreshToken ?? "", "id_token": token.idToken ?? "", "expires_at": Int(token.expiresAt),
        ]
        let cookies: [[String: Any]] = [
            [
                "version": 0, "name": "tenant", "value": "one", "isSessionOnly": true, "domain": "am.example.test", "path": "/",
                "isSecure": true, "isHTTPOnly": true,
            ]
        ]
        let items = [
            "com.pingidentity.journey.SessionConfig": try JSONSerialization.data(withJSONObject: session),
            "ACCESS_TOKEN_STORAGE": try JSONSerialization.data(withJSONObject: tokens),
            "COOKIE_STORAGE": try JSONSerialization.data(withJSONObject: cookies),
        ]
        return Login(items: items, session: success.session.value, token: token.accessToken)
    }

    /// Returns a new vault that took over the items of an exported archive.
    private static func keychain(_ items: [String: Data]) async throws -> VaultProvider {
        let memory = MemoryStore()
        let keychain = VaultProvider { () throws(StoreError) in memory }
        let list: [[String: Any]] = items.map {
            ["svce": "com.pingidentity.keychainService", "acct": $0.key, "v_Data": $0.value]
        }
        let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        _ = try await keychain.takeOverItems(from: LegacyArchive(bytes))
        return keychain
    }

    private static func sealed(_ items: [String: Data]) async throws -> ([String: Data], SoftwareKeyEncryptor) {
        let encryptor = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 7, count: 32)))
        var sealed: [String: Data] = [:]
        for (name, content) in items { sealed[name] = try await encryptor.encrypt(data: content) }
        return (sealed, encryptor)
    }

    @Test("The first journey has the user, the tokens and the cookies without a request, and a log-out ends that for all starts")
    func takesOverLogin() async throws {
        try await JourneyFixture.with { machine in
            let login = try await Self.login(at: machine)
            let keychain = try await Self.keychain(login.items)
            let configure = { @Sendable (config: JourneyConfig) in
                config[setting: JourneySettings.keychain] = keychain
                config.module(CookieModule.config) { $0.persist = ["tenant"] }
            }
            machine.network.clear()
            let journey = machine.journey(configure)
            let session = await journey.session()
            let hasCookies = await journey.hasCookies()
            #expect(session?.value == login.session && session?.realm == "/alpha" && hasCookies)
            // The tokens may be read at a later start than the session.
            let user = try #require(await machine.journey(configure).journeyUser())
            let token = try await user.token().get()
            #expect(token.accessToken == login.token && machine.network.requests.isEmpty)

            machine.clock.advance(by: 601)
            let renewed = try await user.token().get()
            #expect(renewed.accessToken != login.token)
            await user.logout()
            let after = await machine.journey(configure).journeyUser()
            #expect(after == nil)
        }
    }

    @Test("Items that the Ping SDK sealed are opened, and only for the first server or realm")
    func takesOverSealedLogin() async throws {
        try await JourneyFixture.with { machine in
            let login = try await Self.login(at: machine)
            let (items, encryptor) = try await Self.sealed(login.items)
            let keychain = try await Self.keychain(items)
            let configure = { @Sendable (config: JourneyConfig) in
                config[setting: JourneySettings.keychain] = keychain
                config[setting: JourneySettings.encryptor] = encryptor
            }
            machine.network.clear()
            let user = try #require(await machine.journey(configure).journeyUser())
            let token = try await user.token().get()
            #expect(user.session?.value == login.session && token.accessToken == login.token)
            #expect(machine.network.requests.isEmpty)
            let other = machine.journey { config in
                configure(config)
                config.realm = "beta"
            }
            let none = await other.session()
            #expect(none == nil)
        }
    }

    @Test("A journey in another realm than that of the session gets nothing, and leaves all items for the right one")
    func leavesLoginOfOtherRealm() async throws {
        try await JourneyFixture.with { machine in
            let login = try await Self.login(at: machine)
            let keychain = try await Self.keychain(login.items)
            let configure = { @Sendable (config: JourneyConfig) in config[setting: JourneySettings.keychain] = keychain }
            machine.network.clear()
            let other = machine.journey { config in
                configure(config)
                config.realm = "beta"
            }
            let none = await other.session()
            let otherUser = await other.journeyUser()
            #expect(none == nil && otherUser == nil)
            let user = try #require(await machine.journey(configure).journeyUser())
            let token = try await user.token().get()
            #expect(user.session?.value == login.session && token.accessToken == login.token)
            #expect(machine.network.requests.isEmpty)
        }
    }

    @Test("Items that do not open are left, and the journey starts without a session")
    func startsWithoutUnreadableSession() async throws {
        try await JourneyFixture.with { machine in
            let login = try await Self.login(at: machine)
            let (items, _) = try await Self.sealed(login.items)
            let keychain = try await Self.keychain(items)
            let other = try SoftwareKeyEncryptor(privateKey: Secret([UInt8](repeating: 8, count: 32)))
            for _ in 1...2 {
                let journey = machine.journey { config in
                    config[setting: JourneySettings.keychain] = keychain
                    config[setting: JourneySettings.encryptor] = other
                }
                let (session, node) = (await journey.session(), await journey.start("Login"))
                #expect(session == nil && node is ContinueNode)
            }
            let left = try await keychain.read { (records) throws(StoreError) -> [UInt8]? in
                try records.record(RecordKey(.item, "com.pingidentity.journey.SessionConfig"))
            }
            let sealed = items["com.pingidentity.journey.SessionConfig"].map { Array($0) }
            #expect(left == sealed)
        }
    }

    @Test("Tokens of the Ping SDK are not used beside a session of another login")
    func ignoresTokensBesideOtherSession() async throws {
        try await JourneyFixture.with { machine in
            let login = try await Self.login(at: machine)
            let keychain = try await Self.keychain(login.items.filter { $0.key == "ACCESS_TOKEN_STORAGE" })
            let journey = machine.journey { $0[setting: JourneySettings.keychain] = keychain }
            _ = try await logIn(journey)
            let token = try await (try #require(await journey.journeyUser())).token().get()
            #expect(token.accessToken != login.token)
        }
    }
}
