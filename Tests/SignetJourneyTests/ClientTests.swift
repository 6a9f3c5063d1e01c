import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetStorage
import SignetTesting
import Testing

@Suite("An app's client at a server")
struct ClientTests {
    private static let client = OAuthClient(
        clientID: "app", redirectURI: "https://app.example.test/cb", scopes: ["openid", "profile"],
        signOutRedirectURI: "https://app.example.test/bye")

    private static func registered(realm: String = "/") -> RegisteredClient {
        RegisteredClient(id: "app", redirectURIs: ["https://app.example.test/cb"]) {
            $0.realm = realm
            $0.postLogoutRedirectURIs = ["https://app.example.test/bye"]
        }
    }

    private static func app(
        _ server: LiveServer, store: SessionStore, log: RequestRecorder = RequestRecorder(),
        _ configure: (inout ServerProfile) -> Void = { _ in }
    ) throws -> IdentityClient {
        var profile = server.profile
        profile.client = client
        configure(&profile)
        return try IdentityClient(
            profile, store: store, transport: server.transport, clock: server.clock, requestLogger: { log.add($0) })
    }

    private static func logIn(_ app: IdentityClient, as user: String = "demo", options: JourneyOptions = JourneyOptions())
        async throws -> SSOToken
    {
        var step = try await app.journeys.start(options: options).step
        try step.fill(name: user, password: LiveServer.password)
        return try await app.journeys.next(step, options: options).token
    }

    @Test(
        "A client logs in, gets and renews tokens, reads the user's claims, and logs out",
        arguments: [("/", "demo"), ("/alpha", "mira")])
    func clientLifeCycle(realm: String, user: String) async throws {
        try await LiveServer.with(realm: Realm(realm), clients: [Self.registered(realm: realm)]) { server in
            let (store, log) = (try SessionStore.memory(), RequestRecorder())
            let app = try Self.app(server, store: store, log: log) { $0.refreshThreshold = .seconds(1700) }
            #expect(try await app.reader.session() == nil)
            let session = try await Self.logIn(app, as: user)
            #expect(try await app.reader.session() == session)

            let token = try await app.tokens.token()
            #expect(try await app.reader.token() == token)
            #expect(try await app.userInfo().subject?.isEmpty == false)
            // The profile's threshold applies.
            server.clock.advance(by: 1901)
            let renewed = try await app.tokens.token()
            #expect(renewed.value != token.value)

            // The program restarts: the stored session continues.
            let again = try Self.app(server, store: store)
            #expect(try await again.tokens.token() == renewed)

            let report = await app.logOut(endsOpenIDSession: true)
            #expect(report.isComplete && report.session == .done && report.tokens == .done && report.openIDSession == .done)
            #expect(try await app.reader.session() == nil)
            await #expect { try await app.tokens.token() } throws: { ($0 as? TokenError)?.code == .loginRequired }
            // The server no longer knows the session: a journey with it begins with its first step.
            let options = JourneyOptions { $0.session = session.value }
            _ = try await server.journeys.start(options: options).step
            let steps = [
                "START_AUTHENTICATE", "AUTHENTICATE", "WELL_KNOWN", "AUTHORIZE", "KEYS", "EXCHANGE_TOKEN", "USER_INFO",
                "REFRESH_TOKEN",
            ]
            #expect(Array(log.actions.prefix(8)) == steps)
            // These requests run concurrently.
            #expect(log.actions.dropFirst(8).sorted() == ["END_SESSION", "LOGOUT", "REVOKE_TOKEN"])
        }
    }

    @Test("A journey of a logged-in user ends at once unless the app forces it, and a new session replaces the old one")
    func forcesJourneyAndReplacesSession() async throws {
        try await LiveServer.with(clients: [Self.registered()]) { server in
            let store = try SessionStore.memory()
            let app = try Self.app(server, store: store)
            let first = try await Self.logIn(app)
            let token = try await app.tokens.token()
            #expect(try await app.journeys.start().token.value == first.value)
            #expect(try await app.tokens.token() == token)

            // The user logs in separately; the app passes the new session to the client.
            let second = try await Self.logIn(try Self.app(server, store: try .memory()))
            #expect(try await app.tokens.adopt(second).isComplete)
            #expect(try await app.reader.session() == second)
            #expect(try await app.reader.storedToken() == nil)
            let options = JourneyOptions { $0.session = first.value }
            _ = try await server.journeys.start(options: options).step
            let forced = JourneyOptions { $0.forceAuthentication = true }
            _ = try await app.journeys.start(options: forced).step
        }
    }

    @Test("Two servers in one vault are kept apart")
    func keepsServersApart() async throws {
        try await TemporaryDirectory.with { directory in
            let memory = MemoryStore()
            let keychain = VaultProvider { () throws(StoreError) in memory }
            func store(_ server: LiveServer, at path: String = "", realm: Realm = .root) throws -> (ServerProfile, SessionStore) {
                let profile = try ServerProfile(url: server.profile.url.url + path, realm: realm) { $0.client = Self.client }
                return (profile, try .keychain(account: "app", for: profile, in: keychain, lockFile: directory.file("lock")))
            }
            try await LiveServer.with(clients: [Self.registered()]) { first in
                try await LiveServer.with(clients: [Self.registered()]) { second in
                    let (here, there) = (
                        try Self.app(first, store: store(first).1), try Self.app(second, store: store(second).1)
                    )
                    let session = try await Self.logIn(here)
                    #expect(try await there.reader.session() == nil)
                    _ = try await Self.logIn(there)
                    let token = try await there.tokens.token()
                    #expect(await here.logOut().isComplete)
                    #expect(try await there.tokens.token() == token)
                    // The same server with a differently written address is the same place; another realm is another place.
                    let again = try await Self.logIn(here)
                    #expect(again != session)
                    #expect(try await TokenReader(store(first, at: "/", realm: "realms/root").1).session() == again)
                    #expect(try await TokenReader(store(first, realm: "alpha").1).session() == nil)
                }
            }
        }
    }

    @Test("A client without an OAuth configuration has sessions, and reports what tokens need")
    func sessionsWithoutOAuthClient() async throws {
        try await LiveServer.with { server in
            let app = try Self.app(server, store: try .memory()) { $0.client = nil }
            _ = try await Self.logIn(app)
            await #expect { try await app.tokens.token() } throws: { ($0 as? TokenError)?.code == .notConfigured }
            await #expect { try await app.browserLogin().logIn() } throws: { ($0 as? TokenError)?.code == .notConfigured }
            #expect(await app.logOut().isComplete)
        }
    }

    @Test("The cookies of a journey are kept and sent back unless the profile turns that off", arguments: [true, false])
    func keepsJourneyCookies(keeps: Bool) async throws {
        let step = #"{"authId":"1","callbacks":[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"0"}]}]}"#
        let answers = Mutex([step, #"{"tokenId":"t"}"#, #"{"tokenId":"t"}"#])
        let transport = ScriptedTransport { _ in
            HTTPResponse(
                status: 200, headers: ["Set-Cookie": "amlbcookie=01; Path=/", "Set-Cookie": "iPlanetDirectoryPro=x; Path=/"],
                body: Array(answers.withLock { $0.removeFirst() }.utf8))
        }
        let app = try IdentityClient(try profile { $0.keepsCookies = keeps }, store: .memory(), transport: transport)
        _ = try await app.journeys.next(try await app.journeys.start().step)
        _ = try await app.journeys.start()
        let sent = transport.requests.map { $0.headers["Cookie"] }
        // The current session's cookie precedes the cookies of the jar.
        #expect(
            sent
                == (keeps
                    ? [nil, "amlbcookie=01; iPlanetDirectoryPro=x", "iPlanetDirectoryPro=t; amlbcookie=01"] : [nil, nil, nil]))
        let sessions = transport.requests.map { $0.headers["iPlanetDirectoryPro"] }
        #expect(sessions == [nil, nil, "t"])
    }

    @Test(
        "Requests to OpenAM use its API version and always carry the session cookie",
        arguments: [
            (.openAM, true, "2.0", "iPlanetDirectoryPro=t"), (.openAM, false, "2.0", "iPlanetDirectoryPro=t"),
            (.accessManager, true, "3.1", "iPlanetDirectoryPro=t"), (.accessManager, false, "3.1", nil),
        ] as [(ServerProfile.Dialect, Bool, String, String?)])
    func usesOpenAMVersions(dialect: ServerProfile.Dialect, keepsCookies: Bool, version: String, cookie: String?) async throws {
        let transport = answering((200, #"{"tokenId":"t"}"#), (200, "{}"))
        let profile = try profile {
            $0.dialect = dialect
            $0.keepsCookies = keepsCookies
        }
        let app = try IdentityClient(profile, store: .memory(), transport: transport)
        _ = try await app.journeys.start()
        #expect(await app.logOut().isComplete)
        let request = try #require(transport.requests.last)
        #expect(request.headers["Accept-API-Version"] == "resource=\(version), protocol=1.0")
        #expect(request.headers["Cookie"] == cookie && request.headers["iPlanetDirectoryPro"] == "t")
    }

    @Test("A session that cannot be stored causes an error")
    func reportsUnstoredSession() async throws {
        let keychain = VaultProvider { () throws(StoreError) in
            throw StoreError(.full, "open", "no room")
        }
        try await TemporaryDirectory.with { directory in
            let store = try SessionStore.keychain(account: "app", in: keychain, lockFile: directory.file("lock"))
            let app = try IdentityClient(
                try profile { $0.keepsCookies = false }, store: store, transport: answering((200, #"{"tokenId":"t"}"#)))
            let options = JourneyOptions { $0.session = Secret("old".utf8) }
            await #expect { try await app.journeys.start(options: options) } throws: { ($0 as? TokenError)?.code == .storage }
        }
    }

    @Test(
        "Every request uses the profile's pins and timeout, and none is sent if pins cannot be checked", arguments: [true, false])
    func usesProfilePinsAndTimeout(canPin: Bool) async throws {
        let transport = ScriptedTransport(canPin: canPin) { _ in HTTPResponse(status: 503) }
        let pins: Set = [PublicKeyPin(of: [1])]
        let profile = try profile {
            $0.pins = pins
            $0.timeout = .seconds(7)
            $0.client = Self.client
        }
        let app = try IdentityClient(profile, store: .memory(), transport: transport)
        var calls: [@Sendable () async throws -> Void] = [
            { _ = try await app.journeys.start() }, { _ = try await profile.discovering(over: transport) },
            { _ = try await app.deviceLogin().begin() }, { _ = try await app.browserLogin().logIn() },
            {
                _ = try await ServerProfile.discovered(at: "https://am.example.test/d", over: transport) {
                    $0.pins = pins
                    $0.timeout = .seconds(7)
                }
            },
        ]
        calls.append { try await app.tokens.adopt(SSOToken(value: Secret("t".utf8))) }
        calls.append { _ = try await app.tokens.token() }
        calls.append { _ = await app.logOut() }
        for call in calls {
            do { try await call() } catch {
                let refusal: TransportError? =
                    if case .network(let error)? = (error as? TokenError)?.cause { error } else { error as? TransportError }
                #expect(canPin || refusal?.code == .cannotPin, "\(error)")
            }
        }
        if canPin {
            let pages = Set(transport.requests.map { $0.url.split(separator: "/").last ?? "" })
            #expect(pages.count >= 4)
            let unlike = transport.requests.filter { $0.pins != pins || $0.timeout != .seconds(7) }
            #expect(unlike.isEmpty)
        } else {
            #expect(transport.requests.isEmpty)
        }
    }
}
