import Foundation
import TestSupport

/// SQLite from outside, through `python3`: these tests must not use the library under test.
enum SQLite {
    /// Runs one statement, durably.
    static func run(_ file: String, _ statement: String) async throws {
        try await Python.run(
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()",
            file, statement)
    }

    /// A process that holds the write lock of a file until its standard input is closed.
    ///
    /// It writes `held` once it has it.
    static func holder(of file: String, at cli: CommandLineFixture) throws -> TestProcess {
        let program = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('BEGIN IMMEDIATE')
            print('held', flush=True)
            sys.stdin.read()
            c.execute('ROLLBACK')
            """
        return try cli.start(["-c", program, file], program: "python3", input: .open)
    }
}

/// The processes that run beside the tests.
enum ProcessGroup {
    /// The processes of a group that are alive, as `/proc` lists them.
    static func members(of group: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { pid_t($0) != nil }.compactMap { entry in
            guard let status = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8) else { return nil }
            // After the name in parentheses: the state, the parent, the group.
            let fields = status.drop { $0 != ")" }.split(separator: " ")
            return fields.count > 3 && fields[3] == "\(group)" && fields[1] != "Z" ? status : nil
        }
    }
}
