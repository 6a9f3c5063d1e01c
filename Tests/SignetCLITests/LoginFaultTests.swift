import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Logins on a network that fails")
struct LoginFaultTests {
    /// Logs in at a server that has stopped when `body` runs.
    ///
    /// Nothing listens on its port then, which stays reserved.
    private func afterServer(_ body: (CommandLineFixture, _ url: String, ReservedPort) async throws -> Void) async throws {
        let port = try ReservedPort()
        try await CommandLineFixture.with { cli in
            let url = try await RunningServer.with(cli, port: port) { server in
                try await server.logIn(cli, "--client", "app").succeeds()
                return server.url
            }
            try await body(cli, url, port)
        }
    }

    @Test("A login to a port without a listener or to an unknown host name exits with 69")
    func reportsUnreachableServer() async throws {
        let port = try ReservedPort()
        try await CommandLineFixture.with { cli in
            for (url, word) in [
                ("http://127.0.0.1:\(port.number)/am", "127.0.0.1"), ("https://am.signet.invalid/am", "am.signet.invalid"),
            ] {
                for way in [[], ["--client", "c", "--browser"], ["--client", "c", "--device"]] {
                    let outcome = try await cli.start(["login", url] + way).end()
                    outcome.fails(69, word)
                    #expect(!outcome.errors.contains("Open this address"))
                }
            }
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("Without the server, signet token prints a valid token, and commands that need the server exit with 69")
    func printsTokenOffline() async throws {
        try await afterServer { cli, _, _ in
            let token = try await cli.signet("token", "--offline").succeeds().output
            #expect(try await cli.signet("token").succeeds().output == token)
            try await cli.signet("token", "--refresh").fails(69, "127.0.0.1")
            try await cli.signet("userinfo").fails(69, "127.0.0.1")
            #expect(try await cli.signet("token", "--offline").succeeds().output == token)
        }
    }

    @Test("A logout without a network deletes the local login, names what stays valid and exits with 69")
    func deletesLoginWithoutNetwork() async throws {
        try await afterServer { cli, url, _ in
            let outcome = try await cli.signet("logout", "--json")
            #expect(outcome.status == 69 && outcome.json["complete"]?.bool == false)
            #expect(outcome.json["local"]?.string == "done" && outcome.json["tokens"]?.string == "failed")
            #expect(outcome.json["session"]?.string == "failed")
            #expect(outcome.jsonError?["message"]?.string?.contains("logged out here") == true)
            try await cli.signet("token", "--offline").fails(77, "no user is logged in here")
        }
        try await afterServer { cli, url, _ in
            let outcome = try await cli.signet("logout")
            #expect(outcome.status == 69)
            #expect(outcome.output.hasPrefix("Logged out of \(url) on this machine.\n"))
            #expect(outcome.output.contains("session at the server: not ended"))
            #expect(try await cli.signet("logout").succeeds().line == "No user is logged in here.")
        }
    }

    @Test(
        "A server that asks for a wait of no time forever does not keep signet login, and is asked a few times a second at most")
    func endsWaitThatKeepsCommand() async throws {
        let count = Mutex(0)
        let server = try RawServer { connection in
            while connection.request() != nil {
                count.withLock { $0 += 1 }
                connection.answer(
                    "200 OK", headers: ["Content-Type: application/json"],
                    #"{"authId":"1","callbacks":[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"0"}]}]}"#)
            }
        }
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            let url = "http://127.0.0.1:\(server.port)/am"
            try await cli.signet("login", url, "--timeout", "5").fails(69, "still asks to wait after 5 seconds", "--timeout")
            let requests = count.withLock { $0 }
            #expect((2...30).contains(requests))
            try await cli.signet("token").fails(77, "no user is logged in here")
            try await cli.signet("login", url, "--timeout", "0").fails(64, "--timeout")
        }
    }

    /// A page of a captive portal, or of a server that is not an AM, and the exit code.
    static let pages: [(status: String, type: String, body: String, exit: Int32)] = [
        ("200 OK", "text/html", "<html><title>Hotel</title>Welcome, guest</html>", 76),
        ("302 Found", "text/html", "", 76), ("404 Not Found", "text/html", "<html>No such page</html>", 76),
        ("200 OK", "application/json", "{\"authId\":", 76), ("200 OK", "application/json", "{\"hello\":1}", 76),
        ("500 Internal Server Error", "text/html", "<html>Oops</html>", 69),
        ("503 Service Unavailable", "application/json", "{\"code\":503,\"reason\":\"Busy\",\"message\":\"busy\"}", 69),
    ]

    @Test("A response from a captive portal is not a login, and is not quoted", arguments: pages)
    func rejectsCaptivePortal(status: String, type: String, body: String, exit: Int32) async throws {
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.answer(status, headers: ["Content-Type: \(type)", "Location: http://portal.example.test/"], body)
            }
        }
        try await CommandLineFixture.with { cli in
            let outcome = try await cli.signet("login", "http://127.0.0.1:\(server.port)/am")
            outcome.fails(exit)
            #expect(!outcome.errors.contains("<html>") && outcome.errors.hasPrefix("signet: "))
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("A captive portal in place of the server costs the user neither token nor session")
    func keepsLoginBehindPortal() async throws {
        try await afterServer { cli, _, port in
            let token = try await cli.signet("token").succeeds().output
            let portal = try RawServer(port: port) { connection in
                while connection.request() != nil {
                    connection.answer("200 OK", headers: ["Content-Type: text/html"], "<html>Welcome, guest</html>")
                }
            }
            try await cli.signet("token", "--refresh").fails(76)
            try await cli.signet("userinfo").fails(76)
            #expect(try await cli.signet("token", "--offline").succeeds().output == token)
            portal.stop()
        }
    }

    @Test("A session that the server has forgotten is reported with the command to run, and nothing else is lost")
    func reportsForgottenSession() async throws {
        try await afterServer { cli, _, port in
            try await RunningServer.with(cli, ["--state", "memory"], port: port) { _ in
                try await cli.signet("token", "--refresh").fails(77, "log in again", "signet login --profile 127.0.0.1:")
            }
        }
    }

    /// A server whose journey accepts every user, and which shows a page before it issues a token.
    private func askingServer() throws -> RawServer {
        try RawServer { connection in
            while let request = connection.request() {
                let isPage = request.line.contains("/authorize")
                connection.answer(
                    isPage ? "302 Found" : "200 OK",
                    headers: isPage ? ["Location: /consent"] : ["Content-Type: application/json"],
                    request.line.contains("/authenticate") ? #"{"tokenId":"t"}"# : #"{"issuer":"http://127.0.0.1"}"#)
            }
        }
    }

    @Test("When the server needs user interaction before a token, the session is kept and --browser is named")
    func suggestsBrowserForInteraction() async throws {
        let server = try askingServer()
        try await CommandLineFixture.with { cli in
            let settings = try cli.write(
                "url: http://127.0.0.1:\(server.port)/am\nissuer: http://127.0.0.1\nclient: {id: app}\n".utf8, to: "settings.yaml"
            )
            for _ in 0..<2 {
                let login = try await cli.signet("login", "--settings", settings, "--profile", "p")
                #expect(login.status == 77 && login.output.contains("Logged in"), "\(login.errors)")
                #expect(login.errors.contains("signet login --profile p --browser") && !login.errors.contains("nothing was kept"))
            }
            let token = try await cli.signet("token", "--json")
            token.fails(77, "is valid", "signet login --profile p --browser")
            #expect(token.jsonError?["code"]?.string == "token.interactionRequired")
            #expect(try await cli.signet("logout", "--json").json["session"]?.string == "done")
        }
    }

    @Test("A login with --enroll that gets no token reports the missing account too, whether or not the session is kept")
    func reportsMissingEnrollmentAndToken() async throws {
        let asking = try askingServer()
        let refusing = try FakeProvider(isAM: true) { $0.authorizeAnswer = .page("400 Bad Request", FakeProvider.openAMPage) }
        try await CommandLineFixture.with { cli in
            let settings = try cli.write(
                "url: http://127.0.0.1:\(asking.port)/am\nissuer: http://127.0.0.1\nclient: {id: app}\n".utf8, to: "settings.yaml"
            )
            let kept = try await cli.signet("login", "--settings", settings, "--profile", "p", "--enroll")
            let ended = try await cli.signet("login", refusing.url, "--client", "app", "--enroll")
            for (login, word) in [(kept, "--browser"), (ended, "nothing was kept")] {
                #expect(login.status == 77, "\(login.errors)")
                let lines = login.errors.split(separator: "\n").filter { $0.hasPrefix("signet: ") }
                #expect(lines.first?.contains("--enroll enrolled nothing") == true, "\(login.errors)")
                #expect(lines.last?.contains(word) == true)
            }
        }
    }

    @Test("Each policy by which a server refused a value is reported in its own sentence")
    func reportsEachFailedPolicyInSentence() async throws {
        let body = #"""
            {"code":403,"reason":"Forbidden","message":"Policy validation failed","detail":{"failedPolicyRequirements":[
            {"property":"userName","policyRequirements":[{"policyRequirement":"MIN_LENGTH","params":{"minLength":3}}]},
            {"property":"mail","policyRequirements":[{"policyRequirement":"REQUIRED"},{"policyRequirement":"ODD"}]}],"result":false}}
            """#
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.answer("403 Forbidden", headers: ["Content-Type: application/json"], body)
            }
        }
        try await CommandLineFixture.with { cli in
            let outcome = try await cli.signet("login", "http://127.0.0.1:\(server.port)/am")
            outcome.fails(77, "Policy validation failed (HTTP 403); userName: Use at least 3 characters.; mail: ", "ODD")
        }
    }

    /// The server's answer to the first request of a journey, and the words of the error before the journey's name.
    static let refusedStarts: [(status: String, message: String, words: String)] = [
        ("400 Bad Request", "No Configuration found", "is there a journey called "),
        ("401 Unauthorized", "No Configuration found", "the journey is "), ("403 Forbidden", "Not today", "the journey is "),
    ]

    @Test("The error of a refused start names the journey, and the saved profile that it is from", arguments: refusedStarts)
    func namesRefusedJourney(status: String, message: String, words: String) async throws {
        let refuses = Mutex(false)
        let refusal = #"{"code":\#(status.prefix(3)),"reason":"\#(status.dropFirst(4))","message":"\#(message)"}"#
        let server = try RawServer { connection in
            let headers = ["Content-Type: application/json"]
            while let request = connection.request() {
                if !refuses.withLock({ $0 }) {
                    connection.answer("200 OK", headers: headers, #"{"tokenId":"t"}"#)
                } else if request.line.contains("/authenticate") {
                    connection.answer(status, headers: headers, refusal)
                } else {
                    connection.answer("503 Service Unavailable", headers: headers, "{}")
                }
            }
        }
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            let url = "http://127.0.0.1:\(server.port)/am"
            try await cli.signet("login", url, "--journey", "Moon", "--profile", "work").succeeds()
            refuses.withLock { $0 = true }
            let saved = try await cli.signet("login")
            saved.fails(77, message, words + "'Moon' (from the saved profile 'work'; --journey changes it)")
            let given = try await cli.signet("login", "--journey", "Sun")
            given.fails(77, message, words + "'Sun'")
            #expect(!given.errors.contains("saved profile"))
        }
    }

    @Test(
        "An invalid server address, or one that must not receive a password, exits with 65 and is named",
        arguments: [
            ("am.example.test", "url"), ("http://am.example.test/am", "url"), ("https://mira:horse@am.example.test/am", "url"),
            ("ftp://am.example.test", "url"), ("https://am.example.test/am?x=1", "url"),
        ])
    func refusesBadServerAddress(address: String, part: String) async throws {
        try await CommandLineFixture.with { cli in
            let outcome = try await cli.signet("login", address, "--json")
            outcome.fails(65)
            #expect(outcome.jsonError?["part"]?.string == part && !outcome.errors.contains("horse"))
        }
    }

    @Test("Contradicting or incomplete login options exit with 64 and change nothing")
    func refusesContradictingOptions() async throws {
        try await CommandLineFixture.with { cli in
            let rows: [([String], String)] = [
                (["login"], "signet login SERVER"), (["login", "https://a.test", "--browser"], "--client"),
                (["login", "https://a.test", "--device"], "--client"), (["login", "https://a.test", "--scope", "x"], "--client"),
                (["login", "https://a.test", "--browser", "--device", "--client", "c"], "one of them"),
                (["login", "https://a.test", "--browser", "--journey", "x", "--client", "c"], "journey"),
                (["login", "https://a.test", "--device", "--module", "x", "--client", "c"], "module"),
                (["login", "https://a.test", "--journey", "x", "--module", "y"], "one of them"),
                (["login", "https://a.test", "--module", "x", "--level", "1"], "one of them"),
                (["login", "https://a.test", "--level=-1"], "from 0"),
                (["login", "https://a.test", "--level", "high"], "--level"),
                (["login", "https://a.test", "--resume", "--module", "x"], "--resume"),
                (["login", "https://a.test", "--browser", "--enroll", "--client", "c"], "--enroll"),
                (["login", "https://a.test", "--replace"], "--enroll"), (["login", "https://a.test", "--rename"], "--enroll"),
                (["login", "https://a.test", "--enroll", "--replace", "--rename"], "exclude each other"),
                (["login", "https://a.test", "--enroll", "--yes"], "needs --replace"),
                (["token", "--offline", "--refresh"], "--offline"), (["logout", "--all", "--profile", "x"], "--all"),
            ]
            for (arguments, word) in rows { try await cli.start(arguments).end().fails(64, word) }
        }
    }

    @Test("Login settings are read from a file, and wrong settings are named")
    func readsSettingsFile() async throws {
        try await LoginTests.withServer { server, cli in
            let rows: [(String, Int32, String)] = [
                ("{\"cookiename\":\"x\"}", 65, "cookiename"), ("{\"timeout\":0}", 65, "timeout"),
                ("[]", 65, "settings.json:1:1: the profile must be settings"), ("{", 65, "not YAML"),
                ("# ours\ntimeout: soon\n", 65, "settings.json:2:1: timeout: must be a number of seconds"),
            ]
            for (text, exit, word) in rows {
                let path = try cli.write(text.utf8, to: "settings.json")
                try await cli.signet("login", server.url, "--settings", path).fails(exit, word)
            }
            try await cli.signet("login", server.url, "--settings", cli.directory.file("none.json")).fails(66, "none.json")
            let path = try cli.write(
                "{\"url\":\"\(server.url)\",\"client\":{\"id\":\"app\",\"redirectUri\":\"http://127.0.0.1/callback\"}}".utf8,
                to: "settings.json")
            let known = server.credentials
            try await cli.start(["login", "--settings", path] + known.arguments, input: .text(known.input)).end().succeeds()
            try await cli.signet("token").succeeds()
            // The settings of before in YAML, with a name of their own.
            let yaml = try cli.write(
                "url: \(server.url)\nclient:\n  id: app\n  redirectUri: http://127.0.0.1/callback\n".utf8, to: "settings.yaml")
            try await cli.start(
                ["login", "--settings", yaml, "--profile", "yaml"] + known.arguments, input: .text(known.input)
            ).end().succeeds()
            try await cli.signet("token", "--profile", "yaml").succeeds()
        }
    }

    @Test("A damaged or newer record of the logins is refused")
    func refusesDamagedLogins() throws {
        for text in ["junk", "{\"version\":2,\"profiles\":[]}", "{\"version\":1,\"profiles\":[{}]}", "{\"version\":1}"] {
            let damaged = (try? JSON.value(of: text.utf8)).flatMap { ProfileStore(json: $0) }
            #expect(damaged == nil, "\(text)")
        }
    }

    @Test("A login profile is found by name, by server address or as the default; an ambiguous one is reported")
    func findsProfile() throws {
        var store = ProfileStore()
        func profile(_ name: String, _ url: String) -> LoginProfile { LoginProfile(name: name, settings: ["url": .string(url)]) }
        #expect(throws: Failure.self) { try store.profile(nil) }
        store.keep(profile("a", "https://a.test/am/"), asDefault: false)
        store.keep(profile("b", "https://b.test/am"), asDefault: false)
        store.keep(profile("b2", "https://b.test/am"), asDefault: false)
        #expect(try store.profile(nil).name == "a" && store.profile("https://a.test/am").name == "a")
        #expect(throws: Failure.self) { try store.profile("https://b.test/am") }
        store.keep(profile("b", "https://b.test/am"), asDefault: true)
        #expect(try store.profile(nil).name == "b" && store.profiles.count == 3)
        store.remove("b")
        #expect(throws: Failure.self) { try store.profile(nil) }
        store.remove("a")
        #expect(try store.profile(nil).name == "b2")
    }
}
