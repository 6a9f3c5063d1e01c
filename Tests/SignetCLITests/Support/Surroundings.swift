import Foundation
import Testing

/// SQLite from outside, through the one of `python3`: this test must not use the library under test.
enum SQLite {
    /// Whether `python3` with its sqlite3 module is here.
    static let isHere = (try? python("import sqlite3", [])) != nil

    struct Failed: Error {}

    /// Runs one statement, durably.
    static func run(_ file: String, _ statement: String) throws {
        try python(
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()",
            [file, statement])
    }

    /// A process that holds the write lock of a file until its standard input is closed. It writes `held` when it does.
    static func holder(of file: String, at place: Workplace) throws -> TestProcess {
        let program = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('BEGIN IMMEDIATE')
            print('held', flush=True)
            sys.stdin.read()
            c.execute('ROLLBACK')
            """
        return try place.start(["python3", "-c", program, file], program: "/usr/bin/env", input: .open)
    }

    private static func python(_ program: String, _ arguments: [String]) throws {
        let process = try TestProcess(
            "/usr/bin/env", ["python3", "-c", program] + arguments, environment: ProcessInfo.processInfo.environment,
            input: .nothing)
        while !process.hasEnded { usleep(2000) }
        guard process.soFar.status == 0 else { throw Failed() }
    }
}

/// A disk of 512 kB in memory, mounted for one test.
struct SmallDisk {
    let path: String

    /// Whether a disk can be mounted here: it takes root, and a container that allows it.
    static let isPossible: Bool = {
        var template = Array("/tmp/signet-disk-XXXXXX".utf8CString)
        guard geteuid() == 0, mkdtemp(&template) != nil else { return false }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { rmdir(path) }
        guard (try? mount(path)) != nil else { return false }
        return (try? unmount(path)) != nil
    }()

    static func with(_ path: String, _ body: (SmallDisk) async throws -> Void) async throws {
        try #require(mkdir(path, 0o700) == 0)
        try mount(path)
        do {
            try await body(SmallDisk(path: path))
        } catch {
            try unmount(path)
            throw error
        }
        try unmount(path)
    }

    /// Leaves no byte.
    func fill() throws {
        let descriptor = open(path + "/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    func empty() throws { try #require(unlink(path + "/filler") == 0) }

    private static func mount(_ path: String) throws {
        try command(["mount", "-t", "tmpfs", "-o", "size=512k,mode=0700", "tmpfs", path])
    }

    private static func unmount(_ path: String) throws { try command(["umount", path]) }

    private static func command(_ words: [String]) throws {
        let process = try TestProcess("/usr/bin/env", words, environment: ProcessInfo.processInfo.environment, input: .nothing)
        while !process.hasEnded { usleep(2000) }
        guard process.soFar.status == 0 else { throw SQLite.Failed() }
    }
}

/// What runs beside us.
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
