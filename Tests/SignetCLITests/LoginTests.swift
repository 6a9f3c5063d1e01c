import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet login, token, userinfo and logout, against signet serve")
struct LoginTests {
    static func withServer(
        _ options: String..., body: (RunningServer, CommandLineFixture) async throws -> Void
    ) async throws {
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli, options) { server in try await body(server, cli) }
        }
    }

    @Test("A user logs in and renews the token at a server whose clock was moved by 14 hours", arguments: [50_400, -50_400])
    func logsInWithMovedClock(seconds: Int) async throws {
        try await CommandLineFixture.with { cli in
            let token = "a token of a test, long enough".replacing(" ", with: "-")
            let file = try cli.write(token.utf8, to: "admin.token")
            try await RunningServer.with(cli, ["--admin-token-file", file]) { server in
                let reply = try await AsyncHTTPTransport().use { transport in
                    try await transport.send(
                        HTTPRequest(
                            "POST", server.url + "/admin/clock/advance",
                            headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                            body: Array(#"{"seconds": \#(seconds)}"#.utf8)))
                }
                #expect(reply.status == 200)
                let dateHeader = try #require(reply.headers["Date"])
                let date = try #require(HTTPDate.date(from: dateHeader))
                #expect(abs(date.timeIntervalSinceNow - Double(seconds)) < 3600)
                try await server.logIn(cli, "--client", "app").succeeds()
                try await cli.signet("token", "--refresh").succeeds()
                #expect(try await cli.signet("userinfo").succeeds().output.contains("sub: demo\n"))
            }
        }
    }

    @Test("A user logs in by password, renews the token, reads the user info and logs out of everything")
    func logsInByPassword() async throws {
        try await Self.withServer { server, cli in
            let login = try await server.logIn(cli, "--client", "app", "--json").succeeds()
            #expect(login.json["subject"]?.string == "demo" && login.json["session"]?.bool == true)
            #expect(login.json["server"]?.string == server.url && login.json["realm"]?.string == "/")
            #expect(login.json["default"]?.bool == true && login.json["scope"]?.string == "openid")
            #expect(login.json["expiresAt"]?.string?.hasSuffix("Z") == true)
            #expect(!(login.output + login.errors).contains(server.browser.password))

            let token = try await cli.signet("token").succeeds().output
            let isOneWord = token.dropLast().allSatisfy { $0.isASCII && !$0.isWhitespace }
            #expect(token.hasSuffix("\n") && isOneWord && token.count > 20)
            #expect(try await cli.signet("token", "--offline").succeeds().output == token)
            let described = try await cli.signet("token", "--json").succeeds().json
            let accessTokenLine = described["accessToken"]?.string.map { $0 + "\n" }
            #expect(accessTokenLine == token && described["tokenType"]?.string == "Bearer")
            let renewed = try await cli.signet("token", "--refresh").succeeds().output
            #expect(renewed != token)
            #expect(try await cli.signet("token").succeeds().output == renewed)

            #expect(try await cli.signet("userinfo", "--json").succeeds().json["sub"]?.string == "demo")
            #expect(try await cli.signet("userinfo").succeeds().output.contains("sub: demo\n"))

            let logout = try await cli.signet("logout", "--json").succeeds().json
            #expect(logout["complete"]?.bool == true && logout["local"]?.string == "done" && logout["tokens"]?.string == "done")
            #expect(logout["session"]?.string == "done")
            for command in ["token", "userinfo"] {
                try await cli.signet(command).fails(77, "no user is logged in here", "signet login")
            }
            #expect(try await cli.signet("logout").succeeds().line == "No user is logged in here.")
            #expect(try await cli.signet("logout", "--json").succeeds().output == "")
        }
    }

    @Test("A login as the first command makes the vault, says so once, and keeps its session and tokens there")
    func loginMakesVault() async throws {
        // No key protector but a key file.
        let unreachable = [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SIGNET_TCTI": "device:/nonexistent",
            "CREDENTIALS_DIRECTORY": "",
        ]
        try await CommandLineFixture.with(vault: false) { cli in
            try await RunningServer.with(cli) { server in
                let (known, password) = server.credentials
                let arguments = ["login", server.url, "--client", "app"] + known
                let login = try await cli.start(arguments, input: .text(password), environment: unreachable).end().succeeds()
                #expect(login.errors.contains("made a vault in \(cli.home)"), "\(login.errors)")
                let token = try await cli.signet("token", environment: unreachable).succeeds()
                #expect(token.line.count > 20 && token.errors == "")
                let info = try await cli.signet("userinfo", "--json", environment: unreachable).succeeds()
                #expect(info.json["sub"]?.string == "demo")
            }
        }
    }

    @Test("A wrong password exits with 77 and the server's message, and nothing is kept")
    func exitsOnWrongPassword() async throws {
        try await Self.withServer { server, cli in
            let outcome = try await cli.signet(
                "login", server.url, "--answer", "name=demo", "--answer", "password=-", "--json", input: .text("wrong\n"))
            outcome.fails(77, "Login failure")
            #expect(outcome.jsonError?["code"]?.string == "journey.loginFailed")
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("A second login reuses the session without an answer, and --force asks again")
    func reusesSession() async throws {
        try await Self.withServer { server, cli in
            try await server.logIn(cli, "--client", "app").succeeds()
            let token = try await cli.signet("token").succeeds().output
            for arguments in [[server.url], []] {
                let again = try await cli.start(["login"] + arguments + ["--json"]).end().succeeds()
                #expect(again.json["subject"]?.string == "demo" && again.errors == "")
            }
            #expect(try await cli.signet("token").succeeds().output == token)
            try await cli.signet("login", "--force").fails(64, "'User Name'", "--answer name=")
            #expect(try await cli.signet("token").succeeds().output == token)
            try await server.logIn(cli, "--force").succeeds()
        }
    }

    @Test("A login with another scope takes effect without asking the user again")
    func changesScope() async throws {
        try await Self.withServer { server, cli in
            try await server.logIn(cli, "--client", "app").succeeds()
            let before = try await cli.signet("token").succeeds().line
            let login = try await cli.signet("login", "--scope", "openid profile", "--scope", "email", "--json").succeeds()
            let scopes = login.json["scope"]?.string?.split(separator: " ").sorted()
            #expect(scopes == ["email", "openid", "profile"])
            let after = try await cli.signet("token", "--json").succeeds().json
            #expect(after["scope"] == login.json["scope"] && after["accessToken"]?.string != before)
        }
    }

    @Test("An unknown journey, realm or path is reported with the option to check")
    func reportsUnknownJourneyRealmOrPath() async throws {
        try await Self.withServer { server, cli in
            try await cli.signet("login", server.url, "--journey", "Moon").fails(77, "No Configuration found", "'Moon'")
            try await cli.signet("login", server.url, "--realm", "moon").fails(77, "/moon", "a realm of it")
            try await cli.signet("login", server.url + "/json").fails(77, "HTTP 404", "deployment path")
            try await cli.signet("login", server.url, "--profile", "two words").fails(64, "one word")
        }
    }

    @Test("A session without a client has no token, and signet token names the missing --client")
    func reportsMissingClient() async throws {
        try await Self.withServer { server, cli in
            let login = try await server.logIn(cli).succeeds()
            #expect(login.output == "Logged in at \(server.url).\nThere is a session and no token: a token needs --client.\n")
            try await cli.signet("token").fails(65, "--client")
            try await cli.signet("userinfo").fails(65, "client")
            // The client is added later, and the first login is not left behind.
            try await server.logIn(cli, "--client", "app").succeeds()
            try await cli.signet("token").succeeds()
            #expect(try await cli.signet("logout", "--all", "--json").succeeds().jsonLines.count == 1)
        }
    }

    @Test("A client, redirect URI or scope that the server does not know exits with 77, and nothing is kept")
    func refusesUnknownClient() async throws {
        try await Self.withServer { server, cli in
            for arguments in [
                ["--client", "nobody"], ["--client", "app", "--redirect", "org.example.app://other"],
                ["--client", "app", "--redirect", "org.example.app://callback", "--scope", "moon"],
            ] {
                let known = server.credentials
                let outcome = try await cli.start(
                    ["login", server.url] + known.arguments + arguments, input: .text(known.input)
                ).end()
                #expect(outcome.status == 77, "\(outcome.errors)")
                #expect(outcome.output == "" && outcome.errors.contains("nothing was kept"))
                try await cli.signet("token").fails(77, "no user is logged in here")
            }
            try await server.logIn(cli, "--client", "app", "--redirect", "org.example.app://callback").succeeds()
            try await cli.signet("token").succeeds()
        }
    }

    /// A user and an app in a realm below the top one.
    private static let alpha = """
        realms: [/, /alpha]
        users: [{name: demo, realm: /alpha}]
        clients: [{id: app, realm: /alpha, redirectURIs: ["http://127.0.0.1/callback"]}]
        """

    @Test("Logins at several servers and realms coexist; the first is the default until the user sets another")
    func keepsSeveralLogins() async throws {
        try await CommandLineFixture.with { cli in
            let alpha = ["--config", try cli.write(Self.alpha.utf8, to: "alpha.yaml"), "--state", "memory"]
            try await RunningServer.with(cli) { first in
                try await RunningServer.with(cli, alpha) { second in
                    try await first.logIn(cli, "--client", "app").succeeds()
                    let other = try await second.logIn(cli, "--client", "app", "--realm", "alpha", "--json").succeeds().json
                    #expect(other["default"]?.bool == false && other["realm"]?.string == "/alpha")
                    #expect(other["profile"]?.string?.hasSuffix("/alpha") == true)
                    try await first.logIn(cli, "--client", "app", "--profile", "again").succeeds()
                    var tokens: [String?] = []
                    for profile in [first.url, second.url, "again"] {
                        tokens.append(try await cli.signet("token", "--profile", profile).tokenUnlessAmbiguous())
                    }
                    // The first server's address matches two logins.
                    #expect(tokens[0] == nil && tokens[1] != nil && tokens[2] != nil && tokens[1] != tokens[2])
                    let defaultToken = try await cli.signet("token").succeeds().line
                    #expect(defaultToken != tokens[1] && defaultToken != tokens[2])
                    try await cli.signet("login", "--profile", "again", "--default").succeeds()
                    #expect(try await cli.signet("token").succeeds().line == tokens[2])
                    try await cli.signet("login", second.url, "--profile", "again").fails(73, "again", first.url)
                    try await cli.signet("token", "--profile", "moon").fails(66, "moon", "again")
                    let words = try await cli.signet("logout").succeeds().line
                    #expect(words == "Logged out of \(first.url) (again).")
                    try await cli.signet("token").fails(65, "--profile")
                    #expect(try await cli.signet("token", "--profile", second.url).succeeds().line == tokens[1])
                    #expect(try await cli.signet("logout", "--all", "--json").succeeds().jsonLines.count == 2)
                }
            }
        }
    }

    @Test("A signal while a journey waits for a push exits with 130 and keeps nothing")
    func interruptsWaitingLogin() async throws {
        try await Self.withServer { server, cli in
            try await server.registerForPush(cli)
            for number in [SIGINT, SIGTERM] {
                let known = server.credentials
                let login = try cli.start(
                    ["login", server.url, "--journey", "PushNumberLogin", "--client", "app"] + known.arguments,
                    input: .text(known.input))
                try await login.waitForOutput { _, errors in errors.contains("Choose this number") }
                login.signal(number)
                let outcome = await login.end()
                outcome.fails(130, "interrupted")
                try await cli.signet("token").fails(77, "no user is logged in here")
            }
        }
    }

    @Test("A push with a number is approved by a second process, and the login succeeds")
    func logsInByPush() async throws {
        try await Self.withServer { server, cli in
            try await server.registerForPush(cli)
            let known = server.credentials
            let login = try cli.start(
                ["login", server.url, "--journey", "PushNumberLogin", "--client", "app", "--json"] + known.arguments,
                input: .text(known.input))
            let shown = try await login.waitForOutput { _, errors in errors.contains("Choose this number") }.errors
            let number = try #require(shown.firstMatch(of: /on your device: (\d+)/)).1
            let message = try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
            try await cli.start(["push", "approve", #require(message["id"]?.string), "--number", String(number)]).end()
                .succeeds()
            let outcome = try await login.end().succeeds()
            #expect(outcome.json["subject"]?.string == "demo")
            // The waiting step was repeated by the server, and was shown once.
            #expect(outcome.errors.ranges(of: "Choose this number").count == 1)
        }
    }

    @Test("A denied push ends the login with 77")
    func reportsDeniedPush() async throws {
        try await Self.withServer { server, cli in
            try await server.registerForPush(cli)
            async let login = server.logIn(cli, "--journey", "PushLogin")
            let message = try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
            try await cli.start(["push", "deny", #require(message["id"]?.string)]).end().succeeds()
            try await login.fails(77, "Login failure")
        }
    }

    @Test("signet login --enroll stores a new authenticator for codes and for push in the vault")
    func enrollsDuringLogin() async throws {
        try await Self.withServer { server, cli in
            let known = server.credentials
            let codes = try cli.start(
                ["login", server.url, "--journey", "OATHRegistration", "--enroll", "--answer", "code=-"] + known.arguments,
                input: .open)
            codes.type(known.input)
            let enrolled = try await codes.waitForOutput { _, errors in errors.contains("Enrolled Signet: demo") }
            #expect(!enrolled.errors.contains("otpauth://"))
            codes.type(try await cli.signet("code", "demo").succeeds().output)
            codes.closeInput()
            try await codes.end().succeeds()

            let push = try await server.logIn(cli, "--journey", "PushRegistration", "--enroll").succeeds()
            #expect(push.errors.contains("Enrolled Signet: demo"))
            #expect(try await cli.accounts().first?["mechanisms"]?.array?.count == 2)
        }
    }

    @Test("Without --enroll no account is stored, and the secret of a new account is not printed")
    func requiresEnrollOption() async throws {
        try await Self.withServer { server, cli in
            let outcome = try await server.logIn(cli, "--journey", "OATHRegistration")
            outcome.fails(64, "--enroll")
            #expect(!outcome.errors.contains("otpauth") && !outcome.errors.contains("secret="))
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("A device bound by a key in the vault logs in without a user name")
    func logsInByBoundDevice() async throws {
        try await Self.withServer { server, cli in
            try await cli.signet("login", server.url, "--journey", "DeviceLogin").fails(
                77, "Login failure", "ClientNotRegistered")
            try await server.logIn(cli, "--journey", "DeviceBinding").succeeds()
            try await cli.signet("logout").succeeds()
            let login = try await cli.signet("login", server.url, "--journey", "DeviceLogin", "--client", "app", "--json")
                .succeeds()
            #expect(login.json["subject"]?.string == "demo")
        }
    }
}

extension Outcome {
    /// Returns the token, or nil for an ambiguous request.
    fileprivate func tokenUnlessAmbiguous() throws -> String? {
        if status == 65 { return nil }
        return try succeeds().line
    }
}
