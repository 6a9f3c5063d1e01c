#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// A directory in which `signet` runs as its user runs it, with a vault whose files an attacker can change.
struct AttackedVault: Sendable {
    let directory: TemporaryDirectory
    /// The directory of the vault.
    var home: String { directory.file("vault") }
    /// The file with the records.
    var records: String { "\(home)/vault.sqlite" }

    /// The secret of every account.
    static let secret = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

    /// Runs `body` in a new directory with a vault and some accounts.
    static func with(accounts: Int, _ body: (AttackedVault) async throws -> Void) async throws {
        try await TaskLimiter.attacks.pass {
            try await run(accounts: accounts, body)
        }
    }

    private static func run(accounts: Int, _ body: (AttackedVault) async throws -> Void) async throws {
        try await TemporaryDirectory.with(inMemory: true) { directory in
            let vault = AttackedVault(directory: directory)
            try await vault.succeed("init", "--protect", "keyfile")
            for number in 0..<accounts { try await vault.succeed("enroll", uri("hotp", number)) }
            try await body(vault)
        }
    }

    /// The enrollment URI of an account.
    static func uri(_ type: String, _ number: Int) -> String {
        "otpauth://\(type)/Harbor:user\(number)?secret=\(secret)&issuer=Harbor&counter=0"
    }

    /// Runs `signet` to its end, in the directory.
    func run(
        _ arguments: [String], input: TestProcess.Input = .nothing, environment: [String: String] = [:],
        within timeout: Duration = .seconds(60)
    ) async throws -> TestProcess.Outcome {
        try await TestProcess.run(
            "sh", ["-c", "cd \"$0\" && exec \"$@\"", directory.path, AttackedProgram.path] + arguments,
            environment: self.environment.merging(environment) { $1 }, input: input,
            within: timeout)
    }

    /// The environment of the programs: this directory is the user's home.
    var environment: [String: String] {
        AttackedProgram.environment.merging(
            ["SIGNET_HOME": home, "HOME": directory.path, "TMPDIR": directory.path]) { $1 }
    }

    /// Runs `signet` and requires exit code 0.
    @discardableResult
    func succeed(_ arguments: String...) async throws -> TestProcess.Outcome {
        let outcome = try await run(arguments)
        try #require(outcome.status == 0, "\(arguments.first ?? ""): \(outcome.errors)")
        return outcome
    }

    /// Makes the file of the records complete, without a write-ahead log beside it, and returns its bytes.
    func recordBytes() async throws -> [UInt8] {
        try await Python.run(
            """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
            c.close()
            """, records)
        return Array(try Data(contentsOf: URL(filePath: records)))
    }

    /// Replaces the file of the records, with mode 0600, and removes SQLite's files beside it.
    func replaceRecords(_ bytes: [UInt8]) throws {
        for suffix in ["-wal", "-shm", ""] { try? FileManager.default.removeItem(atPath: records + suffix) }
        try Data(bytes).write(to: URL(filePath: records))
        try #require(chmod(records, 0o600) == 0)
    }

    /// Runs SQL on the file of the records, with the file of an older copy attached as `old`.
    func change(_ statement: String, old: String? = nil) async throws {
        try await Python.run(
            """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            if sys.argv[3]: c.execute('ATTACH ? AS old', (sys.argv[3],))
            c.execute(sys.argv[2])
            c.close()
            """, records, statement, old ?? "")
    }
}

extension TestProcess.Outcome {
    /// True when the program ended by itself with one of its documented exit codes, and not by a signal, a trap or an error in it (70).
    var isDocumented: Bool { [0, 64, 65, 66, 69, 71, 73, 74, 75, 76, 77, 78, 130].contains(status) }
    /// The standard output and the standard error.
    var shown: String { output + errors }
    /// True when both contain no control character except line feeds and tabs.
    var isSafeToShow: Bool {
        shown.unicodeScalars.allSatisfy { ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)) || $0 == "\n" || $0 == "\t" }
    }
}
#endif
