import Foundation
import SignetTesting
import TestSupport
import Testing

@Suite("File arguments of signet")
struct PathTests {
    /// The kind of path in place of `%` in the arguments (missing, a directory, a text), the exit code and the message.
    static let rows: [(arguments: [String], kind: Kind, status: Int32, words: String)] = [
        (["enroll", "%.png"], .none, 66, "no such file"),
        (["backup", "verify", "%", "--file-passphrase-fd", "0"], .directory, 65, "directory"),
        (["serve", "--port", "0", "--config", "%"], .directory, 65, "directory"),
        (["login", "http://127.0.0.1:1/am", "--ca-file", "%"], .none, 66, "--ca-file"),
        (["login", "http://127.0.0.1:1/am", "--ca-file", "%"], .directory, 65, "--ca-file"),
        (["login", "http://127.0.0.1:1/am", "--ca-file", "%"], .text, 65, "no certificate in PEM"),
        (["backup", "create", "", "--file-passphrase-fd", "0"], .none, 64, "empty"),
        (["backup", "create", "%/b", "--file-passphrase-fd", "0"], .none, 66, "no such directory"),
        (["serve", "--port", "0", "--state", "memory", "--admin-token-file", "%/token"], .none, 65, "no such directory"),
    ]

    enum Kind { case none, directory, text }

    @Test("An unusable file argument is named with the documented exit code, and nothing is created", arguments: rows)
    func refusesUnusableFile(arguments: [String], kind: Kind, status: Int32, words: String) async throws {
        try await CommandLineFixture.with { cli in
            let path = cli.directory.file("given")
            switch kind {
            case .none: break
            case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .text: try Data("no certificate".utf8).write(to: URL(filePath: path))
            }
            let before = try FileManager.default.contentsOfDirectory(atPath: cli.directory.path).sorted()
            let outcome = try await cli.start(
                arguments.map { $0.replacing("%", with: path) }, input: .text("a passphrase\n")
            ).end()
            outcome.fails(status, words)
            #expect(!outcome.errors.contains("signet init"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path).sorted() == before)
        }
    }

    @Test(
        "A directory above the vault that signet may not search is not reported as a missing vault", .enabled(if: geteuid() != 0))
    func reportsUnsearchableDirectory() async throws {
        try await CommandLineFixture.with { cli in
            #expect(chmod(cli.directory.path, 0) == 0)
            defer { chmod(cli.directory.path, 0o700) }
            try await cli.signet("accounts").fails(77, "does not allow")
        }
    }
}

@Suite("The temporary folder of one run")
struct TemporaryFolderTests {
    @Test(
        "The temporary folder is deleted also when standard output cannot be written",
        arguments: [
            "signet demo >&-", "signet serve --state memory --port 0 --admin >/dev/full",
        ])
    func deletesTemporaryFolder(command: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let shell = command.replacing("signet", with: "'\(Program.path)'", maxReplacements: 1)
            let outcome = try await cli.start(["-c", shell], program: "sh").end(within: .seconds(60))
            #expect(outcome.status == 74, "\(outcome.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: cli.directory.path)
            let remainingFiles = names.filter { $0.hasPrefix("signet-") }
            #expect(remainingFiles == [])
        }
    }
}
