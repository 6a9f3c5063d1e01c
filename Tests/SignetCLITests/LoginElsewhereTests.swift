import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetServer
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Logins that continue in a browser, on another device or in an email")
struct LoginElsewhereTests {
    private static let password = "correct horse"

    /// A server in this process, so that a test can read its emails.
    private func withServer(
        _ body: (_ server: DevServer, _ url: String, _ transport: AsyncHTTPTransport, _ cli: CommandLineFixture) async throws ->
            Void
    ) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret(Self.password.utf8))]
            $0.clients = [RegisteredClient(id: "app", redirectURIs: [LoginProfile.defaultRedirectURI])]
            $0.devicePollInterval = 1
        }
        try await CommandLineFixture.with { cli in
            try await TestServer.live(configuration) { server in
                try await body(server.devServer, server.url, server.transport, cli)
            }
        }
    }

    /// The session of a browser in which a user is logged in.
    private func session(_ url: String, _ transport: AsyncHTTPTransport) async throws -> String {
        let journey = Journey(try ServerProfile(url: url), transport: transport)
        guard
            case .loggedIn(let token) = try await Browser(journey: journey, user: "demo", password: Self.password).begin("Login")
        else { throw DemoFailure("not logged in") }
        return token.value.text
    }

    /// An environment in which `xdg-open` opens nothing.
    private func withoutBrowser(_ cli: CommandLineFixture, opens: Bool) throws -> [String: String] {
        let folder = cli.directory.file("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let path = try cli.write("#!/bin/sh\nexit \(opens ? 0 : 3)\n".utf8, to: "bin/xdg-open", mode: 0o700)
        #expect(path.hasSuffix("bin/xdg-open"))
        return ["PATH": "\(folder):\(Program.environment["PATH"] ?? "/usr/bin:/bin")"]
    }

    @Test("signet login --browser succeeds, and prints the address when no browser opens by itself", arguments: [true, false])
    func logsInWithBrowser(opens: Bool) async throws {
        try await withServer { _, url, transport, cli in
            let login = try cli.start(
                ["login", url, "--client", "app", "--browser", "--json"], environment: try withoutBrowser(cli, opens: opens))
            let output = try await login.waitForOutput { _, errors in errors.contains("\n  http") && errors.hasSuffix("\n") }
                .errors
            let address = try #require(output.firstMatch(of: /\n  (http\S+)/)).1
            let cookie = try await session(url, transport)
            let answer = try await transport.send(HTTPRequest("GET", String(address), headers: ["iPlanetDirectoryPro": cookie]))
            let back = try #require(answer.headers["Location"])
            #expect(back.hasPrefix("http://127.0.0.1:"))
            #expect(try await transport.send(HTTPRequest("GET", back)).status == 200)
            let outcome = try await login.end().succeeds()
            #expect(outcome.json["subject"]?.string == "demo" && outcome.json["session"]?.bool == false)
            try await cli.signet("token").succeeds()
            #expect(try await cli.signet("userinfo", "--json").succeeds().json["sub"]?.string == "demo")
            #expect(try await cli.signet("logout", "--json").succeeds().json["tokens"]?.string == "done")
        }
    }

    /// A browser that opens the address in its argument, after another user of the machine has tried to.
    ///
    /// It writes the argument, and the status and the redirect that each of the two got. Then the other user, who knows the state
    /// now, sends the answer of a login of their own.
    private static let watchedBrowser = """
        import http.client, json, os, sys, urllib.parse

        # Loads the module that a connection needs, which the other user may not be permitted to read.
        "localhost".encode("idna")

        def ask(address):
            address = urllib.parse.urlsplit(address)
            connection = http.client.HTTPConnection(address.netloc)
            connection.request("GET", address.path + ("?" + address.query if address.query else ""))
            answer = connection.getresponse()
            return [answer.status, answer.getheader("Location")]

        def ask_as_other(address):
            if os.geteuid() != 0:
                return None
            end, start = os.pipe()
            if os.fork() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                os.write(start, json.dumps(ask(address)).encode())
                os._exit(0)
            os.close(start)
            return json.loads(os.fdopen(end).read())

        seen = {"argument": sys.argv[1], "other": ask_as_other(sys.argv[1]), "own": ask(sys.argv[1])}
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(seen["own"][1]).query))
        seen["stolen"] = ask_as_other(query["redirect_uri"] + "?code=other&state=" + query["state"])
        open(sys.argv[2] + ".new", "w").write(json.dumps(seen))
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        """

    @Test(
        "Another user who reads the browser's arguments learns nothing of the login, and cannot end it with a code of their own")
    func hidesLoginFromOtherUsers() async throws {
        try await withServer { _, url, transport, cli in
            let shown = cli.directory.file("shown")
            let browser = try cli.write(Self.watchedBrowser.utf8, to: "browser.py")
            let environment = try withoutBrowser(cli, opens: true)
            _ = try cli.write("#!/bin/sh\nexec python3 '\(browser)' \"$1\" '\(shown)'\n".utf8, to: "bin/xdg-open", mode: 0o700)
            let login = try cli.start(["login", url, "--client", "app", "--browser", "--json"], environment: environment)
            let isShown = try await eventually { FileManager.default.fileExists(atPath: shown) }
            try #require(isShown)
            let seen = try JSON.value(of: Data(contentsOf: URL(filePath: shown)))

            let argument = try #require(seen["argument"]?.string)
            #expect(argument.hasPrefix("http://127.0.0.1:") && !argument.contains("?"))
            let address = try #require(seen["own"]?.array?.last?.string)
            #expect(
                seen["own"]?.array?.first?.lenientInteger == 303 && address.contains("/authorize?") && address.contains("state="))
            if geteuid() == 0 {
                #expect(seen["other"]?.array == [.integer(403), .null])
                #expect(seen["stolen"]?.array == [.integer(403), .null])
            }

            let cookie = try await session(url, transport)
            let answer = try await transport.send(HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": cookie]))
            #expect(try await transport.send(HTTPRequest("GET", try #require(answer.headers["Location"]))).status == 200)
            #expect(try await login.end().succeeds().json["subject"]?.string == "demo")
        }
    }

    @Test("A logout that the user must confirm opens the browser, and no process argument contains the id_token")
    func confirmsLogoutInBrowser() async throws {
        // A server that asks the user to confirm the logout.
        let asking = try RawServer { connection in
            while connection.request() != nil {
                connection.answer("200 OK", headers: ["Content-Type: text/html"], "<html><form>Log out?</form></html>")
            }
        }
        defer { asking.stop() }
        try await withServer { _, url, transport, cli in
            let bye = "http://127.0.0.1:\(asking.port)/bye"
            let settings = try cli.write(#"{"endpoints":{"endSession":"\#(bye)"}}"#.utf8, to: "settings.json")
            let login = try cli.start(
                ["login", url, "--client", "app", "--browser", "--settings", settings],
                environment: try withoutBrowser(cli, opens: true))
            let output = try await login.waitForOutput { _, errors in errors.contains("\n  http") && errors.hasSuffix("\n") }
                .errors
            let address = try #require(output.firstMatch(of: /\n  (http\S+)/)).1
            let cookie = try await session(url, transport)
            let answer = try await transport.send(HTTPRequest("GET", String(address), headers: ["iPlanetDirectoryPro": cookie]))
            _ = try await transport.send(HTTPRequest("GET", try #require(answer.headers["Location"])))
            try await login.end().succeeds()

            let (asked, shown) = (cli.directory.file("asked"), cli.directory.file("shown"))
            let browser = """
                import http.client, os, sys, urllib.parse
                address = urllib.parse.urlsplit(sys.argv[1])
                connection = http.client.HTTPConnection(address.netloc)
                connection.request("GET", address.path)
                answer = connection.getresponse()
                open(sys.argv[2] + ".new", "w").write("%d %s" % (answer.status, answer.getheader("Location")))
                os.rename(sys.argv[2] + ".new", sys.argv[2])
                """
            let folder = cli.directory.file("desktop")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            _ = try cli.write(browser.utf8, to: "browser.py")
            _ = try cli.write(
                "#!/bin/sh\nprintf '%s' \"$*\" > '\(asked)'\nexec python3 '\(cli.directory.file("browser.py"))' \"$1\" '\(shown)'\n"
                    .utf8,
                to: "desktop/xdg-open", mode: 0o700)
            let path = "\(folder):\(Program.environment["PATH"] ?? "/usr/bin:/bin")"
            let outcome = try await cli.start(["logout", "--json"], environment: ["PATH": path]).end().succeeds()
            #expect(outcome.json["openIDSession"]?.string == "needsBrowser")
            let argument = try String(contentsOfFile: asked, encoding: .utf8)
            #expect(argument.hasPrefix("http://127.0.0.1:") && !argument.contains("id_token") && !argument.contains("eyJ"))
            // The browser continues by itself.
            let isShown = try await eventually { FileManager.default.fileExists(atPath: shown) }
            #expect(isShown)
            let first = try String(contentsOfFile: shown, encoding: .utf8)
            #expect(first.hasPrefix("303 \(bye)?") && first.contains("id_token_hint=eyJ"))
            #expect(!outcome.errors.contains("eyJ") && !outcome.output.contains("eyJ"))
        }
    }

    @Test(
        "In a real Chromium the page asks the user, the answer comes back, and signet gets tokens",
        .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"))
    func logsInWithChromium() async throws {
        try await withServer { _, url, _, cli in
            let login = try cli.start(
                ["login", url, "--client", "app", "--browser", "--json"], environment: try withoutBrowser(cli, opens: true))
            let output = try await login.waitForOutput { _, errors in errors.contains("\n  http") && errors.hasSuffix("\n") }
                .errors
            let address = try #require(output.firstMatch(of: /\n  (http\S+)/)).1
            try await Chromium.with { browser in
                let page = try await browser.page()
                try await page.open(String(address))
                try await page.waitForHeading("Sign In")
                try await page.fill("[autocomplete=username]", "demo")
                try await page.fill("[type=password]", Self.password)
                try await page.click("button[type=submit]")
                try await page.wait(for: "document.body.textContent.includes('You can close this window')")
            }
            #expect(try await login.end().succeeds().json["subject"]?.string == "demo")
            try await cli.signet("token").succeeds()
        }
    }

    @Test("Ctrl-C while the browser is open exits with 130, keeps nothing and closes the port")
    func interruptsBrowserLogin() async throws {
        try await withServer { _, url, transport, cli in
            let login = try cli.start(
                ["login", url, "--client", "app", "--browser"], environment: try withoutBrowser(cli, opens: true))
            try await login.waitForOutput { _, errors in errors.contains("\n  http") && errors.hasSuffix("\n") }
            login.signal(SIGINT)
            await login.end().fails(130, "interrupted")
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("A device login shows a code and gets tokens once approved there; a denial exits with 77")
    func logsInByCodeOnAnotherDevice() async throws {
        try await withServer { _, url, transport, cli in
            for decision in ["deny", "allow"] {
                let login = try cli.start(["login", url, "--client", "app", "--device", "--json"])
                let output = try await login.waitForOutput { _, errors in
                    errors.contains("enter the code") && errors.hasSuffix("\n")
                }
                .errors
                let code = try #require(output.firstMatch(of: /enter the code (\S+)/)).1
                let cookie = try await session(url, transport)
                let body = FormCoding.encode([("user_code", String(code)), ("decision", decision), ("csrf", cookie)])
                _ = try await transport.send(
                    HTTPRequest(
                        "POST", "\(url)/oauth2/device/user",
                        headers: ["Content-Type": "application/x-www-form-urlencoded", "iPlanetDirectoryPro": cookie],
                        body: Array(body.utf8)))
                let outcome = await login.end()
                if decision == "deny" {
                    outcome.fails(77, "access_denied")
                } else {
                    #expect(try outcome.succeeds().json["subject"]?.string == "demo")
                    try await cli.signet("token").succeeds()
                }
            }
        }
    }

    @Test("A suspended journey resumes at the link in the email, in the same command or in a later one")
    func resumesFromEmail() async throws {
        try await withServer { server, url, _, cli in
            let login = try cli.start(
                ["login", url, "--journey", "EmailLogin", "--client", "app", "--answer", "name=demo", "--answer", "link=-"],
                input: .open)
            try await login.waitForOutput { _, errors in errors.contains("\n") }
            let isSent = try await eventually { try await !server.emailLinks(to: "demo").isEmpty }
            #expect(isSent)
            login.type(try #require(try await server.emailLinks(to: "demo").last) + "\n")
            try await login.end().succeeds()
            try await cli.signet("logout").succeeds()

            let suspended = try await cli.signet("login", url, "--journey", "EmailLogin", "--answer", "name=demo")
            suspended.fails(64, "--resume --answer link=-")
            let link = try #require(try await server.emailLinks(to: "demo").last)
            let arguments = ["login", url, "--client", "app", "--resume", "--answer", "link=-"]
            try await cli.start(arguments, input: .text(link + "\n")).end().succeeds()
            try await cli.signet("token").succeeds()
            try await cli.signet("logout").succeeds()
            try await cli.start(arguments, input: .text(link + "\n")).end().fails(77)
            try await cli.start(arguments, input: .text("https://example.test/\n")).end().fails(65, "suspendedId")
        }
    }
}
