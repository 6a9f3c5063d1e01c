import Foundation
import SignetCore
import SignetJourney
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet journeys convert, and signet serve --import")
struct JourneysTests {
    /// Returns the path of an export of the tests of the server.
    static func export(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "SignetServerTests/Fixtures/exports/\(name)").path(percentEncoded: false)
    }

    @Test("The report names each journey, and the node that cannot run with its file and its place")
    func reportsJourneys() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = Self.export("rest")
            let outcome = try await cli.signet("journeys", "convert", path).succeeds()
            #expect(outcome.output.hasPrefix("Guests: 4 nodes, cannot run: risk\n") && outcome.errors == "")
            #expect(outcome.output.contains("/nodes.json:/3: stub: journey `Guests`, node `risk`: node of type product-RiskNode"))
            #expect(outcome.output.hasSuffix("\n1 journey imported: 1 journey with nodes that cannot run\n"))
            let report = try await cli.signet("journeys", "convert", "--json", path).succeeds().json
            #expect(report["journeys"]?.array?.first?["stubs"] == .array(["risk"]))
            #expect(report["findings"]?.array?.first?["pointer"] == "/3")
        }
    }

    @Test("The file that --to-yaml prints is one that signet serve accepts, with the report on standard error")
    func printsConfigurationFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("journeys", "convert", "--to-yaml", Self.export("aic")).succeeds()
            #expect(outcome.errors.contains("6 journeys imported: all nodes can run"))
            let file = try cli.write(outcome.output.utf8, to: "server.yaml")
            let checked = try await cli.signet("serve", "--validate-config", file).succeeds()
            #expect(checked.output == "\(file): 2 realms, 1 user, 2 clients, 6 journeys\n")
        }
    }

    @Test("The imported journeys are served")
    func servesImport() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await RunningServer.with(cli, ["--import", Self.export("aic")]) { server in
                guard case .loggedIn = try await server.browser.begin("Login") else {
                    Issue.record("no session")
                    return
                }
            }
        }
    }

    /// The arguments, the exit code, and a part of the error.
    static let refused: [([String], Int32, String)] = [
        (["journeys", "convert", "gone"], 66, "there is no such file"),
        (["journeys", "convert", "--json", "bad.json"], 65, "journeyImport.notJSON"),
        (["journeys", "convert", "empty.json"], 66, "there is no journey"),
        (["serve", "--import", "bad.json"], 65, "not JSON at byte"),
        (["journeys", "convert", "--stubs", "skip", "bad.json"], 64, "'fail' or 'ask'"),
        (["serve", "--import", "bad.json", "--print-default-config"], 64, "--import excludes"),
    ]

    @Test("An export that cannot be read is refused with its name, and nothing is served", arguments: refused)
    func refusesUnreadableExport(arguments: [String], exit: Int32, words: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let files = [
                "bad.json": try cli.write("{".utf8, to: "bad.json"), "empty.json": try cli.write("{}".utf8, to: "empty.json"),
            ]
            let paths = arguments.map { files[$0] ?? $0 }
            try await cli.start(paths).end().fails(exit, words)
        }
    }
}
