import Foundation
import SignetTesting
import TestSupport
import Testing

@Suite("The manual", .enabled(if: Programs.missing(["python3"]).isEmpty, "python3 is not installed"))
struct ManualTests {
    /// The script that writes the man pages and the reference.
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "scripts/manual").path(percentEncoded: false)

    @Test("The reference of the command line lists the commands and options of the program")
    func referenceMatchesProgram() async throws {
        let outcome = try await TestProcess.run(Self.script, ["check", Program.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("There is a man page for each command, the same in each run, and without warnings")
    func writesManPages() async throws {
        try await TemporaryDirectory.with { directory in
            let environment = ProcessInfo.processInfo.environment.merging(["SOURCE_DATE_EPOCH": "1700000000"]) { $1 }
            var pages: [[String: String]] = []
            for name in ["first", "second"] {
                let folder = directory.file(name)
                let outcome = try await TestProcess.run(Self.script, ["man", Program.path, folder], environment: environment)
                try #require(outcome.status == 0, "\(outcome.errors)")
                let files = try FileManager.default.contentsOfDirectory(atPath: folder)
                pages.append(
                    try Dictionary(
                        uniqueKeysWithValues: files.map { ($0, try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) }))
            }
            #expect(pages[0] == pages[1])
            for (name, word) in [
                ("signet.1", ".It 78"), ("signet-code.1", ".Sh EXAMPLES"), ("signet-vault-key-add.1", ".Ar protection"),
            ] {
                #expect(pages[0][name]?.contains(word) == true, "\(name)")
            }
            let paths = pages[0].keys.map { directory.file("first/\($0)") }
            try await checkPages(paths)
        }
    }

    /// Checks the pages with the formatters that are installed.
    private func checkPages(_ paths: [String]) async throws {
        if Programs.missing(["mandoc"]).isEmpty {
            let outcome = try await TestProcess.run("mandoc", ["-T", "lint", "-W", "warning"] + paths)
            #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output)")
        }
        guard Programs.missing(["man", "groff"]).isEmpty else { return }
        for path in paths {
            let outcome = try await TestProcess.run("man", ["--warnings", "-l", "-Tutf8", "-Z", path])
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        }
    }
}
