import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet at an OpenAM")
struct OpenAMTests {
    private static let passwordCallback =
        #"{"type":"PasswordCallback","output":[{"name":"prompt","value":"Credentials"}],"input":[{"name":"IDToken1","value":""}]}"#

    /// The second step of OpenAM's WebAuthn module, as recorded.
    private static let moduleStep =
        "[\(passwordCallback)," + #"{"type":"TextOutputCallback","output":[{"name":"message","value":""#
        + #"{\"challenge\":{\"value\":\"QVFJQzV3\"},\"timeout\":60000,\"rpId\":\"openam.example.org\",\"allowCredentials\":[]}"#
        + #""},{"name":"messageType","value":"0"}]}]"#

    /// The step with which OpenAM's WebAuthn module registers a passkey, as recorded (authenticate 994), with fewer algorithms.
    private static let moduleRegistrationStep =
        "[\(passwordCallback)," + #"{"type":"TextOutputCallback","output":[{"name":"message","value":""#
        + #"{\"rp\":{\"id\":\"openam.example.org\",\"name\":\"openam.example.org\"},"#
        + #"\"user\":{\"id\":\"ZGF2ZQ==\",\"name\":\"dave\",\"displayName\":\"dave\"},"#
        + #"\"challenge\":{\"value\":\"QVFJQzV3\"},\"pubKeyCredParams\":[{\"type\":\"public-key\",\"alg\":-7}],"#
        + #"\"timeout\":60000,\"excludeCredentials\":[],"#
        + #"\"authenticatorSelection\":{\"requireResidentKey\":true,\"userVerification\":\"preferred\"},"#
        + #"\"attestation\":\"none\"}"# + #""},{"name":"messageType","value":"0"}]}]"#

    /// A WebAuthn request of AM with a password field beside it.
    private static let metadataStep =
        "[\(passwordCallback)," + #"{"type":"MetadataCallback","output":[{"name":"data","value":"#
        + #"{"_action":"webauthn_authentication","_type":"WebAuthn","challenge":"AAECAw==","_relyingPartyId":"example.org"}}]},"#
        + #"{"type":"HiddenValueCallback","output":[{"name":"value","value":"false"},{"name":"id","value":"webAuthnOutcome"}],"#
        + #""input":[{"name":"IDToken2","value":"webAuthnOutcome"}]}]"#

    private static let password = "correct horse battery"

    @Test(
        "C4: OpenAM's WebAuthn module is refused with 77, and the password is not sent",
        arguments: [moduleStep, moduleRegistrationStep], [[], ["--json"]])
    func refusesWebAuthnModule(step: String, options: [String]) async throws {
        let server = try FakeOpenAM(.asking(callbacks: step))
        try await CommandLineFixture.with { cli in
            let login = try await cli.start(
                ["login", server.url, "--answer", "password=-"] + options, input: .text(Self.password + "\n")
            ).end()
            login.fails(77, "passkey", "--browser", "no password was sent")
            #expect(server.authenticateBodies.count == 1 && server.sessions.isEmpty)
            let passwordWasSent = server.authenticateBodies.contains { $0.contains(Self.password) }
            #expect(!passwordWasSent)
        }
    }

    @Test("C4: A password field beside a WebAuthn request stays empty")
    func keepsPasswordFromWebAuthnRequest() async throws {
        let server = try FakeOpenAM(.asking(callbacks: Self.metadataStep))
        try await CommandLineFixture.with { cli in
            let login = try await cli.start(
                ["login", server.url, "--answer", "password=-"], input: .text(Self.password + "\n")
            ).end()
            try login.succeeds()
            #expect(login.errors.contains("The server did not ask for: password"))
            #expect(server.authenticateBodies.count == 2)
            let passwordWasSent = server.authenticateBodies.contains { $0.contains(Self.password) }
            #expect(!passwordWasSent)
        }
    }

    @Test("C1: Logout ends the session through version 2.0 of the sessions resource")
    func endsSessionAtOpenAM() async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            #expect(server.sessions == ["sso-1"])
            #expect(try await cli.signet("logout").succeeds().line == "Logged out of \(server.url).")
            #expect(server.sessions.isEmpty)
        }
    }

    /// The response with which the server refuses to end a session, and the exit code.
    static let refusals: [(status: String, exit: Int32)] = [
        ("404 Not Found", 77), ("403 Forbidden", 77), ("500 Internal Server Error", 69), ("503 Service Unavailable", 69),
    ]

    @Test("C1: A logout that the server refuses is reported and exits with 69 or 77", arguments: refusals)
    func reportsRefusedLogout(status: String, exit: Int32) async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            server.refuseLogout(status)
            let logout = try await cli.signet("logout", "--json")
            #expect(logout.status == exit, "\(logout.errors)")
            #expect(logout.json["session"]?.string == "failed" && logout.json["local"]?.string == "done")
            #expect(logout.json["complete"]?.bool == false && logout.jsonError?["part"]?.string == "session")
            #expect(server.sessions == ["sso-1"])
        }
    }

    @Test("C1: A second login at OpenAM ends the session of the first")
    func endsSessionOfFirstLogin() async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            try await cli.signet("login", server.url).succeeds()
            #expect(server.sessions == ["sso-2"])
        }
    }

    @Test("C1: The state of a session behind a login page is asked through version 2.0 of the sessions resource")
    func asksSessionState() async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url, "--client", "app", "--scope", "profile").succeeds()
            server.change {
                $0.oauth.removeRefreshTokens()
                $0.oauth.showsLogin = true
            }
            // The session goes on, which only version 2.0 reports; the next process begins with it.
            for (options, versions) in [(["--refresh"], ["3.1", "2.0"]), ([], ["3.1", "2.0", "2.0"])]
                as [([String], [String])]
            {
                let token = try await cli.start(["token", "--json"] + options).end()
                token.fails(77, "is valid")
                #expect(token.jsonError?["code"]?.string == "token.interactionRequired")
                #expect(server.read(\.sessionsVersions) == versions && server.sessions == ["sso-1"])
            }
        }
    }

    @Test("C1: A session behind a login page that has ended is removed, and a new login is required")
    func removesEndedSession() async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url, "--client", "app", "--scope", "profile").succeeds()
            server.change {
                $0.oauth.removeRefreshTokens()
                $0.sessions = []
            }
            let token = try await cli.signet("token", "--refresh", "--json")
            token.fails(77, "has ended")
            #expect(token.jsonError?["code"]?.string == "token.loginRequired")
            // The session is removed, so the server is not asked about it again.
            let next = try await cli.signet("token", "--json")
            #expect(next.jsonError?["code"]?.string == "token.loginRequired")
            #expect(server.read(\.sessionsVersions) == ["3.1"])
        }
    }

    @Test("C1: A second login that cannot end the first session is kept and exits with 69 or 77", arguments: refusals)
    func keepsLoginOverLivingSession(status: String, exit: Int32) async throws {
        let server = try FakeOpenAM()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", server.url).succeeds()
            server.refuseLogout(status)
            let second = try await cli.signet("login", server.url)
            #expect(second.status == exit)
            #expect(second.errors.contains("logged in, but the server did not end everything"))
            #expect(second.output.contains("Logged in at \(server.url)"))
            #expect(server.sessions == ["sso-1", "sso-2"])
            server.refuseLogout("200 OK")
            try await cli.signet("logout").succeeds()
            #expect(server.sessions == ["sso-1"])
        }
    }
}
