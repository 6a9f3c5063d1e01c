import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet logout --browser, and logins whose answer is posted")
struct BrowserLogoutTests {
    /// Logs in at the provider with the settings of a client.
    private func logIn(_ cli: CommandLineFixture, _ provider: FakeProvider, client: String) async throws {
        let settings = try cli.write(#"{"client":\#(client)}"#.utf8, to: "settings.json")
        try await cli.logInWithBrowser("--issuer", provider.url, "--client", "app", "--settings", settings).succeeds()
    }

    private static let returning = #"{"signOutRedirectUri":"http://127.0.0.1/bye"}"#

    @Test("signet logout --browser ends the session in the browser and waits until the browser comes back")
    func logsOutInBrowser() async throws {
        let provider = try FakeProvider { $0.returnsFromLogout = true }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: Self.returning)
            let logout = try cli.start(["logout", "--browser", "--json"], environment: try cli.withIdleBrowser())
            let shown = try await logout.waitForAddress()
            let page = try #require(shown)
            // The printed address has neither the id_token nor the state.
            #expect(page.hasPrefix("http://127.0.0.1:") && !page.contains("?"))
            try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
                let first = try await transport.send(HTTPRequest("GET", page))
                let address = try #require(first.headers["Location"])
                let asked = FormCoding.query(of: address)
                #expect(first.status == 303 && address.hasPrefix("\(provider.url)/protocol/logout?"))
                #expect(asked["id_token_hint"]?.hasPrefix("eyJ") == true && asked["client_id"] == "app")
                #expect(provider.revoked.count == 1)
                let redirect = try await transport.send(HTTPRequest("GET", address))
                let back = try #require(redirect.headers["Location"])
                // Another program doesn't know the state.
                let guess = try await transport.send(HTTPRequest("GET", back + "x"))
                #expect(guess.status == 400)
                let end = try await transport.send(HTTPRequest("GET", back))
                let text = String(decoding: end.body, as: UTF8.self)
                #expect(end.status == 200 && text.contains("<title>Logout</title>"))
            }
            let outcome = try await logout.end().succeeds()
            #expect(outcome.json["openIDSession"]?.string == "done" && outcome.json["complete"]?.bool == true)
            #expect(outcome.json["tokens"]?.string == "done" && outcome.json["local"]?.string == "done")
            #expect(!outcome.errors.contains("eyJ") && !outcome.output.contains("eyJ"))
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("Without a loopback address signet logout --browser shows the page of the provider and does not wait")
    func showsPageOfProvider() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            for isJSON in [true, false] {
                try await logIn(cli, provider, client: #"{"signOutRedirectUri":"https://app.example.com/bye"}"#)
                let logout = try cli.start(
                    ["logout", "--browser"] + (isJSON ? ["--json"] : []), environment: try cli.withIdleBrowser())
                let shown = try await logout.waitForAddress()
                let page = try #require(shown)
                let answer = try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
                    try await transport.send(HTTPRequest("GET", page))
                }
                let asked = FormCoding.query(of: answer.headers["Location"] ?? "")
                #expect(asked["id_token_hint"] != nil && asked["state"] == nil)
                #expect(asked["post_logout_redirect_uri"] == "https://app.example.com/bye")
                let outcome = try await logout.end().succeeds()
                if isJSON {
                    #expect(outcome.json["openIDSession"]?.string == "showedPage" && outcome.json["local"]?.string == "done")
                } else {
                    #expect(outcome.output.contains("was opened in the browser") && outcome.output.contains("loopback address"))
                }
            }
        }
    }

    @Test("A browser that does not come back in time ends signet logout --browser with 69, and the login is deleted here")
    func endsWithoutBrowser() async throws {
        let provider = try FakeProvider { $0.returnsFromLogout = true }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: Self.returning)
            let outcome = try await cli.start(
                ["logout", "--browser", "--timeout", "1", "--json"], environment: try cli.withIdleBrowser()
            ).end()
            #expect(outcome.status == 69 && outcome.json["openIDSession"]?.string == "failed", "\(outcome.errors)")
            #expect(outcome.json["local"]?.string == "done" && outcome.json["tokens"]?.string == "done")
            #expect(outcome.errors.contains("logged out here") && outcome.errors.contains("within 1 seconds"))
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("Ctrl-C while the browser is open exits with 130, and the login is deleted here and its tokens are revoked")
    func interruptsLogout() async throws {
        let provider = try FakeProvider { $0.returnsFromLogout = true }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: Self.returning)
            let logout = try cli.start(["logout", "--browser", "--json"], environment: try cli.withIdleBrowser())
            _ = try await logout.waitForAddress()
            logout.signal(SIGINT)
            let outcome = await logout.end()
            #expect(outcome.status == 130 && outcome.json["openIDSession"]?.string == "failed", "\(outcome.errors)")
            #expect(outcome.json["local"]?.string == "done" && provider.revoked.count == 1)
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("signet logout --browser reports that its port is in use, does not blame the server, and does the rest of the logout")
    func tellsUsedPort() async throws {
        let provider = try FakeProvider { $0.returnsFromLogout = true }
        let other = try RawServer { _ in }
        defer { other.stop() }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: #"{"signOutRedirectUri":"http://127.0.0.1:\#(other.port)/bye"}"#)
            let outcome = try await cli.start(["logout", "--browser", "--json"], environment: try cli.withIdleBrowser()).end()
            #expect(outcome.status == 65 && outcome.errors.contains("port \(other.port) of 127.0.0.1"), "\(outcome.errors)")
            #expect(outcome.errors.contains("logged out here") && !outcome.errors.contains("the server did not"))
            #expect(outcome.json["openIDSession"]?.string == "failed" && !outcome.errors.contains("Open this address"))
            #expect(outcome.json["local"]?.string == "done" && outcome.json["tokens"]?.string == "done")
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("signet logout --browser reports a missing end-session endpoint, and the rest of the logout is done")
    func tellsMissingEndSession() async throws {
        let provider = try FakeProvider { $0.hasEndSession = false }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: Self.returning)
            let outcome = try await cli.start(["logout", "--browser", "--json"], environment: try cli.withIdleBrowser()).end()
            #expect(
                outcome.status == 77 && outcome.errors.contains("the server has no end-session endpoint"), "\(outcome.errors)")
            #expect(outcome.json["local"]?.string == "done" && outcome.json["tokens"]?.string == "done")
            #expect(provider.revoked.count == 1 && !outcome.errors.contains("Open this address"))
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("signet logout --browser succeeds at a provider without a revocation endpoint")
    func acceptsMissingRevocationOfBrowserLogout() async throws {
        let provider = try FakeProvider { $0.hasRevocation = false }
        try await CommandLineFixture.with { cli in
            try await logIn(cli, provider, client: "{}")
            let logout = try cli.start(["logout", "--browser", "--json"], environment: try cli.withIdleBrowser())
            let shown = try await logout.waitForAddress()
            let page = try #require(shown)
            _ = try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
                try await transport.send(HTTPRequest("GET", page))
            }
            let outcome = try await logout.end().succeeds()
            #expect(outcome.json["tokens"]?.string == "notOffered" && outcome.json["openIDSession"]?.string == "showedPage")
        }
    }

    @Test(
        "The time of signet logout is for the browser only, and has limits",
        arguments: [["--timeout", "5"], ["--browser", "--timeout", "0"], ["--browser", "--timeout", "86401"]])
    func refusesLogoutTimeout(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let logout = try cli.start(["logout"] + arguments)
            await logout.end().fails(64, "--timeout")
        }
    }

    @Test("A provider that posts its answer logs a user in, and a form that cannot be read gets 400")
    func logsInByPostedForm() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let settings = try cli.write(#"{"client":{"parameters":{"response_mode":"form_post"}}}"#.utf8, to: "settings.json")
            let login = try cli.start(
                ["login", "--issuer", provider.url, "--client", "app", "--settings", settings, "--browser", "--json"],
                environment: try cli.withIdleBrowser())
            let shown = try await login.waitForAddress()
            let address = try #require(shown)
            #expect(FormCoding.query(of: address)["response_mode"] == "form_post")
            try await AsyncHTTPTransport().use { (transport: AsyncHTTPTransport) async throws in
                let answer = try await transport.send(HTTPRequest("GET", address))
                let parts = try #require(answer.headers["Location"]).split(separator: "?", maxSplits: 1)
                let form = String(parts[1])
                for (body, status) in [("code=stolen&state=guess", 400), (form + "&code=stolen", 400), (form, 200)] {
                    let response = try await transport.send(
                        HTTPRequest(
                            "POST", String(parts[0]), headers: ["Content-Type": "application/x-www-form-urlencoded"],
                            body: Array(body.utf8)))
                    #expect(response.status == status)
                }
            }
            let outcome = try await login.end().succeeds()
            #expect(outcome.json["subject"]?.string == "alice")
        }
    }
}
