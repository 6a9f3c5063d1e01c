import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@Suite("The security defaults of signet serve")
struct ServeSecurityTests {
    /// Starts a server that speaks https with an authority of its own, and runs `body` with its address and the authority's file.
    private func withSecureServer(
        _ cli: CommandLineFixture, _ body: (_ ready: JSONValue, _ url: String, _ file: String) async throws -> Void
    ) async throws {
        let options = ["--tls", "--tls-directory", cli.directory.file("tls")]
        try await TestServer.Process.with(options, environment: cli.environment()) { server in
            try await body(server.ready, server.url, #require(server.ready["authority"]?.string))
        }
    }

    private func credentials(_ ready: JSONValue) throws -> (arguments: [String], input: String) {
        let user = try #require(ready["users"]?.array?.first)
        return (
            ["--answer", "name=\(try #require(user["name"]?.string))", "--answer", "password=-"],
            try #require(user["password"]?.string) + "\n"
        )
    }

    @Test("With --tls a client that trusts the announced authority logs in, and a client that does not exits with 69")
    func logsInOverTLS() async throws {
        try await CommandLineFixture.with { cli in
            try await withSecureServer(cli) { ready, url, file in
                #expect(url.hasPrefix("https://127.0.0.1:") && file == cli.directory.file("tls/authority.pem"))
                let (arguments, input) = try credentials(ready)
                let login = ["login", url, "--client", "app", "--json"] + arguments
                let refused = try await cli.start(login, input: .text(input)).end()
                refused.fails(69)
                #expect(refused.jsonError?["code"]?.string == "network.tls")
                #expect(refused.jsonError?["message"]?.string?.contains("--ca-file") == true)
                try await cli.signet("token").fails(77, "no user is logged in here")

                try await cli.start(login + ["--ca-file", file], input: .text(input)).end().succeeds()
                let token = try await cli.signet("token").succeeds().output
                #expect(try await cli.signet("token", "--refresh").succeeds().output != token)
                try await cli.signet("userinfo").succeeds()
                try await cli.signet("logout").succeeds()
            }
        }
    }

    @Test("A device enrolls and approves over https with the authority from SIGNET_CA_FILE")
    func approvesOverTLS() async throws {
        try await CommandLineFixture.with { cli in
            try await withSecureServer(cli) { ready, url, file in
                let user = try #require(ready["users"]?.array?.first)
                let trust = ["SIGNET_CA_FILE": file]
                try await RunningServer.registerForPush(
                    cli, url: url, user: try #require(user["name"]?.string), password: try #require(user["password"]?.string),
                    environment: trust)
                let listening = try cli.start(["push", "listen", "--once", "--json"], environment: trust)
                let (arguments, input) = try credentials(ready)
                let login = try cli.start(
                    ["login", url, "--journey", "PushLogin"] + arguments, input: .text(input), environment: trust)
                let message = try await listening.end().succeeds().json
                let id = try #require(message["id"]?.string)
                // Without the authority the answer is not sent.
                try await cli.signet("push", "approve", id).fails(69)
                try await cli.signet("push", "approve", id, "--ca-file", file).succeeds()
                try await login.end().succeeds()
            }
        }
    }

    @Test("A missing file of authorities is named before any request is sent")
    func reportsMissingAuthorityFile() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", "https://127.0.0.1:1", "--ca-file", "/nowhere.pem").fails(
                66, "--ca-file", "/nowhere.pem")
            try await cli.signet("push", "listen", environment: ["SIGNET_CA_FILE": "/nowhere.pem"]).fails(66, "SIGNET_CA_FILE")
        }
    }

    @Test(
        "Contradicting --tls options and unusable certificate files are refused",
        arguments: [
            (["--tls-certificate", "a"], 64, "belong together"),
            (["--tls", "--tls-certificate", "a", "--tls-key", "b"], 64, "exclude each other"),
            (["--tls-certificate", "/none.pem", "--tls-key", "/none.key"], 65, "/none.pem"),
        ] as [([String], Int32, String)])
    func refusesContradictingTLSOptions(options: [String], exit: Int32, word: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.start(["serve", "--port", "0"] + options).end()
            outcome.fails(exit, word)
        }
    }

    @Test("The default authority is kept in the data directory and reused at the next start")
    func reusesDefaultAuthority() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            var certificates: Set<Data> = []
            for _ in 0..<2 {
                let process = try cli.start(["serve", "--port", "0", "--json", "--tls"])
                let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
                let file = try #require(ready["authority"]?.string)
                #expect(file == "\(cli.directory.path)/.local/share/signet-server/tls/authority.pem")
                certificates.insert(try Data(contentsOf: URL(filePath: file)))
                process.signal(SIGTERM)
                try await process.end().succeeds()
            }
            #expect(certificates.count == 1)
        }
    }

    @Test("A second signal cuts off the requests in progress")
    func endsAtSecondSignal() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(["serve", "--port", "0", "--json", "--log-level", "info"])
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
            let client = try ClientSocket(port: Endpoint(try #require(ready["url"]?.string)).port)
            client.beginRequest(bodyLength: 100)
            process.signal(SIGINT)
            try await process.waitForOutput { _, errors in errors.contains("no new connections") }
            process.signal(SIGINT)
            let outcome = try await process.end().succeeds()
            #expect(outcome.errors.contains("second signal"))
        }
    }

    @Test("A request in progress when a signal arrives is answered")
    func answersRequestInProgress() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(["serve", "--port", "0", "--json", "--log-level", "info"])
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
            let client = try ClientSocket(port: Endpoint(try #require(ready["url"]?.string)).port)
            client.beginRequest(bodyLength: 2)
            process.signal(SIGTERM)
            try await process.waitForOutput { _, errors in errors.contains("no new connections") }
            client.send("}")
            #expect(client.receive().hasPrefix("HTTP/1.1 200"))
            try await process.end().succeeds()
        }
    }

    @Test(
        "The option --ready-file tells other programs what --json prints, in a file for its owner only, until the server ends"
    )
    func writesPrivateReadyFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            // The file of an earlier server that was killed, which other users can read.
            let path = try cli.write(#"{"url":"http://127.0.0.1:1/am"}"#.utf8, to: "ready.json", mode: 0o644)
            let arguments = ["serve", "--port", "0", "--state", "memory", "--json", "--ready-file", path]
            let process = try cli.start(["-c", "umask 0; exec \"$0\" \"$@\"", Program.path] + arguments, program: "/bin/sh")
            let printed = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.output
            let isWritten = try await eventually { (try? String(contentsOfFile: path, encoding: .utf8)) == printed }
            #expect(isWritten && printed.contains("\"password\":"))
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            process.signal(SIGTERM)
            try await process.end().succeeds()
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test("The option --ready-file replaces no link and no other file, and names a file")
    func refusesOddReadyFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let target = try cli.write("mine".utf8, to: "target")
            let link = cli.directory.file("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            try await cli.signet("serve", "--port", "0", "--state", "memory", "--ready-file", link)
                .fails(77, "not an ordinary file")
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
            try await cli.signet("serve", "--port", "0", "--state", "memory", "--ready-file", target)
                .fails(77, "was not written by 'signet serve'")
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
            try await cli.signet("serve", "--ready-file", "-").fails(64, "--ready-file names a file")
        }
    }

    @Test("A server that can't listen leaves the ready file of the running one, and no server removes another one's file")
    func keepsReadyFileOfRunningServer() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = cli.directory.file("ready.json")
            let arguments = ["serve", "--state", "memory", "--json", "--ready-file", path, "--port"]
            func content() -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
            let first = try cli.start(arguments + ["0"])
            let ready = try await first.waitForOutput { output, _ in output.hasSuffix("\n") }
            let printed = ready.output
            let isWritten = try await eventually { content() == printed }
            #expect(isWritten)
            let port = try Endpoint(try #require(ready.json["url"]?.string)).port
            try await cli.start(arguments + [String(port)]).end().fails(69, "cannot listen")
            #expect(content() == printed)
            let second = try cli.start(arguments + ["0"])
            let replacement = try await second.waitForOutput { output, _ in output.hasSuffix("\n") }.output
            let isReplaced = try await eventually { content() == replacement }
            #expect(isReplaced)
            first.signal(SIGTERM)
            try await first.end().succeeds()
            #expect(content() == replacement)
            second.signal(SIGTERM)
            try await second.end().succeeds()
            #expect(content() == nil)
        }
    }

    @Test(
        "The option --state takes no URI of another kind, and makes no directory with its name",
        arguments: ["otpauth", "HTTPS", " file", "sqlite"])
    func refusesOddState(scheme: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let uri = "\(scheme)://totp/a:b?secret=NB2W45DFOIZA"
            let outcome = try await cli.signet("serve", "--port", "0", "--state", uri)
            outcome.fails(64, "--state takes memory, postgresql:… or a file")
            #expect(!outcome.errors.contains("NB2W45DFOIZA"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test("A directory as --state is called a directory, and the error names a file in it")
    func refusesDirectoryAsState() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let folder = cli.directory.file("state")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let outcome = try await cli.signet("serve", "--port", "0", "--state", folder)
            outcome.fails(65, "\(folder) is a directory", "\(folder)/server.sqlite")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    #if os(Linux)
    /// The soft and the hard limit of the size of a core dump of a process, as the system prints them.
    private static func coreLimits(ofProcess name: String) throws -> [String] {
        let limits = try String(contentsOfFile: "/proc/\(name)/limits", encoding: .utf8)
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        return try #require(line).dropFirst("Max core file size".count).split(separator: " ").prefix(2).map(String.init)
    }

    /// True when a process that this one starts may write a core dump, if it does not prevent it.
    private static let mayDumpCore = (try? coreLimits(ofProcess: "self"))?.last != "0"

    @Test(
        "A server that runs can write no core dump, and can't raise the limit",
        .enabled(if: mayDumpCore, "no process may write a core dump here"))
    func disablesCoreDumps() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await TestServer.Process.with(["--state", "memory"], environment: cli.environment()) { server in
                let limits = try Self.coreLimits(ofProcess: String(server.process.identifier))
                #expect(limits == ["0", "0"])
            }
        }
    }
    #endif

    @Test("More connections than the process may have open files do not end the server")
    func survivesTooManyConnections() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(
                ["-c", "ulimit -n 128; exec \"$0\" serve --port 0 --json", Program.path], program: "/bin/sh")
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
            let port = try Endpoint(try #require(ready["url"]?.string)).port
            var clients: [ClientSocket] = []
            for _ in 0..<200 { clients.append(try ClientSocket(port: port)) }
            for client in clients { client.close() }
            let last = try ClientSocket(port: port)
            last.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(last.receive().hasPrefix("HTTP/1.1 200"))
            process.signal(SIGTERM)
            try await process.end().succeeds()
        }
    }
}
