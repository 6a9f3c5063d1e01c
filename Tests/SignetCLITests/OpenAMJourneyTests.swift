import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Journeys of signet at an OpenAM")
struct OpenAMJourneyTests {
    private static let password = FakeOpenAM.Page.password

    /// Logs dave in with a password and further options.
    private func logIn(
        _ cli: CommandLineFixture, _ server: FakeOpenAM, _ options: String..., password: String = Self.password
    ) async throws -> Outcome {
        try await cli.start(
            ["login", server.url, "--answer", "name=dave", "--answer", "password=-"] + options, input: .text("\(password)\n")
        ).end()
    }

    @Test("C1: An OpenAM is recognized at the login, and the next process asks its version of the sessions resource only")
    func remembersSessionsVersion() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server).succeeds()
            #expect(server.sessions == ["sso-1"])
            try await cli.signet("logout").succeeds()
            #expect(server.sessions.isEmpty && server.read(\.sessionsVersions) == ["2.0"])
        }
    }

    @Test("C1: The version that the end of a first session has shown is remembered with the second session")
    func remembersVersionOfReplacedSession() async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            try await cli.signet("login", server.url).succeeds()
            #expect(server.read(\.sessionsVersions) == ["3.1", "2.0"])
            try await cli.signet("logout").succeeds()
            #expect(server.read(\.sessionsVersions) == ["3.1", "2.0", "2.0"])
            // The ended session is forgotten, and the server is recognized anew.
            try await cli.signet("login", server.url).succeeds()
            try await cli.signet("logout").succeeds()
            #expect(server.read(\.sessionsVersions).suffix(2) == ["3.1", "2.0"] && server.sessions.isEmpty)
        }
    }

    @Test("A wrong password at OpenAM ends the login with 77 and leaves nothing behind")
    func exitsOnWrongPasswordAtOpenAM() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server, password: "wrong").fails(77, "Authentication Failed (HTTP 401)")
            #expect(server.sessions.isEmpty)
            #expect(try await cli.signet("logout").succeeds().line == "No user is logged in here.")
        }
    }

    @Test("C2: A step that is refused without its script is sent once more with it, and later steps with it at once")
    func sendsScriptsOfLaterStepsAtOnce() async throws {
        let server = try FakeOpenAM(.chain([.plainScript, .plainScript]))
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            #expect(server.callbackCounts == [1, 2, 2])
            // The next process remembers it.
            try await cli.signet("login", server.url).succeeds()
            #expect(server.callbackCounts == [1, 2, 2, 2, 2])
        }
    }

    @Test("C2: A step of a module is sent with its script at once")
    func sendsScriptsOfModules() async throws {
        let server = try FakeOpenAM(.chain([.dataStore, .script]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server).succeeds()
            #expect(server.callbackCounts == [2, 2] && server.sessions == ["sso-1"])
        }
    }

    @Test("The setting dialect overrides what an OpenAM's answers show")
    func settingOverridesAnswers() async throws {
        let server = try FakeOpenAM(.chain([.dataStore, .script]))
        try await CommandLineFixture.with { cli in
            let settings = try cli.write("dialect: accessManager\n".utf8, to: "settings.yaml")
            try await logIn(cli, server, "--settings", settings).fails(77, "Incorrect number of callbacks")
            #expect(server.callbackCounts == [2, 1])
            let known = try cli.write("dialect: openAM\n".utf8, to: "known.yaml")
            try await logIn(cli, server, "--settings", known).succeeds()
            try await cli.signet("logout").succeeds()
            #expect(server.callbackCounts == [2, 1, 2, 2] && server.read(\.sessionsVersions) == ["2.0"])
        }
    }

    @Test("A one-time password of OpenAM's HOTP module is requested and submitted, and a wrong one is refused")
    func logsInWithOneTimePassword() async throws {
        let server = try FakeOpenAM(.chain([.dataStore, .oneTimePassword]))
        let answers = ["code=-", "confirmation=Request OTP", "code=-", "confirmation=Submit OTP"].flatMap { ["--answer", $0] }
        try await CommandLineFixture.with { cli in
            for (code, status, sessions) in [("654321", 77, []), ("123456", 0, ["sso-1"])] as [(String, Int32, Set<String>)] {
                let login = try await cli.start(
                    ["login", server.url, "--answer", "name=dave", "--answer", "password=-"] + answers,
                    input: .text("\(Self.password)\n000000\n\(code)\n")
                ).end()
                #expect(login.status == status && server.sessions == sessions, "\(login.errors)")
            }
        }
    }

    @Test("C5: A forced login without a session is a plain one")
    func forcesNothingWithoutSession() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server, "--force").succeeds()
            let forced = server.authenticateQueries.compactMap { $0["ForceAuth"] }
            #expect(forced.isEmpty && server.sessions == ["sso-1"])
        }
    }

    @Test("C5: A forced login at OpenAM names the session in the query of the start and keeps it")
    func namesSessionOfForcedLoginInQuery() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server).succeeds()
            let forced = try await logIn(cli, server, "--force").succeeds()
            let queries = Array(server.authenticateQueries.suffix(2))
            #expect(queries[0]["ForceAuth"] == "true" && queries[0]["sessionUpgradeSSOTokenId"] == "sso-1")
            #expect(queries[1] == ["ForceAuth": "true"])
            #expect(server.sessions == ["sso-1"] && server.read(\.sessionsVersions).isEmpty)
            #expect(!forced.errors.contains("sso-1") && !forced.output.contains("sso-1"))
        }
    }

    @Test("C5: A forced login at OpenAM whose session has ended logs in without it")
    func logsInWhenForcedSessionHasEnded() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server).succeeds()
            server.change { $0.sessions = [] }
            let forced = try await logIn(cli, server, "--force").succeeds()
            #expect(server.sessions == ["sso-2"] && !forced.errors.contains("sso-1"))
        }
    }

    @Test("Tokens at OpenAM are renewed by the refresh token, and by the session when that is revoked")
    func renewsTokensAtOpenAM() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server, "--client", "app", "--scope", "profile").succeeds()
            let first = try await cli.signet("token").succeeds().line
            let second = try await cli.signet("token", "--refresh").succeeds().line
            server.change { $0.oauth.removeRefreshTokens() }
            let third = try await cli.signet("token", "--refresh").succeeds().line
            #expect(Set([first, second, third]).count == 3)
            #expect(
                server.read(\.oauth.grants) == ["authorization_code", "refresh_token", "refresh_token", "authorization_code"])
            try await cli.signet("logout").succeeds()
            #expect(server.sessions.isEmpty && !server.read(\.oauth.revoked).isEmpty)
        }
    }

    @Test(
        "K4: Tokens of an OpenAM are revoked at logout and at the next login, although its discovery document omits the endpoint",
        arguments: [.none, .chain([.dataStore])] as [FakeOpenAM.Step])
    func revokesAtDiscoveredOpenAM(step: FakeOpenAM.Step) async throws {
        let server = try FakeOpenAM(step)
        try await CommandLineFixture.with { cli in
            let discovery = "\(server.url)/oauth2/realms/root/.well-known/openid-configuration"
            let settings = try cli.write(#"{"endpoints":{"discovery":"\#(discovery)"}}"#.utf8, to: "settings.json")
            try await logIn(cli, server, "--client", "app", "--scope", "profile", "--settings", settings).succeeds()
            // In the first case, the end of the session is the first answer that shows the OpenAM.
            let logout = try await cli.signet("logout", "--json").succeeds().json
            #expect(logout["tokens"]?.string == "done" && logout["complete"]?.bool == true)
            #expect(server.read(\.oauth.revoked) == ["refresh-2"] && server.sessions.isEmpty)
            try await logIn(cli, server, "--client", "app", "--scope", "profile", "--settings", settings).succeeds()
            let second = try await logIn(cli, server, "--scope", "openid").succeeds()
            #expect(server.read(\.oauth.revoked) == ["refresh-2", "refresh-4"] && !second.errors.contains("cannot revoke"))
        }
    }

    @Test("A login with the default scope gets an ID token from OpenAM, which its keys verify, also after a renewal")
    func getsIDToken() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            let login = try await logIn(cli, server, "--client", "app", "--json").succeeds()
            #expect(login.json["subject"]?.string == "dave" && login.json["scope"]?.string == "openid")
            #expect(server.read(\.oauth.keyRequests) == 1)
            try await cli.signet("token", "--refresh").succeeds()
            #expect(server.read(\.oauth.grants) == ["authorization_code", "refresh_token"])
        }
    }

    @Test("An ID token whose signature is not from OpenAM's key ends the login with 76")
    func refusesForgedIDToken() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        server.change { $0.oauth.forgesIDTokens = true }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server, "--client", "app").fails(76, "the id_token was refused: signature")
        }
    }

    @Test("C1: A login that gets no token reports the earlier session that it could not end")
    func reportsReplacedSession() async throws {
        let server = try FakeOpenAM(.chain([.dataStore]))
        try await CommandLineFixture.with { cli in
            try await logIn(cli, server, "--client", "app", "--scope", "profile").succeeds()
            server.refuseLogout("403 Forbidden")
            server.change { $0.oauth.refusesClient = true }
            let second = try await logIn(cli, server)
            #expect(second.status != 0 && second.output.isEmpty)
            #expect(
                second.errors.contains("the earlier login was replaced on this machine, but the server did not end everything"))
            #expect(second.errors.contains("there is no token"))
            #expect(server.sessions == ["sso-1", "sso-2"])
        }
    }

    @Test(
        "C13: The languages of the environment are sent with each request of a journey",
        arguments: [("de_AT.UTF-8", "de_AT:en", "de-at,en;q=0.9,de;q=0.8"), ("C.UTF-8", "de_AT:en", nil)]
            as [(String, String, String?)])
    func sendsLanguages(locale: String, languages: String, header: String?) async throws {
        let server = try FakeOpenAM(.chain([.script]))
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url, environment: ["LANG": locale, "LANGUAGE": languages]).succeeds()
            #expect(server.read(\.languages) == [header, header])
        }
    }
}
