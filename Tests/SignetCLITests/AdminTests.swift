import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet serve --admin", .tags(.slow))
struct AdminTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The programs of the recipe that are missing here.
    private static let missing = Programs.missing(["bash", "curl", "jq"])

    /// The shell blocks of the page, joined into one script: each block continues the one before it.
    private static func recipe() throws -> String {
        let text = try String(contentsOf: root.appending(path: "docs/reference/admin.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        return (["set -euo pipefail"] + blocks).joined(separator: "\n")
    }

    @Test(
        "The curl recipe and every call in docs/reference/admin.md work as documented",
        .enabled(if: missing.isEmpty, "needs \(missing.joined(separator: ", "))"))
    func runsDocumentedRecipe() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let folder = URL(filePath: Program.path).deletingLastPathComponent().path(percentEncoded: false)
            let script = "cd '\(cli.directory.path)'\n" + (try Self.recipe())
            let process = try cli.start(
                ["-c", script], program: "bash",
                environment: ["PATH": "\(folder):\(Program.environment["PATH"] ?? "/usr/bin:/bin")"],
                ownGroup: true)
            let outcome = await process.end()
            process.signal(SIGKILL, group: true)
            #expect(outcome.status == 0, "\(outcome.errors)\n\(outcome.output.suffix(2000))")
            #expect(outcome.output.contains("\"kinds\""))
        }
    }

    @Test("The Swift example in docs/reference/admin.md equals the snippet's source")
    func documentsSnippetVerbatim() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/admin.md"), encoding: .utf8)
        let snippet = try String(contentsOf: Self.root.appending(path: "Snippets/TestAgainstServer.swift"), encoding: .utf8)
        let shown = try #require(page.components(separatedBy: "```swift\n").last?.components(separatedBy: "```").first)
        let source = try #require(
            snippet.components(separatedBy: "// snippet.show\n").last?.components(separatedBy: "    // snippet.hide").first)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasPrefix("    ") ? $0.dropFirst(4) : $0
        }
        #expect(shown == lines.joined(separator: "\n"))
    }

    @Test(
        "The server writes its admin token to a file of mode 0600 and announces the path, not the token",
        arguments: [false, true])
    func writesPrivateTokenFile(isNamed: Bool) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let named = cli.directory.file("token")
            let process = try cli.start(
                ["serve", "--state", "memory", "--port", "0", "--json"]
                    + (isNamed ? ["--admin-token-file", named] : ["--admin"]),
                environment: ["XDG_RUNTIME_DIR": cli.directory.path])
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }
            let path = try #require(ready.json["admin"]?["tokenFile"]?.string)
            #expect(ready.json["admin"]?["url"]?.string == (ready.json["url"]?.string ?? "") + "/admin")
            #expect(path.hasPrefix(cli.directory.path) && (path == named) == isNamed)
            let token = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
            #expect(token.count == 43 && !ready.output.contains(token))
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            process.signal(SIGTERM)
            try await process.end().succeeds()
            #expect(FileManager.default.fileExists(atPath: path) == isNamed)
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == (isNamed ? ["token"] : []))
        }
    }

    /// A token file's content, its mode, the exit code, and a word of the message.
    static let badFiles: [(String, mode_t, Int32, String)] = [
        ("a token of a test's own", 0o600, 65, "without spaces"), ("short", 0o600, 65, "16 characters"),
        ("", 0o600, 65, "16 characters"),
        ("0123456789abcdef0123456789abcdef", 0o644, 77, "chmod 600"),
    ]

    @Test("An admin token file without a valid token, or readable by other users, is refused", arguments: badFiles)
    func refusesBadTokenFile(content: String, mode: mode_t, exit: Int32, word: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(content.utf8, to: "token", mode: mode)
            let outcome = try await cli.signet("serve", "--port", "0", "--admin-token-file", path)
            outcome.fails(exit, path, word)
            #expect(!outcome.errors.contains("0123456789"))
        }
    }

    @Test("A server started without --admin has no administration API")
    func disablesAdminByDefault() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(["serve", "--port", "0", "--json"])
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }
            #expect(ready.json["admin"] == nil)
            let client = try ClientSocket(port: Endpoint(try #require(ready.json["url"]?.string)).port)
            client.send("GET /am/admin/clock HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n\r\n")
            #expect(client.receive().hasPrefix("HTTP/1.1 404"))
            process.signal(SIGTERM)
            try await process.end().succeeds()
        }
    }
}
