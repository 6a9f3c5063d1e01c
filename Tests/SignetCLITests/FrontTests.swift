import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("The small program that packages install as signet", .timeLimit(.minutes(2)))
struct FrontTests {
    /// Installs the small program below a prefix, with a full program that prints its arguments.
    /// - Returns: The path of the small program.
    private static func installed(_ cli: CommandLineFixture) throws -> String {
        for folder in ["prefix/bin", "prefix/libexec/signet"] {
            try FileManager.default.createDirectory(atPath: cli.directory.file(folder), withIntermediateDirectories: true)
        }
        let program = cli.directory.file("prefix/bin/signet")
        try FileManager.default.copyItem(atPath: Programs.built("signet-front"), toPath: program)
        _ = try cli.write("#!/bin/sh\necho full $# \"$@\"\n".utf8, to: "prefix/libexec/signet/signet", mode: 0o700)
        return program
    }

    @Test(
        "Every command reaches the full program with its arguments when no agent is asked",
        arguments: [[], ["code"], ["code", "mira"], ["code", "--json", "mira"], ["accounts", "", "a b"]] as [[String]])
    func runsFullProgram(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let program = try Self.installed(cli)
            let outcome = try await cli.start(arguments, program: program, environment: ["SIGNET_AGENT": "off"]).end().succeeds()
            #expect(outcome.line == (["full", "\(arguments.count)"] + arguments).joined(separator: " "))
        }
    }

    @Test("The full program is found beside the file of the small one, through a symbolic link too")
    func followsLink() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let link = cli.directory.file("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: try Self.installed(cli))
            let outcome = try await cli.start(["accounts"], program: link).end().succeeds()
            #expect(outcome.line == "full 1 accounts")
        }
    }

    @Test("Without the full program the small one ends with 71 and names the missing file")
    func reportsMissingFullProgram() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let program = try Self.installed(cli)
            try FileManager.default.removeItem(atPath: cli.directory.file("prefix/libexec/signet/signet"))
            let outcome = try await cli.start(["accounts"], program: program).end()
            outcome.fails(71, "prefix/libexec/signet/signet cannot be run")
        }
    }

    @Test("The code of an account comes from the agent, and from the full program when the vault is locked")
    func printsCodeOfAgent() async throws {
        try await CommandLineFixture.with { cli in
            let program = try Self.installed(cli)
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            let code = try await cli.start(["code", "mira"], program: program, environment: agent.environment).end().succeeds()
            #expect(code.line.wholeMatch(of: #/[0-9]{6}/#) != nil)
            let unknown = try await cli.start(["code", "nobody"], program: program, environment: agent.environment).end()
            unknown.fails(66, "no account called 'nobody'")
            try await agent.signet("lock").succeeds()
            let other = try await cli.start(["code", "mira"], program: program, environment: agent.environment).end().succeeds()
            #expect(other.line == "full 2 code mira")
            await agent.process.stop()
        }
    }

    @Test(
        "At a terminal a part of a name or an ambiguous name reaches the full program, although the code goes to a pipe",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func leavesChoiceOfAccount() async throws {
        try await CommandLineFixture.with { cli in
            let program = try Self.installed(cli)
            for account in ["mira", "noa"] { try await cli.signet("enroll", OATHSample.uri(account: account)).succeeds() }
            let agent = try await RunningAgent.start(cli)
            for name in ["mir", "harbor"] {
                let process = try cli.startAtTerminal(
                    ["code", name], program: program, output: "sed s/^/piped:/", environment: agent.environment)
                let outcome = await process.end()
                #expect(outcome.output.contains("piped:full 2 code \(name)"), "\(outcome.output)")
            }
            let exact = try cli.startAtTerminal(
                ["code", "mira"], program: program, output: "sed s/^/piped:/", environment: agent.environment)
            let code = await exact.end().output
            #expect(code.contains(#/piped:[0-9]{6}/#), "\(code)")
            await agent.process.stop()
        }
    }

    @Test("Without a terminal the error of the agent about a name is reported", arguments: [("mir", 66), ("harbor", 65)])
    func reportsUnclearName(name: String, status: Int32) async throws {
        try await CommandLineFixture.with { cli in
            let program = try Self.installed(cli)
            for account in ["mira", "noa"] { try await cli.signet("enroll", OATHSample.uri(account: account)).succeeds() }
            let agent = try await RunningAgent.start(cli)
            let outcome = try await cli.start(["code", name], program: program, environment: agent.environment).end()
            outcome.fails(status, "mira")
            await agent.process.stop()
        }
    }

    @Test("A stopped agent leaves the code to the full program, and uses up none when it goes on")
    func leavesCodeOfStoppedAgent() async throws {
        try await CommandLineFixture.with { cli in
            let program = try Self.installed(cli)
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            let agent = try await RunningAgent.start(cli)
            kill(agent.process.identifier, SIGSTOP)
            let outcome = try await cli.start(["code", "mira"], program: program, environment: agent.environment).end()
            kill(agent.process.identifier, SIGCONT)
            try outcome.succeeds()
            #expect(outcome.line == "full 2 code mira")
            // The agent answers in the order of its connections.
            try await agent.signet("agent", "status").succeeds()
            await agent.process.stop()
            let next = try await cli.signet("code", "mira", "--json").succeeds().json["counter"]
            #expect(next == .integer(0))
        }
    }

    @Test("An agent that asks the user is waited for")
    func waitsForConfirmation() async throws {
        try await CommandLineFixture.with { cli in
            let program = try Self.installed(cli)
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let ask = try cli.write("#!/bin/sh\nsleep 3\n".utf8, to: "ask", mode: 0o700)
            let agent = try await RunningAgent.start(cli, "--confirm-with", ask)
            let code = try await cli.start(["code", "mira"], program: program, environment: agent.environment).end().succeeds()
            #expect(code.line.wholeMatch(of: #/[0-9]{6}/#) != nil)
            await agent.process.stop()
        }
    }
}
