#if os(Linux)
import Foundation
import Glibc
import SignetTesting

/// A PostgreSQL server for one test: a new cluster in a temporary directory, reached through a socket there, which only the test
/// uses.
///
/// It flushes its write-ahead log like a production server.
///
/// PostgreSQL refuses to run as root. In that case it runs as the first of `pgtest`, `postgres` and `nobody` that exists.
package final class PostgresServer: Sendable {
    /// The password of the server.
    package static let password = "correct horse battery staple"

    /// An error that reports that the server cannot be started or has failed.
    package struct Unavailable: Error, Sendable, CustomStringConvertible {
        /// The reason.
        package let description: String
    }

    private let directory: TemporaryDirectory
    private let programs: String

    /// A Boolean value that indicates whether the server's programs are installed, and a user exists to run them.
    package static var isPossible: Bool { binaries != nil && (geteuid() != 0 || user != nil) }

    /// The user that runs the server when the tests run as root, because PostgreSQL refuses to run as root.
    private static let user = ["pgtest", "postgres", "nobody"].lazy.compactMap { SystemUser(name: $0) }.first

    /// Runs `body` with a new server and removes the server afterwards.
    ///
    /// Creating it takes some seconds.
    /// - Throws: ``Unavailable``, or the error of `body`.
    package static func with<R>(_ body: (PostgresServer) async throws -> sending R) async throws -> sending R {
        let server = try PostgresServer()
        do {
            try await server.make()
            let result = try await body(server)
            await server.remove()
            return result
        } catch {
            await server.remove()
            throw error
        }
    }

    private init() throws {
        guard Self.isPossible, let programs = Self.binaries else {
            throw Unavailable(description: "PostgreSQL, or a user to run it as, is not here")
        }
        self.programs = programs
        directory = try TemporaryDirectory()
    }

    private func make() async throws {
        try Array(Self.password.utf8).withUnsafeBytes { try Data($0).write(to: URL(filePath: directory.file("password"))) }
        if geteuid() == 0, let user = Self.user {
            for path in [directory.path, directory.file("password")] { chown(path, user.id, user.groupID) }
        }
        try await run(
            "initdb", "-D", data, "-U", "signet", "--pwfile", directory.file("password"), "-A", "scram-sha-256", "-E", "UTF8",
            "--no-locale", "--no-sync")
        try await start()
    }

    /// A libpq connection string without the password.
    package var address: String { "host='\(directory.path)' user=signet dbname=postgres" }
    /// A connection URI without the password.
    package var uri: String { "postgresql:///postgres?host=\(directory.path)&user=signet" }
    /// A libpq connection string with the password.
    package var connection: String { address + " password='\(Self.password)'" }

    /// Starts the server again after it was stopped.
    /// - Parameter settings: Settings of the server in addition to the usual ones, for example `fsync=off`.
    /// - Throws: ``Unavailable``.
    package func start(_ settings: String...) async throws {
        let defaults = ["listen_addresses=''", "unix_socket_directories='\(directory.path)'", "shared_buffers=16MB"]
        let options = (defaults + settings).map { "-c \($0)" }.joined(separator: " ")
        try await run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", directory.file("server.log"), "-o", options, "start")
    }

    /// Stops the server immediately, as a crash does: changes that are not durable are lost.
    /// - Throws: ``Unavailable``.
    package func crash() async throws {
        try await run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    }

    /// Stops the server immediately and removes its files.
    private func remove() async {
        try? await crash()
        directory.remove()
    }

    /// Runs SQL as the owner of the server, with `psql`.
    /// - Parameters:
    ///   - sql: One command or several.
    ///   - database: The database in which the commands run.
    /// - Returns: The rows as text, one row in each element, with `|` between the columns.
    /// - Throws: ``Unavailable`` when a command fails.
    @discardableResult
    package func execute(_ sql: String, in database: String = "postgres") async throws -> [String] {
        let connection = connection.replacing("dbname=postgres", with: "dbname=\(database)")
        let output = try await run("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", connection, "-c", sql)
        return output.split(separator: "\n").map(String.init)
    }

    private var data: String { directory.file("data") }

    private static var binaries: String? {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init).sorted(by: >)
        let path = environmentPath.split(separator: ":").map(String.init)
        return (versions.map { "\(root)/\($0)/bin" } + path).first { access("\($0)/initdb", X_OK) == 0 }
    }

    private static var environmentPath: String { ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin" }

    /// Runs one of PostgreSQL's programs to its end, as the user that runs the server.
    ///
    /// Returns its output.
    @discardableResult
    private func run(_ program: String, _ arguments: String...) async throws -> String {
        var command = ["\(programs)/\(program)"] + arguments
        if geteuid() == 0, let user = Self.user { command = ["/usr/sbin/runuser", "-u", user.name, "--"] + command }
        let ended = try await TestProcess.run(
            command[0], Array(command.dropFirst()), environment: ["PATH": Self.environmentPath, "LC_ALL": "C"])
        guard ended.status == 0 else {
            throw Unavailable(description: "\(program) ended with status \(ended.status): \(ended.output)\(ended.errors)")
        }
        return ended.output
    }
}

/// A user of this system.
///
/// `getpwnam` returns memory that a call on another thread changes; this reads a copy.
private struct SystemUser: Sendable {
    let name: String
    let id: uid_t
    let groupID: gid_t

    /// Looks up a user.
    ///
    /// Returns nil when the system has no such user.
    init?(name: String) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        (self.name, id, groupID) = (name, entry.pw_uid, entry.pw_gid)
    }
}
#endif
