import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet serve with a configuration file")
struct ServeConfigurationTests {
    private static let small = """
        users:
          - {name: mira, password: correct horse}
          - {name: noa, realm: /alpha}
        clients: [{id: app}]
        journeys:
          Login:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
              email: {type: EmailSuspendNode, outcomes: {outcome: success}}

        """

    @Test("The starter configuration file is printed, passes the check and is served")
    func servesStarterFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let text = try await cli.signet("serve", "--print-default-config").succeeds().output
            let path = try cli.write(text.utf8, to: "server.yaml", mode: 0o644)
            let checked = try await cli.signet("serve", "--validate-config", path).succeeds()
            #expect(checked.output.hasPrefix("\(path): 2 realms, 1 user, 2 clients, ") && checked.errors == "")
            try await RunningServer.with(cli, ["--config", path]) { server in
                #expect(server.browser.user == "demo")
                guard case .loggedIn = try await server.browser.begin("Login") else {
                    Issue.record("no session")
                    return
                }
            }
        }
    }

    @Test("The option --validate-config reports how many users, clients and journeys a file has")
    func countsConfiguration() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(Self.small.utf8, to: "server.yaml")
            let outcome = try await cli.signet("serve", "--validate-config", path).succeeds()
            #expect(outcome.output == "\(path): 2 realms, 2 users, 1 client, 1 journey\n")
        }
    }

    /// A file, the options, the exit code, and the text on standard error.
    static let bad: [([UInt8], String, Int32, [String])] = [
        (
            Array("usres: []\nrealms: 5\n".utf8), "--validate-config", 65,
            [
                "2 problems", ":1:1: there is no setting `usres`: did you mean `users`?",
                ":2:9: `realms` must be a list of strings",
            ]
        ), (Array("realms: [".utf8), "--config", 65, ["1 problem\n", "this is not YAML"]),
        ([0x72, 0xFF, 0xFE], "--validate-config", 65, ["UTF-8"]),
        ([], "--config", 65, ["the file is empty", "--print-default-config"]),
    ]

    @Test("Every mistake in a configuration file is reported, and nothing is served", arguments: bad)
    func reportsConfigurationMistakes(bytes: [UInt8], option: String, exit: Int32, words: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(bytes, to: "server.yaml")
            let outcome = try await cli.signet("serve", option, path)
            outcome.fails(exit, path)
            for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
            let json = try await cli.signet("serve", option, path, "--json")
            #expect(json.jsonError?["code"] == .string("configuration"))
        }
    }

    @Test("A missing certificate file is reported by --validate-config and by serving, unless an option replaces it")
    func reportsMissingCertificate() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let (certificate, key) = (cli.directory.file("none.pem"), cli.directory.file("none.key"))
            let text = "server: {tls: {certificate: \(certificate), key: \(key)}}\n"
            let path = try cli.write(text.utf8, to: "server.yaml")
            for option in ["--validate-config", "--config"] {
                try await cli.signet("serve", option, path, "--port", "0").fails(
                    65, "\(path): 2 problems", "\(path):1:29: server, tls: `certificate`: there is no file \(certificate)")
            }
            try await cli.signet("serve", "--validate-config", path, "--tls", "--tls-directory", cli.directory.file("tls"))
                .succeeds()
        }
    }

    @Test("A missing configuration file exits with 66, and options that exclude each other exit with 64")
    func refusesMissingFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = cli.directory.file("none.yaml")
            for option in ["--validate-config", "--config"] { try await cli.signet("serve", option, path).fails(66, path) }
            try await cli.signet("serve", "--validate-config", path, "--config", path).fails(64, "exclude")
            try await cli.signet("serve", "--print-default-config", "--config", path).fails(64, "exclude")
            try await cli.signet("serve", "--users", path, "--config", path).fails(64, "exclude")
        }
    }

    @Test(
        "A user without a password gets a printed one, a user with one keeps it, and emails are printed",
        arguments: [false, true])
    func announcesGeneratedPasswordsAndEmails(asJSON: Bool) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(Self.small.utf8, to: "server.yaml")
            let options = ["serve", "--port", "0", "--exit-on-stdin-eof", "--config", path] + (asJSON ? ["--json"] : [])
            let process = try cli.start(options, input: .open)
            let ready = try await process.waitForOutput { output, _ in output.contains(asJSON ? "\n" : "Ctrl-C") }.output
            #expect(!ready.contains("horse"))
            let url: String
            if asJSON {
                let users = try JSON.value(of: ready.utf8)["users"]?.array ?? []
                let names = users.map { $0["name"] }
                #expect(names == [.string("mira"), .string("noa")])
                #expect(users[0]["password"] == nil && users[1]["password"]?.string?.count == 16)
                url = try #require(try JSON.value(of: ready.utf8)["url"]?.string)
            } else {
                #expect(ready.contains("User: mira\nUser: noa in /alpha  password: "))
                url = try #require(ready.firstMatch(of: #/http:\S+/#)).output.description
            }
            try await AsyncHTTPTransport().use { transport in
                let journey = Journey(try ServerProfile(url: url), transport: transport)
                var step = try Browser.step(try await journey.start("Login"))
                step.callbacks[0].answer(.string("mira"))
                _ = try await journey.next(step)
            }
            let output = try await process.waitForOutput { output, _ in output.contains("suspendedId=") }.output
            #expect(asJSON ? output.contains(#"{"email":{"link":"#) : output.contains("Email to mira: \(url)/XUI/?realm="))
            process.closeInput()
            try await process.end().succeeds()
        }
    }
}
