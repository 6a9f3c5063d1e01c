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

    @Test("Help, the version and a usage error need no file descriptors, and a command without a network none for event loops")
    func needsOnlyOwnDescriptors() async throws {
        try await CommandLineFixture.with { cli in
            for arguments in [["--version"], ["--help"], ["code", "--help"], ["help", "serve"]] {
                try await signet(cli, "-n 5", arguments).succeeds()
            }
            try await signet(cli, "-n 5", ["serve", "--port", "x"]).fails(64)
            // The descriptors that are open already and 26 more: enough without event loops, and too few for one.
            let limit = "-n $(($(ls /proc/$$/fd | wc -l) + 26))"
            try await signet(cli, limit, ["accounts", "--json"]).succeeds()
            try await signet(cli, limit, ["code", "mira"]).fails(66)
            try await signet(cli, limit, ["login", "http://127.0.0.1:1"]).fails(71)
        }
    }
}
