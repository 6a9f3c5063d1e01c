import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet with few file descriptors")
struct OpenFilesTests {
    /// Runs `signet` with a limit of open files.
    private func signet(_ cli: CommandLineFixture, _ limit: String, _ arguments: [String]) async throws -> Outcome {
        try await cli.start(["-c", "ulimit \(limit) && exec \"$0\" \"$@\"", Program.path] + arguments, program: "/bin/sh").end()
    }

    // Below 4, the system's loader cannot open the libraries of any program.
    @Test(
        "Too few file descriptors for an event loop exit with 71 and the solution, not with a signal",
        arguments: [4, 5, 6, 8, 16, 24])
    func reportsTooFewDescriptors(count: Int) async throws {
        try await CommandLineFixture.with { cli in
            for arguments in [["accounts"], ["code", "mira"], ["login", "http://127.0.0.1:1"], ["serve", "--port", "0"]] {
                let outcome = try await signet(cli, "-n \(count)", arguments)
                outcome.fails(71, "signet: this process can't open ", "'ulimit -n 1024'")
                #expect(outcome.errors.split(separator: "\n").count == 1)
            }
            let json = try await signet(cli, "-n \(count)", ["accounts", "--json"])
            #expect(json.status == 71 && json.jsonError?["code"]?.string == "openFiles")
        }
    }

    @Test("A limit of open files that the process may raise does not stop a command")
    func raisesLimit() async throws {
        try await CommandLineFixture.with { cli in
            let outcome = try await signet(cli, "-S -n 6", ["accounts", "--json"])
            try outcome.succeeds()
        }
    }

    @Test("Help and a usage error need no file descriptors, and a command without a network none for event loops")
    func needsOnlyOwnDescriptors() async throws {
        try await CommandLineFixture.with { cli in
            for arguments in [["--help"], ["code", "--help"], ["serve", "--help"], ["--version"]] {
                try await signet(cli, "-n 5", arguments).succeeds()
            }
            try await signet(cli, "-n 5", ["serve", "--port", "x"]).fails(64)
            // 24 descriptors, up to ten that are open already, and less than four for each of two processors.
            try await signet(cli, "-n 34", ["accounts", "--json"]).succeeds()
            try await signet(cli, "-n 34", ["code", "mira"]).fails(66)
            // 24 descriptors, at least three that are open already, and less than four for one processor.
            try await signet(cli, "-n 30", ["login", "http://127.0.0.1:1"]).fails(71)
        }
    }
}
