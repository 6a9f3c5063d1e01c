import Logging
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Configuration files")
struct ConfigurationFileTests {
    @Test("A file with one user and one journey is enough for a login")
    func minimalFileAllowsLogin() async throws {
        let file = try ServerConfiguration(
            yaml: """
                users:
                  - {name: mira, password: correct horse}
                journeys:
                  Login:
                    nodes:
                      name: {type: UsernameCollectorNode, outcomes: {outcome: password}}
                      password: {type: PasswordCollectorNode, outcomes: {outcome: check}}
                      check: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
                """)
        try await TestServer.run(file) { server in
            var step = try await server.start("Login").step
            step.fill("NameCallback", "mira")
            step = try await server.next(step).step
            step.fill("PasswordCallback", "correct horse")
            #expect(try await server.next(step).isLoggedIn)
        }
    }

    @Test("Every setting of a file is read into the configuration")
    func readsEverySetting() throws {
        let file = try ServerConfiguration(
            yaml: """
                server:
                  issuer: Harbor
                  contextPath: /openam
                  publicURL: https://login.example.test/openam
                  cookieName: sso
                  cookieDomain: example.test
                  cookieIsHTTPOnly: false
                  loadBalancerCookie: lb=2
                  backgroundColor: "#00ff00"
                  sessionIdleTimeout: 60
                  sessionMaxLifetime: 120
                  journeyTimeout: 30
                  suspensionTimeout: 40
                  pushTimeout: 50
                  devicePollInterval: 2
                  pollInterval: 250
                  webAuthnRelyingParty: example.test
                  webAuthnOrigins: [android:apk-key-hash:x]
                  externalLoginPageURL: https://app.example.test/login
                  lifetimes: {accessToken: 10}
                  defaultJourney: PushLogin
                  transactionJourney: PushNumberLogin
                realms: [/, /alpha, /alpha/beta]
                users:
                  - name: mira
                    password: "0123"
                    realm: /alpha/beta
                    claims: {email: mira@example.test, age: 42, groups: [a, b]}
                    locked: true
                    securityAnswers: {"Pet?": Rex}
                clients:
                  - id: web
                    realm: /alpha
                    secret: s3cret
                    redirectURIs: ["https://web.example.test/cb"]
                    postLogoutRedirectURIs: ["https://web.example.test/bye"]
                    backchannelLogoutURI: https://web.example.test/logout?a=b
                    backchannelLogoutSessionRequired: true
                    scopes: [openid, write]
                    refreshTokens: rotate
                    refreshTokenGrace: 10
                    requireConsent: true
                    requirePKCE: false
                    lifetimes: {idToken: 5}
                """)
        #expect(file.issuer == "Harbor" && file.contextPath == "/openam" && file.cookieName == "sso")
        #expect(file.publicURL == "https://login.example.test/openam" && file.cookieDomain == "example.test")
        #expect(!file.cookieIsHTTPOnly && file.loadBalancerCookie == "lb=2" && file.backgroundColor == "00ff00")
        #expect([file.sessionIdleTimeout, file.sessionMaxLifetime, file.journeyTimeout] == [60, 120, 30])
        #expect([file.suspensionTimeout, file.pushTimeout, file.devicePollInterval] == [40, 50, 2])
        #expect(file.pollInterval == .milliseconds(250))
        #expect(file.webAuthnRelyingParty == "example.test" && file.webAuthnOrigins == ["android:apk-key-hash:x"])
        #expect(file.externalLoginPageURL == "https://app.example.test/login")
        #expect(file.defaultJourney == "PushLogin" && file.transactionJourney == "PushNumberLogin")
        let lifetimes = TokenLifetimes { $0.accessToken = 10 }
        #expect(file.lifetimes == lifetimes)
        #expect(file.realms == ["/", "/alpha", "/alpha/beta"])
        #expect(file.journeys.names == Journeys.starter.names)
        let user = try #require(file.users.first)
        #expect(user.name == "mira" && user.realm == "/alpha/beta" && user.isLocked)
        #expect(user.password == Secret("0123".utf8))
        #expect(user.claims == ["email": "mira@example.test", "age": .integer(42), "groups": .array(["a", "b"])])
        #expect(user.securityAnswers == ["Pet?": Secret("Rex".utf8)])
        let expected = RegisteredClient(id: "web", secret: Secret("s3cret".utf8), redirectURIs: ["https://web.example.test/cb"]) {
            $0.realm = "/alpha"
            $0.postLogoutRedirectURIs = ["https://web.example.test/bye"]
            $0.backchannelLogoutURI = "https://web.example.test/logout?a=b"
            $0.backchannelLogoutSessionRequired = true
            $0.scopes = ["openid", "write"]
            $0.refreshTokens = .rotate(grace: .seconds(10))
            $0.requiresConsent = true
            $0.requiresPKCE = false
            $0.lifetimes = TokenLifetimes {
                $0.accessToken = 10
                $0.idToken = 5
            }
        }
        #expect(file.clients == [expected])
    }

    @Test("Settings that a file omits have their default values")
    func omittedSettingsHaveDefaults() throws {
        let (file, defaults) = (try ServerConfiguration(yaml: "realms: [/]"), ServerConfiguration())
        #expect(file.issuer == defaults.issuer && file.pushTimeout == defaults.pushTimeout)
        #expect(file.lifetimes == defaults.lifetimes && file.defaultJourney == defaults.defaultJourney)
        #expect(file.loadBalancerCookie == defaults.loadBalancerCookie && file.pollInterval == nil)
        #expect(file.users.isEmpty && file.clients.isEmpty)
    }

    @Test("A journey is available only in its realms, and a client cannot start an inner-only journey")
    func limitsJourneysToTheirRealms() async throws {
        let journeys = """
            Somewhere:
              realms: [/alpha]
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Part, outcomes: {true: success, false: failure}}
            Part:
              innerTreeOnly: true
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: success, false: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let alpha = "/am/json/realms/root/realms/alpha/authenticate"
            let elsewhere = try await server.start("Somewhere")
            #expect(elsewhere.message == "No Configuration found")
            #expect(try await server.start("Part", at: alpha).message == "No Configuration found")
            #expect(try await server.logIn("Somewhere", password: "other", at: alpha).isLoggedIn)
            #expect(try await server.logIn("Somewhere", password: "wrong", at: alpha).status == 401)
        }
    }

    @Test("The default journey is the one that the file names, otherwise Login, otherwise the first")
    func choosesDefaultJourney() throws {
        func journey(_ name: String) -> String {
            "  \(name): {nodes: {n: {type: UsernameCollectorNode, outcomes: {outcome: success}}}}\n"
        }
        let (one, login) = (journey("One"), journey("Login"))
        #expect(try ServerConfiguration(yaml: "journeys:\n" + one + login).defaultJourney == "Login")
        #expect(try ServerConfiguration(yaml: "journeys:\n" + one).defaultJourney == "One")
        let named = try ServerConfiguration(yaml: "server: {defaultJourney: One}\njourneys:\n" + login + one)
        #expect(named.defaultJourney == "One" && named.transactionJourney == "One")
    }

    @Test("A journey can start with a success node or a failure node")
    func startsWithEndNode() async throws {
        let journeys = """
            Nothing: {nodes: {end: {type: SuccessNode}}}
            Never: {nodes: {end: {type: FailureNode}}}
            J:
              nodes:
                never: {type: InnerTreeEvaluatorNode, tree: Never, outcomes: {true: failure, false: nothing}}
                nothing: {type: InnerTreeEvaluatorNode, tree: Nothing, outcomes: {true: login, false: failure}}
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {default: success}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let reply = try await server.logIn("J")
            #expect(reply.isLoggedIn)
            #expect(try await server.start("Never").message == "Login failure")
            #expect(try await server.start("Nothing").message == "Login failure", "no user is identified")
        }
    }

    @Test("A user with a scrypt password hash logs in with the right password, repeatedly")
    func acceptsScryptHash() async throws {
        // hashlib.scrypt(b"correct horse", salt=b"0123456789abcdef", n=1024, r=8, p=1, dklen=32)
        let hash = "$scrypt$ln=10,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$6g3umF+uVrJsObaTZhIbbTlgrvOEFcCItdwSjtPF67M"
        let file = try ServerConfiguration(yaml: "users: [{name: mira, passwordHash: '\(hash)'}, {name: noa}]")
        try await TestServer.run(file) { (server: TestServer) async throws in
            for (name, password, isRight) in [
                ("mira", "wrong", false), ("mira", "correct horse", true), ("mira", "correct horse", true),
                ("mira", "wrong", false),
                ("mira", "", false), ("noa", "", false), ("noa", "correct horse", false),
            ] {
                let reply = try await server.logIn("Login", name: name, password: password)
                #expect(reply.isLoggedIn == isRight)
            }
        }
        #expect("\(file.users[0])".contains("scrypt hash") && !"\(file.users[0])".contains("MDEy"))
    }

    @Test(
        "A password hash of another kind, or with excessive parameters, is refused",
        arguments: [
            "", "plain", "$2b$12$abc", "$scrypt$ln=10,r=8$MDEy$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=30,r=8,p=1$MDEy$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=20,r=64,p=16$MDEy$MDEyMzQ1Njc4OWFiY2RlZg", "$scrypt$ln=0,r=8,p=1$MDEy$MDEyMzQ1Njc4OWFiY2RlZg",
            "$scrypt$ln=10,r=8,p=1$$MDEyMzQ1Njc4OWFiY2RlZg", "$scrypt$ln=10,r=8,p=1$MDEy$MDEy",
            "$scrypt$ln=10,ln=10,p=1$MDEy$MDEy",
            "$scrypt$ln=10,r=8,p=1,x=1$MDEy$MDEyMzQ1Njc4OWFiY2RlZg",
        ])
    func refusesUnsupportedHash(text: String) {
        #expect(PasswordHash(text) == nil)
    }
}

@Suite("The starter file")
struct StarterFileTests {
    @Test("The starter file is valid and equals the configuration of a server without a file")
    func starterFileIsDefaultConfiguration() throws {
        let file = try ServerConfiguration(yaml: ServerConfiguration.starterText)
        #expect(file.journeys.names == ServerConfiguration().journeys.names)
        #expect(file.users.map(\.name) == ["demo"] && file.users[0].password == nil)
        #expect(file.clients.map(\.id) == ["app", "service"])
        // No file and no program has a well-known secret.
        let secrets = file.clients.compactMap(\.secret)
        #expect(secrets.isEmpty && file.clients[1].generatesSecret)
    }

    @Test("A server with an invalid starter file does not start, and its error names the problem")
    func refusesToStartWithInvalidStarter() async throws {
        #expect(Journeys.starter.defect == nil)
        let broken = Starter.configuration(of: "journeys: [a]\n")
        await #expect(throws: ConfigurationError.self) { try await TestServer.run(broken) { _ in } }
        let server = DevServer(configuration: broken, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await server.run { _ in Issue.record("the server listens") }
            Issue.record("the server ran")
        } catch let error as ConfigurationError {
            #expect("\(error)".contains("1:11: journeys: `journeys` must be journeys by name"))
        }
    }

    @Test("The starter file has all documented journeys")
    func starterFileHasDocumentedJourneys() {
        let names = Journeys.starter.names
        #expect(Set(names).count == names.count)
        #expect(
            Set(names).subtracting(StarterCallbacks.types) == [
                "Login", "Registration", "EmailLogin", "QuestionLogin", "ForgottenPassword", "PushRegistration", "PushLogin",
                "PushNumberLogin",
                "PushBiometricLogin", "OATHRegistration", "OATHLogin", "CombinedRegistration", "RecoveryRegistration",
                "RecoveryLogin", "DeviceBinding", "DeviceSigning", "DeviceLogin", "WebAuthnRegistration", "WebAuthnLogin",
                "WebAuthnRegistration70", "WebAuthnLogin70", "WebAuthnRegistration65", "WebAuthnLogin65", "PassThrough", "Locked",
                "PolicyFailure", "Failure", "Everything",
            ])
    }

    @Test("The reader reports problems with valid positions for randomly damaged YAML")
    func survivesDamagedYAML() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        let starter = Array(ServerConfiguration.starterText.utf8)
        let tokens = [
            ":", "- ", "[", "]", "{", "}", "\"", "'", "&a ", "*a ", "!!binary ", "!!str ", "? ", "|\n", ">\n", "\t", "\n", "  ",
            "#",
            "%YAML 1.1\n", "---\n", "...\n", "<<: ", "\u{0}", "\u{FEFF}", "\u{2028}", "\\x", "@", "`", "true", "9", "é",
        ].map { Array($0.utf8) }
        for _ in 0..<400 {
            // A part of the file, so that each round is fast, with some of it replaced, removed or doubled.
            let start = Int.random(in: 0..<starter.count, using: &generator)
            var bytes = Array(starter[start..<min(starter.count, start + 1500)])
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let from = Int.random(in: 0...bytes.count, using: &generator)
                let to = min(bytes.count, from + Int.random(in: 0...12, using: &generator))
                let piece = tokens.randomElement(using: &generator) ?? []
                bytes.replaceSubrange(from..<to, with: Bool.random(using: &generator) ? piece : piece + piece)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            do {
                _ = try ServerConfiguration(yaml: text)
            } catch {
                #expect(!error.problems.isEmpty)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
                let misplaced = error.problems.filter {
                    !(1...lines + 1).contains($0.position.line) || $0.position.column < 1 || $0.message.isEmpty
                }
                #expect(misplaced.isEmpty)
            }
        }
    }
}
