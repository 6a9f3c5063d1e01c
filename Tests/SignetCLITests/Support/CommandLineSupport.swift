import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

// The shared support of the command line's tests: `signet` as a new process, and a directory for it.

extension Tag {
    /// Takes more than some seconds, most of it waiting.
    @Tag static var slow: Self
}

/// A directory for one test, in which `signet` runs as a user would run it.
struct CommandLineFixture: Sendable {
    let directory: TemporaryDirectory

    /// The directory of the vault, whether or not it exists yet.
    var home: String { directory.file("vault") }

    /// Runs `body` in a new directory, with a vault if `vault` is true.
    static func with<R>(vault: Bool = true, _ body: (CommandLineFixture) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let cli = CommandLineFixture(directory: directory)
            if vault { try await cli.signet("init", "--protect", "keyfile").succeeds() }
            return try await body(cli)
        }
    }

    /// Runs `signet` to its end.
    func signet(
        _ arguments: String..., input: TestProcess.Input = .nothing, environment: [String: String] = [:],
        timeout: Duration = TestTimeout.default
    ) async throws -> Outcome {
        try await TaskLimiter.processes.pass {
            try await start(arguments, input: input, environment: environment).end(within: timeout)
        }
    }

    /// Starts `signet`, or another program, without waiting for its end.
    func start(
        _ arguments: [String], program: String = Program.path, input: TestProcess.Input = .nothing,
        environment: [String: String] = [:],
        ownGroup: Bool = false
    ) throws -> TestProcess {
        try TestProcess(
            program, arguments, environment: self.environment(adding: environment), input: input, ownGroup: ownGroup)
    }

    /// Starts `signet`, or another program, at a terminal of its own, which script(1) makes.
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - program: The program.
    ///   - output: A command of the shell that reads the standard output of the program through a pipe; nil when that is the
    ///     terminal.
    ///   - environment: Environment variables in addition to those of every command.
    /// - Returns: The process of script(1), whose output is all that the terminal shows.
    /// - Throws: The error of a program that cannot be started.
    func startAtTerminal(
        _ arguments: [String], program: String = Program.path, output: String? = nil, environment: [String: String] = [:]
    ) throws -> TestProcess {
        let command = ([program] + arguments).map { "'\($0)'" }.joined(separator: " ") + (output.map { " | \($0)" } ?? "")
        return try start(["-qec", command, "/dev/null"], program: "script", input: .open, environment: environment)
    }

    /// Starts `signet serve` and waits until it listens.
    /// - Parameters:
    ///   - options: Options in addition to those for the port, the announcement and the end.
    ///   - environment: Environment variables in addition to those of every command.
    /// - Returns: The server, which listens.
    /// - Throws: The error of a server that does not start.
    func serve(_ options: [String], environment: [String: String] = [:]) async throws -> TestServer.Process {
        try await .start(options, environment: self.environment(adding: environment))
    }

    /// The environment of a command: this directory is the user's home.
    func environment(adding additions: [String: String] = [:]) -> [String: String] {
        let own = ["SIGNET_HOME": home, "HOME": directory.path, "TMPDIR": directory.path]
        return Program.environment.merging(own) { _, new in new }.merging(additions) { _, new in new }
    }

    /// Writes a file that only its owner can read, and returns its path.
    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: mode_t = 0o600) throws -> String {
        let path = directory.file(name)
        try Data(bytes).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
        return path
    }

    /// The accounts, as `signet accounts --json` lists them.
    func accounts() async throws -> [JSONValue] { try await signet("accounts", "--json").succeeds().jsonLines }

    /// The push messages, as `signet push list --all --json` lists them.
    func messages() async throws -> [JSONValue] { try await signet("push", "list", "--all", "--json").succeeds().jsonLines }

    /// Every file of the vault's directory except SQLite's temporary files, by name, with its bytes.
    func vaultFiles() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: home).filter {
            !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal")
        }
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(home)/\($0)"))) })
    }
}

/// The program under test.
enum Program {
    static let path = Programs.built("signet")

    /// The part of the test's own environment that a child gets.
    static let environment = ProcessInfo.processInfo.environment.filter {
        ["PATH", "LANG", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE", "ASAN_OPTIONS"].contains($0.key)
    }
}

extension TestProcess {
    /// Writes to an input that was left open, as a typing user does.
    func type(_ text: String) { send(Array(text.utf8)) }
}

typealias Outcome = TestProcess.Outcome

extension TestProcess.Outcome {
    /// Requires exit code 0.
    @discardableResult
    func succeeds(_ location: SourceLocation = #_sourceLocation) throws -> Outcome {
        try #require(status == 0, "signet \(arguments.joined(separator: " ")): \(errors)", sourceLocation: location)
        return self
    }

    /// Expects an exit code, nothing on standard output, and each of `words` on standard error.
    func fails(_ expected: Int32, _ words: String..., at location: SourceLocation = #_sourceLocation) {
        #expect(status == expected, "\(errors)", sourceLocation: location)
        #expect(output == "", sourceLocation: location)
        for word in words { #expect(errors.contains(word), sourceLocation: location) }
    }

    var json: JSONValue { Self.json(output) }
    var jsonLines: [JSONValue] { output.split(separator: "\n").map(Self.json) }
    /// The `{"error": …}` object on standard error.
    var jsonError: JSONValue? { Self.json(errors)["error"] }

    private static func json(_ text: some StringProtocol) -> JSONValue {
        (try? JSON.value(of: Array(text.utf8))) ?? .null
    }
}

extension TaskLimiter {
    /// Admits the processes of these tests.
    static let processes = TaskLimiter(available: 4)
}
