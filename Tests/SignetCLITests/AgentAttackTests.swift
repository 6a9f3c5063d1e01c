import AgentWire
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("Attacks on signet agent", .timeLimit(.minutes(5)))
struct AgentAttackTests {
    /// A client of another user, which prints the number of bytes of the answer to a request.
    ///
    /// The directory of the socket is its working directory, so it needs no right to the directories above.
    private static let otherClient = """
        import os, socket, sys

        request = open(sys.argv[2], "rb").read()
        os.chdir(sys.argv[1])
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect("agent.sock")
        answer = b""
        try:
            connection.sendall(request)
            answer = connection.recv(4096)
        except ConnectionError:
            pass
        print(len(answer))
        """

    /// A process of another user that listens where the agent would, and prints the number of bytes that the first client sends.
    private static let squatter = """
        import os, socket, sys

        os.chdir(sys.argv[1])
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("agent.sock")
        os.chmod("agent.sock", 0o666)
        listener.listen()
        print("ready", flush=True)
        connection, _ = listener.accept()
        print(len(connection.recv(4096)), flush=True)
        """

    @Test(
        "A process of another user gets no answer from the agent, also when it can reach the socket",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func refusesClientOfOtherUser() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let agent = try await RunningAgent.start(cli)
            let directory = cli.directory.file("run/signet")
            try #require(chmod(directory, 0o711) == 0)
            try #require(chmod(RunningAgent.path(cli), 0o666) == 0)
            let home = AgentHome { $0 == "SIGNET_HOME" ? cli.home : nil }
            let request = AgentRequest(
                version: AgentVersion.current, home: home, operation: "code", arguments: [Array("mira".utf8)])
            let bytes = try cli.write(request.message.bytes, to: "request")
            let script = try cli.write(Self.otherClient.utf8, to: "client.py")
            let other = try await cli.start([script, directory, bytes], program: "python3").end().succeeds()
            #expect(other.line == "0")
            let own = try agent.reply(to: "code", ["mira"])
            #expect(own.message.fields.first == Array("result".utf8))
            await agent.process.stop()
        }
    }

    @Test(
        "A command sends nothing to a process of another user that listens in the agent's place",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func sendsNothingToSquatter() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let directory = cli.directory.file("run/signet")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try #require(chmod(directory, 0o777) == 0)
            let script = try cli.write(Self.squatter.utf8, to: "squatter.py")
            let squatter = try cli.start([script, directory], program: "python3")
            _ = try await squatter.waitForOutput { output, _ in output.contains("ready") }
            let code = try await cli.signet(
                "code", "mira", environment: ["XDG_RUNTIME_DIR": cli.directory.file("run")]
            ).succeeds()
            #expect(code.line.wholeMatch(of: #/[0-9]{6}/#) != nil)
            let received = try await squatter.end().succeeds()
            #expect(received.output == "ready\n0\n")
        }
    }

    @Test("A file that SIGNET_AGENT names by mistake is left as it is")
    func keepsFileInPlaceOfSocket() async throws {
        try await CommandLineFixture.with { cli in
            let file = try cli.write("a poem".utf8, to: "poem")
            try await cli.signet("agent", environment: ["SIGNET_AGENT": file]).fails(77, "not a socket")
            let content = try String(contentsOfFile: file, encoding: .utf8)
            #expect(content == "a poem")
        }
    }

    @Test("An agent does not take the place of a socket at which a process listens, such as systemd")
    func keepsListeningSocket() async throws {
        try await CommandLineFixture.with { cli in
            let directory = cli.directory.file("run/signet")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try #require(chmod(directory, 0o700) == 0)
            let descriptor = try #require(AgentSocket.new())
            defer { close(descriptor) }
            let result = AgentSocket.withAddress(RunningAgent.path(cli)) { bind(descriptor, $0, $1) }
            try #require(result == 0)
            try #require(listen(descriptor, 8) == 0)
            let environment = ["XDG_RUNTIME_DIR": cli.directory.file("run")]
            try await cli.signet("agent", environment: environment).fails(75, "running already")
            #expect(FileManager.default.fileExists(atPath: RunningAgent.path(cli)))
        }
    }

    @Test("A vault that is locked while the user is asked for a use is not used")
    func refusesUseAfterLock() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let program = try cli.write("#!/bin/sh\nexec '\(Program.path)' lock\n".utf8, to: "ask", mode: 0o700)
            let agent = try await RunningAgent.start(cli, "--confirm-with", program)
            let reply = try agent.reply(to: "code", ["mira"])
            #expect(reply == .declined(.locked))
            await agent.process.stop()
        }
    }

    @Test("The agent can write no core dump")
    func writesNoCoreDump() async throws {
        try await CommandLineFixture.with { cli in
            let agent = try await RunningAgent.start(cli)
            let limits = try String(contentsOfFile: "/proc/\(agent.process.identifier)/limits", encoding: .utf8)
            let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            let values = try #require(line).split(separator: " ").dropFirst(4).prefix(2)
            #expect(Array(values) == ["0", "0"])
            await agent.process.stop()
        }
    }
}
