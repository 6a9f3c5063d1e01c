import FRAuth
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import Testing

import struct FRAuth.AccessToken
import struct SignetOAuth.LogOutReport

/// The section "Session and token lifecycle" of the document on dynamic configuration, with a real server.
@Suite("Starting again")
struct LifeCycleTests {
    @Test("keeps the session and the tokens that were stored when the program ran before, and asks no server about it")
    func firstStart() async throws {
        try await Machine.with { machine in
            let (token, session) = try await machine.started {
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                let user = try await logIn()
                return (try #require(user.token), try #require(FRSession.currentSession?.sessionToken))
            }
            machine.requests.clear()
            try await machine.started {
                #expect(FRUser.currentUser?.token == token)
                #expect(FRSession.currentSession?.sessionToken == session)
                try await FRUser.currentUser?.getAccessToken()
                #expect(FRUser.currentUser?.token == token)
                #expect(await FRAuth.shared?.formerSession() == nil)
            }
            #expect(machine.requests.names.isEmpty)
        }
    }

    /// The six of the document, by their keys.
    private static let namedSettings: [(String, Change)] = [
        ("forgerock_cookie_name", Change { $0.cookieName = "46b42b4229cd7a3" }),
        ("forgerock_oauth_client_id", Change { $0.oauthClientId = "otherClient" }),
        ("forgerock_oauth_redirect_uri", Change { $0.oauthRedirectUri = "frauth://com.forgerock.ios.other" }),
        ("forgerock_oauth_scope", Change { $0.oauthScope = "openid" }),
        ("forgerock_realm", Change { $0.realm = "root" }),
        ("forgerock_url", Change { $0.url = $0.url.replacing("127.0.0.1", with: "localhost") }),
    ]

    @Test("revokes and removes the session and the tokens when one of the six settings has changed", arguments: namedSettings)
    func six(key: String, change: Change) async throws {
        try await Machine.with { machine in
            try await machine.started {
                let old = try await logIn()
                let token = try #require(old.token)
                let session = try #require(FRSession.currentSession?.sessionToken)
                #expect(try await machine.takes(token))
                #expect(try await machine.knows(session))

                var options = machine.options
                change.apply(&options)
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil && old.token == nil, "\(key)")
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.tokens == .done && report.session == .done && report.local == .done, "\(key): \(report)")
                #expect(try await !machine.takes(token))
                #expect(try await !machine.knows(session))
                await #expect(throws: TokenError.nullToken) { try await old.getAccessToken() }
                #expect(FRAuth.shared?.lastStorageError == nil)
            }
            // It is gone from the vault, too.
            try await machine.started { #expect(FRUser.currentUser == nil) }
        }
    }

    @Test("does so too when the setting changed while the program was not running", arguments: namedSettings)
    func sixBetweenRuns(key: String, change: Change) async throws {
        try await Machine.with { machine in
            let (token, session) = try await machine.started {
                (try #require(try await logIn().token), try #require(FRSession.currentSession?.sessionToken))
            }
            try await machine.program {
                var options = machine.options
                change.apply(&options)
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil, "\(key)")
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.tokens == .done && report.session == .done, "\(key): \(report)")
            }
            #expect(try await !machine.takes(token))
            #expect(try await !machine.knows(session))
        }
    }

    /// Every other setting, and what is to be seen of it at once.
    struct Other: Sendable {
        let key: String
        let change: Change
        /// Whether the session stays where it is looked for, and with it the token.
        let staysInPlace: Bool
        let effect: @Sendable (Machine, FRUser) async throws -> Void

        init(
            _ key: String, staysInPlace: Bool = true, _ change: @escaping @Sendable (inout FROptions) -> Void,
            shows effect: @escaping @Sendable (Machine, FRUser) async throws -> Void
        ) {
            self.key = key
            self.change = Change(change)
            self.staysInPlace = staysInPlace
            self.effect = effect
        }

        /// An override of an address that is asked when `ask` runs.
        static func endpoint(
            _ key: String, action: String, _ change: @escaping @Sendable (inout FROptions) -> Void,
            asked ask: @escaping @Sendable (FRUser) async throws -> Void
        ) -> Other {
            Other(
                key, change,
                shows: { machine, user in
                    // Nobody is there; where it was asked is what counts.
                    _ = try? await ask(user)
                    #expect(machine.requests.last(action)?.url.hasPrefix("\(machine.url)/elsewhere") == true, "\(key)")
                })
        }
    }

    private static let otherSettings: [Other] = [
        Other("forgerock_timeout") {
            $0.timeout = "77"
        } shows: { machine, user in
            _ = try await user.getUserInfo()
            #expect(machine.requests.last("USER_INFO")?.timeoutInterval == 77)
        },
        Other("forgerock_enable_cookie") {
            $0.enableCookie = false
        } shows: { machine, user in
            _ = await user.logout().value
            #expect(machine.requests.last("LOGOUT")?.headers["Cookie"] == nil)
            #expect(machine.requests.last("LOGOUT")?.headers["iPlanetDirectoryPro"] != nil)
        },
        Other("forgerock_auth_service_name") {
            $0.authServiceName = "SomeJourney"
        } shows: { machine, user in
            _ = await user.logout().value
            _ = try? await FRUser.login()
            #expect(machine.requests.last("START_AUTHENTICATE")?.url.contains("authIndexValue=SomeJourney") == true)
        },
        Other("forgerock_registration_service_name") {
            $0.registrationServiceName = "SomeJourney"
        } shows: { machine, user in
            _ = await user.logout().value
            _ = try? await FRUser.register()
            #expect(machine.requests.last("START_AUTHENTICATE")?.url.contains("authIndexValue=SomeJourney") == true)
        },
        Other("forgerock_oauth_threshold") {
            $0.oauthThreshold = "1700"
        } shows: { machine, user in
            machine.clock.advance(by: 1901)
            try await user.getAccessToken()
            #expect(machine.requests.names.contains("REFRESH_TOKEN"))
        },
        Other("forgerock_oauth_sign_out_redirect_uri") {
            $0.oauthSignoutRedirectUri = "frauth://bye"
        } shows: { machine, user in
            _ = await user.logout(forceEndSession: true).value
            #expect(machine.requests.last("END_SESSION")?.url.contains("post_logout_redirect_uri=frauth") == true)
        },
        Other("forgerock_keychain_access_group", staysInPlace: false) {
            $0.keychainAccessGroup = "com.example.shared"
        } shows: { machine, user in
            // The group has no session yet, and the token came from the app's own, to which it can go back.
            #expect(FRSession.currentSession == nil && FRUser.currentUser == nil && user.token == nil)
            try FRAuth.start(options: machine.options)
            #expect(FRSession.currentSession != nil && FRUser.currentUser?.token != nil)
        },
        Other("forgerock_ssl_pinning_public_key_hashes") {
            $0.sslPinningPublicKeyHashes = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
        } shows: { machine, user in
            // Without https nothing can be pinned: it is refused before a byte leaves.
            await #expect(throws: NetworkError.self) { try await user.getUserInfo() }
        },
        .endpoint("forgerock_authenticate_endpoint", action: "START_AUTHENTICATE") {
            $0.authenticateEndpoint = "elsewhere"
        } asked: {
            _ in
            _ = try await FRSession.authenticate(Token.self, authIndexValue: "Login")
        },
        .endpoint("forgerock_authorize_endpoint", action: "AUTHORIZE") {
            $0.authorizeEndpoint = "elsewhere"
        } asked: { user in
            try await user.revokeAccessToken()
            try await user.getAccessToken()
        },
        .endpoint("forgerock_token_endpoint", action: "REFRESH_TOKEN") {
            $0.tokenEndpoint = "/elsewhere"
        } asked: { user in
            try await user.refresh()
        },
        .endpoint("forgerock_revoke_endpoint", action: "REVOKE_TOKEN") {
            $0.revokeEndpoint = "elsewhere"
        } asked: { user in
            try await user.revokeAccessToken()
        },
        .endpoint("forgerock_userinfo_endpoint", action: "USER_INFO") {
            $0.userinfoEndpoint = "elsewhere"
        } asked: { user in
            _ = try await user.getUserInfo()
        },
        .endpoint("forgerock_session_endpoint", action: "LOGOUT") {
            $0.sessionEndpoint = "elsewhere"
        } asked: { user in
            _ = await user.logout().value
        },
        .endpoint("forgerock_endsession_endpoint", action: "END_SESSION") {
            $0.endSessionEndpoint = "elsewhere"
        } asked: { user in
            _ = await user.logout(forceEndSession: true).value
        },
    ]

    @Test("keeps everything when any other setting has changed, which takes effect at once", arguments: otherSettings.indices)
    func others(index: Int) async throws {
        let other = Self.otherSettings[index]
        try await Machine.with { machine in
            try await machine.started {
                let user = try await logIn()
                let token = try #require(user.token)
                var options = machine.options
                other.change.apply(&options)
                machine.requests.clear()
                try FRAuth.start(options: options)
                #expect(FRAuth.shared?.options == options)
                if other.staysInPlace { #expect(user.token?.value == token.value, "\(other.key)") }
                #expect(await FRAuth.shared?.formerSession() == nil)
                #expect(machine.requests.names.isEmpty)
                try await other.effect(machine, user)
            }
        }
    }

    @Test("names every setting among those above")
    func complete() {
        var options = FROptions(
            url: "u", realm: "r", authorizeEndpoint: "a", tokenEndpoint: "t", revokeEndpoint: "v", userinfoEndpoint: "i",
            sessionEndpoint: "s", endSessionEndpoint: "e", oauthThreshold: "9", oauthClientId: "id", oauthRedirectUri: "x:y",
            oauthSignoutRedirectUri: "z:w", oauthScope: "openid", keychainAccessGroup: "g", sslPinningPublicKeyHashes: ["h"])
        options.authenticateEndpoint = "n"
        #expect(Set(Self.namedSettings.map(\.0) + Self.otherSettings.map(\.key)) == Set(options.optionsDictionary().keys))
    }

    @Test("does nothing with the same settings")
    func same() async throws {
        try await Machine.with { machine in
            try await machine.started {
                try await logIn()
                let before = FRAuth.shared
                try FRAuth.start(options: machine.options)
                #expect(FRAuth.shared === before)
            }
        }
    }

    @Test("removes what is stored also when the server cannot be reached, and says what lives on there")
    func offline() async throws {
        try await Machine.with { machine in
            try await machine.started { try await logIn() }
            try await machine.program {
                $0.transport = ScriptedTransport { (request) throws(TransportError) in
                    throw TransportError(.connect, host: "am.example.test", "no route")
                }
            } _: {
                var options = machine.options
                options.realm = "root"
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil)
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.local == .done && !report.tokens.isOver && !report.session.isOver && !report.isComplete)
            }
            try await machine.started { #expect(FRUser.currentUser == nil) }
        }
    }

    @Test("a journey of the old server that comes to its end later puts no session where the new one's belongs")
    func lateJourney() async throws {
        try await Machine.with { machine in
            try await machine.started {
                guard case .node(let node) = try await FRUser.login() else { throw Unexpected() }
                var options = machine.options
                options.oauthClientId = "otherClient"
                try FRAuth.start(options: options)
                fill(node)
                await #expect(throws: StoreError.self) { _ = try await node.next(FRUser.self) }
                #expect(FRUser.currentUser == nil)
            }
        }
    }

    @Test("answers what is stored from however many threads, each of another program that has just been started")
    func manyAtOnce() async throws {
        try await Machine.with { machine in
            try await machine.started { try await logIn() }
            let seen = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        (try? await machine.started { FRUser.currentUser != nil && FRSession.currentSession != nil }) ?? false
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(seen == 64)
        }
    }

    @Test("apps of one access group share the session and not the tokens, and a log-out of one is one of all")
    func accessGroup() async throws {
        try await Machine.with { machine in
            var options = machine.options
            options.keychainAccessGroup = "com.example.shared"
            let shared = options
            func run<R>(_ application: String, _ body: () async throws -> R) async throws -> R {
                try await machine.program(application: application) {
                    $0.lockFile = machine.directory.file("shared.lock")
                } _: {
                    try FRAuth.start(options: shared)
                    return try await body()
                }
            }
            let token = try await run("first") { try #require(try await logIn().token) }
            try await run("second") {
                #expect(FRSession.currentSession != nil)
                #expect(FRUser.currentUser?.token == nil)
                try await FRUser.currentUser?.getAccessToken()
                #expect(FRUser.currentUser?.token?.value != token.value)
                _ = await FRUser.currentUser?.logout().value
            }
            try await run("first") { #expect(FRSession.currentSession == nil) }
            let sessionToken = token.sessionToken.map { Token(value: $0) }
            #expect(try await !machine.knows(try #require(sessionToken)))
            // What came from it is no use any more to the app that has not logged out, while it runs or when it starts again.
            for isRunning in [true, false] {
                let (old, oldToken) = try await run("first") {
                    let user = try await logIn()
                    let token = try #require(user.token)
                    try await run("second") { _ = await FRUser.currentUser?.logout().value }
                    guard isRunning else { return (nil as FRUser?, token) }
                    try await expectNobody(user)
                    #expect(try await !machine.takes(token))
                    return (user, token)
                }
                #expect((old != nil) == isRunning)
                try await run("first") {
                    let user = try await logIn()
                    #expect(user.token != nil && user.token != oldToken)
                    #expect(try await !machine.takes(oldToken))
                    _ = await user.logout().value
                }
            }
            options.keychainAccessGroup = "a/b"
            let wrong = options
            try await machine.program {
                #expect(throws: ConfigError.invalidAccessGroup("a/b")) { try FRAuth.start(options: wrong) }
            }
        }
    }

    /// Somebody whose session a sibling has ended: nobody is logged in, and what is left is removed when it is asked for.
    private func expectNobody(_ user: FRUser) async throws {
        #expect(FRUser.currentUser == nil && FRSession.currentSession == nil && user.token == nil)
        await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
        await #expect(throws: TokenError.nullToken) { try await user.getAccessToken() }
    }

    @Test("says why what is stored cannot be had, where the original's properties can only say that nothing is there")
    func noVault() async throws {
        try await Machine.with { machine in
            try await machine.program {
                $0.keychain = VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open vault", "make one first")
                }
            } _: {
                try FRAuth.start(options: machine.options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                #expect(FRAuth.shared?.lastStorageError?.code == .noVault)
                // Before a password is asked for that nothing could be made of.
                await #expect(throws: StoreError.self) {
                    _ = try await FRSession.authenticate(Token.self, authIndexValue: "Login")
                }
            }
        }
    }
}
