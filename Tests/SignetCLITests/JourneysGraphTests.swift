import SignetCore
import TestSupport
import Testing

@testable import signet

@Suite("signet journeys graph")
struct JourneysGraphTests {
    @Test("The picture of a journey of the starter file, and of a configuration file, is printed as SVG")
    func printsPicture() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let starter = try await cli.signet("journeys", "graph", "Login").succeeds()
            #expect(starter.output.hasPrefix("<svg ") && starter.output.hasSuffix("</svg>\n") && starter.errors == "")
            let file = try cli.write(
                """
                journeys:
                  Mine:
                    nodes:
                      only: {type: UsernameCollectorNode, outcomes: {outcome: failure}}
                """.utf8, to: "server.yaml")
            let own = try await cli.signet("journeys", "graph", "--config", file, "Mine").succeeds()
            #expect(own.output.contains("data-node=\"only\""))
        }
    }

    @Test("An unknown journey is an error that lists the journeys")
    func refusesUnknownJourney() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.start(["journeys", "graph", "Nothing"]).end().fails(66, "there is no journey Nothing")
        }
    }
}
