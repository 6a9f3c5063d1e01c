import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A PostgreSQL server of a test's own: a new cluster in a temporary directory, reached by a socket there, which nobody else
/// uses. It flushes its log as a real one does.
///
/// PostgreSQL refuses to run as root; then it runs as `pgtest`, `postgres` or `nobody`, the first that there is.
public final class PostgresServer: Sendable {
    /// The password that the server asks for.
    public static let password = "correct horse battery staple"

    /// Why it cannot be started here, or what went wrong.
    public struct Unavailable: Error, Sendable, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    private let directory: TemporaryDirectory
    private let programs: String

    /// Whether the server's programs, and a user to run them as, are on this machine.
    public static var isPossible: Bool { binaries != nil && (geteuid() != 0 || user != nil) }

    private static var user: String? { ["pgtest", "postgres", "nobody"].first { getpwnam($0) != nil } }

    /// Makes a cluster and starts it. Takes some seconds.
    /// - Throws: ``Unavailable``.
    public init() throws {
        guard Self.isPossible, let programs = Self.binaries else {
            throw Unavailable(description: "PostgreSQL, or a user to run it as, is not here")
        }
        self.programs = programs
        directory = try TemporaryDirectory()
        try Array(Self.password.utf8).withUnsafeBytes { try Data($0).write(to: URL(filePath: directory.file("password"))) }
        if geteuid() == 0, let entry = Self.user.flatMap({ getpwnam($0) }) {
            for path in [directory.path, directory.file("password")] {
                chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid)
            }
        }
        try run(
            "initdb", "-D", data, "-U", "signet", "--pwfile", directory.file("password"), "-A", "scram-sha-256", "-E", "UTF8",
            "--no-locale", "--no-sync")
        try start()
    }

    /// How to reach it, as a libpq connection string without the password.
    public var address: String { "host='\(directory.path)' user=signet dbname=postgres" }
    /// How to reach it, with the password.
    public var connection: String { address + " password='\(Self.password)'" }

    /// Starts it again where it was stopped.
    /// - Parameter settings: Settings of the server beyond its usual ones, for example `fsync=off`.
    /// - Throws: ``Unavailable``.
    public func start(_ settings: String...) throws {
        let usual = ["listen_addresses=''", "unix_socket_directories='\(directory.path)'", "shared_buffers=16MB"]
        let options = (usual + settings).map { "-c \($0)" }.joined(separator: " ")
        try run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", directory.file("server.log"), "-o", options, "start")
    }

    /// Stops it without any order, as a crash does: what is not durable is lost.
    /// - Throws: ``Unavailable``.
    public func crash() throws {
        try run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    }

    /// Crashes it and removes everything.
    public func remove() {
        try? crash()
        directory.remove()
    }

    /// Runs SQL as the owner of the server, with `psql`, and gives the rows as text, one a line.
    /// - Throws: ``Unavailable`` when a command fails.
    @discardableResult
    public func execute(_ sql: String) throws -> [String] {
        let output = try run("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", connection, "-c", sql)
        return output.split(separator: "\n").map(String.init)
    }

    private var data: String { directory.file("data") }

    private static var binaries: String? {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init).sorted(by: >)
        let path = environmentPath.split(separator: ":").map(String.init)
        return (versions.map { "\(root)/\($0)/bin" } + path).first { access("\($0)/initdb", X_OK) == 0 }
    }

    private static var environmentPath: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin" }

    /// Runs one of PostgreSQL's programs to its end, as the user that may, and gives what it says.
    @discardableResult
    private func run(_ program: String, _ arguments: String...) throws -> String {
        var command = ["\(programs)/\(program)"] + arguments
        if geteuid() == 0, let user = Self.user { command = ["/usr/sbin/runuser", "-u", user, "--"] + command }
        // A file and no pipe: the server inherits it, and would hold a pipe open.
        let output = directory.file("\(program).\(RandomID.uuid())")
        let status = try Self.spawn(command, output: output)
        let said = String(decoding: (try? Data(contentsOf: URL(filePath: output))) ?? Data(), as: UTF8.self)
        unlink(output)
        guard status == 0 else { throw Unavailable(description: "\(program) ended with status \(status): \(said)") }
        return said
    }

    private static func spawn(_ command: [String], output: String) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        let pointers = command.map { strdup($0) } + [nil]
        let variables = [strdup("PATH=\(environmentPath)"), strdup("LC_ALL=C"), nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var child: pid_t = 0
        guard posix_spawn(&child, command[0], &actions, nil, pointers, variables) == 0 else {
            throw Unavailable(description: "\(command[0]) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
