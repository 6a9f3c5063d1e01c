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

@Suite("signet check")
struct CheckTests {
    private func withServer(
        _ body: (_ issuer: String, _ url: String, _ transport: AsyncHTTPTransport, _ cli: CommandLineFixture) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration {
            $0.users = [User(name: "demo", password: Secret("correct horse".utf8))]
            $0.clients = [RegisteredClient(id: "app", redirectURIs: [LoginProfile.defaultRedirectURI])]
        }
        try await CommandLineFixture.with(vault: false) { cli in
            try await TestServer.live(configuration) { server in
                try await body("\(server.url)/oauth2", server.url, server.transport, cli)
            }
        }
    }

    /// The session of a browser in which a user is logged in.
    private func session(_ url: String, _ transport: AsyncHTTPTransport) async throws -> String {
        let journey = Journey(try ServerProfile(url: url), transport: transport)
        guard
            case .loggedIn(let token) = try await Browser(journey: journey, user: "demo", password: "correct horse").begin(
                "Login")
        else { throw DemoFailure("not logged in") }
        return token.value.text
    }

    private func result(_ id: String, _ outcome: Outcome) -> String? {
        outcome.json["findings"]?.array?.first { $0["id"] == .string(id) }?["result"]?.string
    }

    @Test("signet check compares signet serve with RFC 9700 without a vault, and --strict counts warnings")
    func checksServer() async throws {
        try await withServer { issuer, _, _, cli in
            let outcome = try await cli.signet("check", issuer, "--json").succeeds()
            #expect(outcome.json["issuer"]?.string == issuer)
            for id in ["pkce", "pkce-plain", "implicit", "password-grant", "issuer", "jwks", "jwks-origin", "issuer-parameter"] {
                #expect(result(id, outcome) == "pass", "\(id)")
            }
            #expect(result("https", outcome) == "warn" && outcome.json["summary"]?["fail"]?.lenientInteger == 0)
            let words = try await cli.signet("check", issuer + "/.well-known/openid-configuration").succeeds()
            #expect(words.output.contains("2.1.1 authorization code grant\n  pass     pkce: "))
            let strict = try await cli.signet("check", issuer, "--strict")
            #expect(strict.status == 1 && strict.output.contains("  warn     https: "))
        }
    }

    @Test("signet check --active finds nothing to fail at signet serve, and needs a confirmation")
    func checksServerActively() async throws {
        try await withServer { issuer, _, _, cli in
            let active = ["check", issuer, "--active", "--client-id", "app", "--json"]
            let unconfirmed = try await cli.signet("check", issuer, "--active", "--client-id", "app")
            unconfirmed.fails(77, "lock the client", "--yes")
            let outcome = try await cli.start(active + ["--yes"]).end().succeeds()
            for id in ["redirect-other-host", "redirect-path-suffix", "redirect-user", "pkce-plain-request", "implicit-request"] {
                #expect(result(id, outcome) == "pass", "\(id)")
            }
            #expect(result("code-requests", outcome) == "skipped" && result("response-state", outcome) == "pass")
            try await cli.signet("check", issuer, "--active", "--client-id", "unknown", "--yes").fails(65, "register both")
        }
    }

    @Test("signet check --active --browser tries codes and refresh tokens of logins in the browser")
    func checksServerInBrowser() async throws {
        try await withServer { issuer, url, transport, cli in
            let cookie = try await session(url, transport)
            let check = try cli.start(
                ["check", issuer, "--active", "--client-id", "app", "--browser", "--yes", "--json"],
                environment: try cli.withIdleBrowser())
            var visited: Set<String> = []
            while let address = try await check.waitForAddress(otherThan: visited) {
                visited.insert(address)
                let answer = try await transport.send(HTTPRequest("GET", address, headers: ["iPlanetDirectoryPro": cookie]))
                guard let back = answer.headers["Location"] else { break }
                _ = try await transport.send(HTTPRequest("GET", back))
            }
            let outcome = await check.end()
            for id in ["code-without-verifier", "code-replay", "pkce-downgrade"] {
                #expect(result(id, outcome) == "pass", "\(id)")
            }
            #expect(outcome.status == 0 && visited.count == 4, "\(outcome.errors)")
        }
    }

    @Test(
        "Arguments of signet check that contradict each other are a usage error",
        arguments: [
            ["--active"], ["--client-id", "app"], ["--yes"], ["--redirect-uri", "https://app.example.test/cb"],
            ["--active", "--client-id", "app", "--client-secret-file", "-"],
            ["--active", "--client-id", "app", "--browser", "--redirect-uri", "https://app.example.test/cb"],
            ["--timeout", "0"],
        ])
    func refusesCheckArguments(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let check = try cli.start(["check", "https://id.example.test"] + arguments)
            await check.end().fails(64)
        }
    }

    @Test("An address without metadata, and plain http to another machine, are errors and no findings")
    func refusesOtherAddresses() async throws {
        let provider = try FakeProvider()
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("check", provider.url + "/nothing").fails(65, "404")
            try await cli.signet("check", "http://id.example.test").fails(65, "plain http", "--allow-http id.example.test")
        }
    }
}

extension TestProcess {
    /// Waits until the command has printed the address of another login page; nil when it ended without one.
    fileprivate func waitForAddress(otherThan known: Set<String>) async throws -> String? {
        func address(in errors: String) -> String? {
            errors.matches(of: /\n  (http\S+)\n/).map { String($0.1) }.first { !known.contains($0) }
        }
        let errors = try await waitForOutput { [self] _, errors in address(in: errors) != nil || hasEnded }.errors
        return address(in: errors)
    }
}
