import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet demo", .tags(.slow))
struct DemoTests {
    @Test("signet demo runs to its end, says so, and leaves no files behind", .timeLimit(.minutes(3)))
    func runsDemoToEnd() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.start(["demo"], ownGroup: true).end(within: .seconds(150))
            try outcome.succeeds()
            #expect(outcome.errors == "")
            #expect(outcome.output.contains("steps succeeded.") && !outcome.output.contains("✗"))
            #expect(outcome.output.contains("the server's clock is moved 60 s forward"))
            // TMPDIR names the temporary directory.
            #expect(outcome.output.contains("Everything is in \(cli.directory.path)/signet-demo-"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    /// The progress of the demo when a user interrupts it.
    enum RequestTime: String, CaseIterable {
        case atOnce = "Everything is in"
        case serverStarts = "start the server"
        case enrolling = "scan the picture"
        case waitingOnStream = "$ signet push listen"
        case waitingForServer = "register for push"
    }

    @Test(
        "signet demo interrupted by a signal or by Ctrl-C exits with 130 and leaves no process and no file",
        .timeLimit(.minutes(2)), arguments: RequestTime.allCases,
        [(SIGINT, true), (SIGINT, false), (SIGTERM, false)] as [(Int32, Bool)])
    func interruptsDemo(date: RequestTime, how: (Int32, Bool)) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let demo = try cli.start(["demo"], ownGroup: true)
            try await demo.waitForOutput { output, _ in output.contains(date.rawValue) }
            demo.signal(how.0, group: how.1)
            let outcome = await demo.end()
            #expect(outcome.status == 130, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.errors.contains("interrupted"))
            #expect(try ProcessGroup.members(of: demo.identifier) == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test("signet demo fails with a message when no temporary directory can be made")
    func failsWithoutTemporaryDirectory() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("demo", environment: ["TMPDIR": cli.directory.file("none")])
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("no folder can be made in"), "\(outcome.errors)")
        }
    }
}
