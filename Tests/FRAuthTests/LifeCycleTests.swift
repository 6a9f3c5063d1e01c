import FRAuth
import SignetCore
import SignetNetwork
import SignetServer
import SignetStorage
import SignetTesting
import Testing

import class FRAuth.AccessToken
import struct SignetOAuth.LogOutReport

/// Tests of the section "Session and token lifecycle" of the document on dynamic configuration, with a real server.
@Suite("Restart of the SDK with the same or other settings")
struct LifeCycleTests {
    @Test("The first start of a process keeps the stored session and tokens without a request to the server")
    func keepsStoredSessionOnFirstStart() async throws {
        try await FRAuthFixture.with { fixture in
            let (token, session) = try await fixture.started {
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                let user = try await logIn()
                return (try #require(user.token), try #require(FRSession.currentSession?.sessionToken))
            }
            fixture.requests.clear()
            try await fixture.started {
                #expect(FRUser.currentUser?.token == token)
                #expect(FRSession.currentSession?.sessionToken == session)
                try await FRUser.currentUser?.getAccessToken()
                #expect(FRUser.currentUser?.token == token)
                #expect(await FRAuth.shared?.formerSession() == nil)
            }
            #expect(fixture.requests.names.isEmpty)
        }
    }

    /// The six settings that the document names, by their keys.
    private static let namedSettings: [(String, Change)] = [
        ("forgerock_cookie_name", Change { $0.cookieName = "46b42b4229cd7a3" }),
        ("forgerock_oauth_client_id", Change { $0.oauthClientId = "otherClient" }),
        ("forgerock_oauth_redirect_uri", Change { $0.oauthRedirectUri = "frauth://com.forgerock.ios.other" }),
        ("forgerock_oauth_scope", Change { $0.oauthScope = "openid" }),
        ("forgerock_realm", Change { $0.realm = "root" }),
        ("forgerock_url", Change { $0.url = $0.url.replacing("127.0.0.1", with: "localhost") }),
    ]

    @Test("A start with one of the six settings changed revokes and removes the session and the tokens", arguments: namedSettings)
    func revokesSessionOnChangeOfNamedSetting(key: String, change: Change) async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let old = try await logIn()
                let token = try #require(old.token)
                let session = try #require(FRSession.currentSession?.sessionToken)
                #expect(try await fixture.takes(token))
                #expect(try await fixture.knows(session))

                var options = fixture.options
                change.apply(&options)
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil && old.token == nil, "\(key)")
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.tokens == .done && report.session == .done && report.local == .done, "\(key): \(report)")
                #expect(try await !fixture.takes(token))
                #expect(try await !fixture.knows(session))
                await #expect(throws: TokenError.nullToken) { try await old.getAccessToken() }
                #expect(FRAuth.shared?.lastStorageError == nil)
            }
            // It is removed from the vault, too.
            try await fixture.started { #expect(FRUser.currentUser == nil) }
        }
    }

    @Test("A setting changed between two runs revokes and removes the session and the tokens", arguments: namedSettings)
    func revokesSessionOnChangeBetweenRuns(key: String, change: Change) async throws {
        try await FRAuthFixture.with { fixture in
            let (token, session) = try await fixture.started {
                (try #require(try await logIn().token), try #require(FRSession.currentSession?.sessionToken))
            }
            try await fixture.program {
                var options = fixture.options
                change.apply(&options)
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil, "\(key)")
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.tokens == .done && report.session == .done, "\(key): \(report)")
            }
            #expect(try await !fixture.takes(token))
            #expect(try await !fixture.knows(session))
        }
    }

    /// A setting other than the six, and its immediate effect.
    struct Other: Sendable {
        let key: String
        let change: Change
        /// A Boolean value that says if the session, and with it the token, stays in the same place.
        let staysInPlace: Bool
        let effect: @Sendable (FRAuthFixture, FRUser) async throws -> Void

        init(
            _ key: String, staysInPlace: Bool = true, _ change: @escaping @Sendable (inout FROptions) -> Void,
            shows effect: @escaping @Sendable (FRAuthFixture, FRUser) async throws -> Void
        ) {
            self.key = key
            self.change = Change(change)
            self.staysInPlace = staysInPlace
            self.effect = effect
        }

        /// Returns an override of an endpoint that `ask` sends a request to.
        static func endpoint(
            _ key: String, action: String, _ change: @escaping @Sendable (inout FROptions) -> Void,
            asked ask: @escaping @Sendable (FRUser) async throws -> Void
        ) -> Other {
            Other(
                key, change,
                shows: { fixture, user in
                    // No server answers there; only the address of the request counts.
                    _ = try? await ask(user)
                    #expect(fixture.requests.last(action)?.url.hasPrefix("\(fixture.url)/elsewhere") == true, "\(key)")
                })
        }
    }

    private static let otherSettings: [Other] = [
        Other("forgerock_timeout") {
            $0.timeout = "77"
        } shows: { fixture, user in
            _ = try await user.getUserInfo()
            #expect(fixture.requests.last("USER_INFO")?.timeoutInterval == 77)
        },
        Other("forgerock_enable_cookie") {
            $0.enableCookie = false
        } shows: { fixture, user in
            _ = await user.logout().value
            #expect(fixture.requests.last("LOGOUT")?.headers["Cookie"] == nil)
            #expect(fixture.requests.last("LOGOUT")?.headers["iPlanetDirectoryPro"] != nil)
        },
        Other("forgerock_auth_service_name") {
            $0.authServiceName = "SomeJourney"
        } shows: { fixture, user in
            _ = await user.logout().value
            _ = try? await FRUser.login()
            #expect(fixture.requests.last("START_AUTHENTICATE")?.urlParams["authIndexValue"] == "SomeJourney")
        },
        Other("forgerock_registration_service_name") {
            $0.registrationServiceName = "SomeJourney"
        } shows: { fixture, user in
            _ = await user.logout().value
            _ = try? await FRUser.register()
            #expect(fixture.requests.last("START_AUTHENTICATE")?.urlParams["authIndexValue"] == "SomeJourney")
        },
        Other("forgerock_oauth_threshold") {
            $0.oauthThreshold = "1700"
        } shows: { fixture, user in
            fixture.clock.advance(by: 1901)
            try await user.getAccessToken()
            #expect(fixture.requests.names.contains("REFRESH_TOKEN"))
        },
        Other("forgerock_oauth_sign_out_redirect_uri") {
            $0.oauthSignoutRedirectUri = "frauth://bye"
        } shows: { fixture, user in
            _ = await user.logout(forceEndSession: true).value
            #expect(fixture.requests.last("END_SESSION")?.urlParams["post_logout_redirect_uri"]?.hasPrefix("frauth") == true)
        },
        Other("forgerock_keychain_access_group", staysInPlace: false) {
            $0.keychainAccessGroup = "com.example.shared"
        } shows: { fixture, user in
            // The group has no session yet; the token came from the app's own session, to which the app can return.
            #expect(FRSession.currentSession == nil && FRUser.currentUser == nil && user.token == nil)
            try FRAuth.start(options: fixture.options)
            #expect(FRSession.currentSession != nil && FRUser.currentUser?.token != nil)
        },
        Other("forgerock_ssl_pinning_public_key_hashes") {
            $0.sslPinningPublicKeyHashes = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
        } shows: { fixture, user in
            // Pins need https: the request is refused before a byte is sent.
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

    @Test("A change of any other setting keeps the session and takes effect at once", arguments: otherSettings.indices)
    func keepsSessionOnChangeOfOtherSetting(index: Int) async throws {
        let other = Self.otherSettings[index]
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                let user = try await logIn()
                let token = try #require(user.token)
                var options = fixture.options
                other.change.apply(&options)
                fixture.requests.clear()
                try FRAuth.start(options: options)
                #expect(FRAuth.shared?.options == options)
                if other.staysInPlace { #expect(user.token?.value == token.value, "\(other.key)") }
                #expect(await FRAuth.shared?.formerSession() == nil)
                #expect(fixture.requests.names.isEmpty)
                try await other.effect(fixture, user)
            }
        }
    }

    @Test("The tests of changed settings cover every setting")
    func coversEverySetting() {
        let options = FROptions(
            url: "u", realm: "r", authorizeEndpoint: "a", tokenEndpoint: "t", revokeEndpoint: "v", userinfoEndpoint: "i",
            sessionEndpoint: "s", endSessionEndpoint: "e", oauthThreshold: "9", oauthClientId: "id", oauthRedirectUri: "x:y",
            oauthSignoutRedirectUri: "z:w", oauthScope: "openid", keychainAccessGroup: "g", sslPinningPublicKeyHashes: ["h"])
        options.authenticateEndpoint = "n"
        #expect(
            Set(Self.namedSettings.map(\.0) + Self.otherSettings.map(\.key)) == Set((options.optionsDictionary() ?? [:]).keys))
    }

    @Test("A start with the same settings changes nothing")
    func changesNothingWithSameSettings() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                try await logIn()
                let before = FRAuth.shared
                try FRAuth.start(options: fixture.options)
                #expect(FRAuth.shared === before)
            }
        }
    }

    @Test("A changed setting removes the stored session without a network, and reports what the server still has")
    func removesStoredSessionOffline() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            try await fixture.program {
                $0.transport = ScriptedTransport { (request) throws(TransportError) in
                    throw TransportError(.connect, host: "am.example.test", "no route")
                }
            } _: {
                let options = fixture.options
                options.realm = "root"
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil)
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.local == .done && !report.tokens.isOver && !report.session.isOver && !report.isComplete)
            }
            try await fixture.started { #expect(FRUser.currentUser == nil) }
        }
    }

    @Test("A journey of the old server that ends after a restart stores no session")
    func discardsLateJourneyOfOldServer() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                guard case .node(let node) = try await FRUser.login() else { throw Unexpected() }
                let options = fixture.options
                options.oauthClientId = "otherClient"
                try FRAuth.start(options: options)
                fill(node)
                await #expect(throws: StoreError.self) { _ = try await node.next(FRUser.self) }
                #expect(FRUser.currentUser == nil)
            }
        }
    }

    @Test("64 programs started at the same time all find the stored user and session")
    func readsStoredSessionFromManyPrograms() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            let seen = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        (try? await fixture.started { FRUser.currentUser != nil && FRSession.currentSession != nil }) ?? false
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(seen == 64)
        }
    }

    @Test("Apps of one access group share the session but not the tokens, and a logout ends it for all")
    func sharesSessionInAccessGroup() async throws {
        try await FRAuthFixture.with { fixture in
            let options = fixture.options
            options.keychainAccessGroup = "com.example.shared"
            let shared = options
            func run<R>(_ application: String, _ body: () async throws -> R) async throws -> R {
                try await fixture.program(application: application) {
                    $0.lockFile = fixture.directory.file("shared.lock")
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
            #expect(try await !fixture.knows(try #require(sessionToken)))
            // The tokens of that session are unusable in the other app, while it runs and when it starts again.
            for isRunning in [true, false] {
                let (old, oldToken) = try await run("first") {
                    let user = try await logIn()
                    let token = try #require(user.token)
                    try await run("second") { _ = await FRUser.currentUser?.logout().value }
                    guard isRunning else { return (nil as FRUser?, token) }
                    try await expectNoUser(user)
                    #expect(try await !fixture.takes(token))
                    return (user, token)
                }
                #expect((old != nil) == isRunning)
                try await run("first") {
                    let user = try await logIn()
                    #expect(user.token != nil && user.token != oldToken)
                    #expect(try await !fixture.takes(oldToken))
                    _ = await user.logout().value
                }
            }
            options.keychainAccessGroup = "a/b"
            let wrong = options
            try await fixture.program {
                #expect(throws: ConfigError.invalidAccessGroup("a/b")) { try FRAuth.start(options: wrong) }
            }
        }
    }

    /// Expects that no user is logged in after another app ended the session, and that the tokens are removed on request.
    private func expectNoUser(_ user: FRUser) async throws {
        #expect(FRUser.currentUser == nil && FRSession.currentSession == nil && user.token == nil)
        await #expect(throws: AuthError.userAuthenticationRequired) { try await user.getAccessToken() }
        await #expect(throws: TokenError.nullToken) { try await user.getAccessToken() }
    }

    @Test("FRAuth.lastStorageError says why the stored session cannot be read when currentUser is nil")
    func reportsStorageErrorWithoutVault() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                $0.keychain = VaultProvider { () throws(StoreError) in throw StoreError(.noVault, "open vault", "make one first")
                }
            } _: {
                try FRAuth.start(options: fixture.options)
                #expect(FRUser.currentUser == nil && FRSession.currentSession == nil)
                #expect(FRAuth.shared?.lastStorageError?.code == .noVault)
                // The error comes before the user is asked for a password.
                await #expect(throws: StoreError.self) {
                    _ = try await FRSession.authenticate(Token.self, authIndexValue: "Login")
                }
            }
        }
    }
}
