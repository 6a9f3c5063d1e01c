import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet serve reloads and checks its configuration", .timeLimit(.minutes(5)))
struct ServeReloadTests {
    private static let file = """
        users: [{name: mira, password: correct horse}]
        clients: [{id: app}]
        journeys:
          Login:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: success}}

        """

    @Test("SIGHUP reloads the file and prints what changed; a file with mistakes changes nothing", arguments: [false, true])
    func reloadsOnHangup(asJSON: Bool) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(Self.file.utf8, to: "server.yaml")
            let options = ["serve", "--port", "0", "--state", "memory", "--exit-on-stdin-eof", "--config", path]
            let process = try cli.start(options + (asJSON ? ["--json"] : []), input: .open)
            _ = try await process.waitForOutput { output, _ in output.contains(asJSON ? "\n" : "Ctrl-C") }

            let changed = Self.file.replacing("{id: app}", with: "{id: app, requirePKCE: false}, {id: web}")
                .replacing("correct horse}", with: "correct horse}, {name: kim}")
            _ = try cli.write(changed.utf8, to: "server.yaml")
            process.signal(SIGHUP)
            let end = asJSON ? "\"reload\"" : "clients: added web; changed app"
            let output = try await Self.output(of: process, with: end)
            #expect(!output.contains("horse"))
            try Self.expectReload(in: output, asJSON: asJSON)

            _ = try cli.write((changed + "usres: []\n").utf8, to: "server.yaml")
            process.signal(SIGHUP)
            try await Self.expectRefusal(by: process)
            // The server goes on.
            process.closeInput()
            try await process.end().succeeds()
        }
    }

    /// Waits for a complete line of output with a text.
    private static func output(of process: TestProcess, with text: String) async throws -> String {
        try await process.waitForOutput { output, _ in output.contains(text) && output.hasSuffix("\n") }.output
    }

    /// Checks that the reload of a file with a mistake is refused.
    private static func expectRefusal(by process: TestProcess) async throws {
        let errors = try await process.waitForOutput { _, errors in errors.contains("usres") }.errors
        #expect(errors.contains("server.yaml:7:1: there is no setting `usres`"), "\(errors)")
    }

    /// Checks what is printed about the first reload.
    private static func expectReload(in output: String, asJSON: Bool) throws {
        guard asJSON else {
            #expect(output.contains("Configuration reloaded: users: added kim\n"))
            #expect(output.contains("User: kim  password: "))
            return
        }
        let line = try #require(output.split(separator: "\n").last)
        let reload = try JSON.value(of: line.utf8)["reload"]
        #expect(reload?["clients"]?["added"]?.array == ["web"] && reload?["clients"]?["changed"]?.array == ["app"])
        #expect(reload?["users"]?["added"]?.array == ["kim"] && reload?["journeys"]?["removed"]?.array == [])
        #expect(reload?["passwords"]?.array?.first?["password"]?.string?.count == 16)
    }

    @Test("The option --check --json prints every problem with its line, and exits with 65")
    func checksAsJSON() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(Self.file.utf8, to: "server.yaml")
            let good = try await cli.signet("serve", "--check", "--json", "--config", path).succeeds()
            let report = try #require(good.jsonLines.first)
            #expect(report["valid"] == .bool(true) && report["problems"]?.array == [] && report["journeys"]?.array == ["Login"])
            let text = try await cli.signet("serve", "--check", "--config", path).succeeds().output
            #expect(text == "\(path): 2 realms, 1 user, 1 client, 1 journey\n")

            let bad = try cli.write("usres: []\nrealms: 5\n".utf8, to: "bad.yaml")
            let outcome = try await cli.signet("serve", "--check", "--json", "--config", bad)
            #expect(outcome.status == 65)
            let problems = try #require(outcome.jsonLines.first?["problems"]?.array)
            let lines = problems.map { $0["line"]?.lenientInteger }
            #expect(lines == [1, 2] && problems[0]["code"] == "unknownSetting" && problems[1]["column"]?.lenientInteger == 9)
            try await cli.signet("serve", "--check", "--config", bad).fails(65, ":1:1: there is no setting `usres`")
            try await cli.signet("serve", "--check").succeeds()
            try await cli.signet("serve", "--check", "--schema").fails(64, "exclude")
        }
    }

    @Test(
        "The option --check --json prints the problem of an export or a file that cannot be read",
        arguments: [
            (["--import", "bad.json"], 65, "journeyImport.notJSON"), (["--import", "empty.json"], 66, "journeyImport.noJourney"),
            (["--import", "gone"], 66, "journeyImport.notFound"), (["--config", "binary.yaml"], 65, "configuration"),
        ] as [([String], Int32, String)])
    func checksExportAsJSON(arguments: [String], exit: Int32, code: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let files = [
                "bad.json": try cli.write("{".utf8, to: "bad.json"), "empty.json": try cli.write("{}".utf8, to: "empty.json"),
                "binary.yaml": try cli.write([0xFF], to: "binary.yaml"),
            ]
            let process = try cli.start(["serve", "--check", "--json"] + arguments.map { files[$0] ?? $0 })
            let outcome = await process.end()
            #expect(outcome.status == exit)
            let report = try #require(outcome.jsonLines.first)
            let problem = try #require(report["problems"]?.array?.first)
            #expect(report["valid"] == .bool(false) && problem["code"]?.string == code && problem["line"] == nil)
            #expect(problem["message"]?.string?.isEmpty == false)
        }
    }

    @Test("The option --check --json prints what is different in imported journeys")
    func checksImportAsJSON() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("serve", "--check", "--json", "--import", JourneysTests.export("rest")).succeeds()
            let report = try #require(outcome.jsonLines.first)
            #expect(report["valid"] == .bool(true) && report["findings"]?.array?.first?["pointer"] == "/3")
            #expect(report["journeys"]?.array?.contains("Guests") == true && outcome.errors == "")
        }
    }

    @Test("The option --schema prints the JSON Schema of the configuration file")
    func printsSchema() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("serve", "--schema").succeeds()
            let schema = try JSON.value(of: outcome.output.utf8)
            #expect(schema["$schema"] == "http://json-schema.org/draft-07/schema#")
            #expect(schema["properties"]?["journeys"] != nil && schema["definitions"]?["client"] != nil)
        }
    }
}
