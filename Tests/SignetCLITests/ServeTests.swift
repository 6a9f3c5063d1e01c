import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("signet serve")
struct ServeTests {
    @Test("signet serve announces its address and its users, in JSON and in words")
    func announcesAddressAndUsers() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let (json, process) = try await start(cli, "--json", "--state", "memory")
            let ready = json.json
            #expect(ready["url"]?.string?.hasPrefix("http://127.0.0.1:") == true)
            #expect(ready["realms"]?.array?.isEmpty == false)
            #expect(ready["users"]?.array?.count == 1 && ready["users"]?.array?.first?["password"]?.string?.count == 16)
            process.signal(SIGTERM)
            try await process.end().succeeds()

            let (words, other) = try await start(cli, "--state", "memory")
            try await other.waitForOutput { output, _ in output.contains("Ctrl-C") }
            #expect(words.output.hasPrefix("Signet development server: http://127.0.0.1:"))
            other.signal(SIGTERM)
            try await other.end().succeeds()
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test("The server reports that it could not make a console link, and continues")
    func continuesWithoutConsoleLink() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = cli.directory.file("state/server.sqlite")
            let (ready, process) = try await start(cli, "--json", "--state", path)
            #expect(ready.json["console"]?.string?.contains("/console/open?token=") == true)
            process.signal(SIGTERM)
            try await process.end().succeeds()
            // The row of the console's guests, as a later version would write it.
            let store = try SQLiteRows(path: path)
            try store.transact { _ throws(StoreError) in
                var changes = RowChanges()
                changes.rows[RowKey(kind: "console", name: "guests")] = StoredRow(bytes: [200])
                return ((), changes)
            }
            store.close()

            let (later, other) = try await start(cli, "--json", "--state", path)
            #expect(later.json["url"]?.string != nil && later.json["console"] == nil)
            try await other.waitForOutput { _, errors in errors.contains("no link to the console could be made") }
            #expect(other.soFar.errors.contains("a later version of signet wrote it"))
            other.signal(SIGTERM)
            try await other.end().succeeds()

            let (words, third) = try await start(cli, "--state", path)
            try await third.waitForOutput { output, _ in output.contains("Ctrl-C") }
            #expect(third.soFar.output.contains("Console: no link could be made, see the log"))
            #expect(words.output.hasPrefix("Signet development server"))
            third.signal(SIGTERM)
            try await third.end().succeeds()
        }
    }

    @Test("signet serve announces its clients with their realms and redirect URIs")
    func announcesClients() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let (ready, process) = try await start(cli, "--json")
            let addresses = ["http://127.0.0.1/callback", "org.example.app://callback"]
            let clientIDs = ready.json["clients"]?.array?.map { $0["id"]?.string }
            #expect(clientIDs == ["app", "service"])
            let secret = ready.json["clients"]?.array?.last?["secret"]?.string
            #expect(secret?.utf8.count == 43)
            #expect(ready.json["clients"]?.array?.first?["realm"]?.string == "/")
            #expect(ready.json["clients"]?.array?.first?["redirectUris"]?.array?.map(\.string) == addresses)
            process.signal(SIGTERM)
            try await process.end().succeeds()
            let (words, other) = try await start(cli)
            try await other.waitForOutput { output, _ in output.contains("Ctrl-C") }
            #expect(other.soFar.output.contains("\nClient: app  redirect: \(addresses.joined(separator: ", "))\n"))
            let hasSecret = other.soFar.output.contains(#/\nClient: service  secret: [A-Za-z0-9_-]{43}\n/#)
            #expect(hasSecret)
            #expect(words.output.hasPrefix("Signet development server"))
            other.signal(SIGTERM)
            try await other.end().succeeds()
        }
    }

    /// The request in progress when a server is told to stop.
    enum ServerActivity: CaseIterable {
        case nothing, idleConnection, silentConnection, pushStream, waitingLogin
    }

    @Test(
        "A signal stops the server with exit code 0 and cuts off no request", arguments: [SIGINT, SIGTERM],
        ServerActivity.allCases)
    func stopsGracefully(number: Int32, activity: ServerActivity) async throws {
        try await CommandLineFixture.with(vault: activity == .pushStream) { cli in
            let process = try cli.start(["serve", "--port", "0", "--json"])
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
            let client = try ClientSocket(port: Endpoint(try #require(ready["url"]?.string)).port)
            var listening: TestProcess?
            switch activity {
            case .nothing: client.close()
            case .silentConnection: break
            case .idleConnection:
                client.send("GET /am/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                #expect(client.receive().hasPrefix("HTTP/1.1 200"))
            case .waitingLogin:
                client.send("POST /am/json/authenticate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n")
                #expect(client.receive().hasPrefix("HTTP/1.1 200"))
            case .pushStream: listening = try await listener(cli, ready)
            }
            process.signal(number)
            let outcome = await process.end()
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.errors == "", "a server that has to cut a client off says so")
            if let listening {
                try await listening.waitForOutput { _, errors in errors.contains("next try in") }
                listening.signal(SIGKILL)
                _ = await listening.end()
            }
        }
    }

    @Test("A client that never finishes its request cannot keep the server from stopping")
    func stopsDespiteHalfRequest() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let (ready, process) = try await start(cli, "--json")
            let client = try ClientSocket(port: Endpoint(try #require(ready.json["url"]?.string)).port)
            client.beginRequest(bodyLength: 100)
            process.signal(SIGTERM)
            try await process.end().succeeds()
        }
    }

    @Test("With --exit-on-stdin-eof and a closed input the server announces itself and exits, or reports its failure")
    func exitsAtClosedInput() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let ended = try await cli.signet(
                "serve", "--port", "0", "--state", "memory", "--exit-on-stdin-eof", "--json", "--admin")
            #expect(try ended.succeeds().json["admin"]?["tokenFile"] != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
            let elsewhere = ["serve", "--host", "192.0.2.1", "--allow-remote", "--state", "memory", "--exit-on-stdin-eof"]
            try await cli.start(elsewhere).end().fails(69, "cannot listen")
        }
    }

    @Test("With --exit-on-stdin-eof the server exits when standard input ends, and without it continues")
    func exitsWhenInputEnds() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let exitOnStdinEOF = try cli.start(
                ["serve", "--state", "memory", "--port", "0", "--exit-on-stdin-eof", "--json"], input: .open)
            let free = try cli.start(["serve", "--port", "0", "--json"], input: .open)
            for process in [exitOnStdinEOF, free] { try await process.waitForOutput { output, _ in output.hasSuffix("\n") } }
            for process in [exitOnStdinEOF, free] { process.closeInput() }
            try await exitOnStdinEOF.end().succeeds()
            #expect(!free.hasEnded)
            free.signal(SIGTERM)
            try await free.end().succeeds()
        }
    }

    @Test("A port that is taken, or an address of another machine, is reported and exits with 69")
    func reportsUnusableListenAddress() async throws {
        let taken = try RawServer { $0.waitForEnd() }
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("serve", "--port", String(taken.port), "--json")
            outcome.fails(69, String(taken.port), "in use")
            #expect(outcome.jsonError != nil)
            try await cli.signet("serve", "--host", "192.0.2.1", "--allow-remote", "--port", "0").fails(69, "192.0.2.1")
        }
    }

    /// A file of users, the exit code, and a word of the message.
    static let badUserFiles: [(String, mode_t, Int32, String)] = [
        (#"{"mira":"horse"}"#, 0o644, 77, "chmod 600"), (#"{"mira":"horse""#, 0o600, 65, "JSON"),
        (#"["mira"]"#, 0o600, 65, "JSON"),
        (#"{"mira":7}"#, 0o600, 65, "JSON"), ("{}", 0o600, 65, "JSON"), ("", 0o600, 65, "JSON"),
        (#"{"mira\u202e":"horse"}"#, 0o600, 65, "mira\\u{202E}"), (#"{"ada":"horse","a/b":"horse"}"#, 0o600, 65, "'a/b'"),
        (#"{" mira":"horse"}"#, 0o600, 65, "' mira'"), (#"{"":"horse"}"#, 0o600, 65, "''"),
    ]

    @Test("A users file that is invalid or readable by other users is refused", arguments: badUserFiles)
    func refusesBadUsersFile(content: String, mode: mode_t, exit: Int32, word: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(content.utf8, to: "users.json", mode: mode)
            let outcome = try await cli.signet("serve", "--port", "0", "--users", path)
            outcome.fails(exit, path, word)
            #expect(!outcome.errors.contains("horse"))
        }
    }

    @Test("A missing users file is refused without advice to make a vault")
    func reportsMissingUsersFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = cli.directory.file("none.json")
            let outcome = try await cli.signet("serve", "--port", "0", "--users", path)
            outcome.fails(66, path)
            #expect(!outcome.errors.contains("vault"))
        }
    }

    @Test("The users of a users file can log in, and their passwords are not printed")
    func servesUsersOfFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write(#"{"mira":"correct horse","noa":"staple"}"#.utf8, to: "users.json")
            let (ready, process) = try await start(cli, "--json", "--users", path)
            #expect(!ready.output.contains("horse") && !ready.output.contains("staple"))
            let userNames = ready.json["users"]?.array?.compactMap { $0["name"]?.string }
            #expect(userNames == ["mira", "noa"])
            let url = try #require(ready.json["url"]?.string)
            for (password, isRight) in [("correct horse", true), ("staple", false)] {
                let client = try ClientSocket(port: Endpoint(url).port)
                client.send(
                    "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
                let reply = client.receive()
                let step = try JSON.value(
                    of: Array(reply[(reply.firstRange(of: "\r\n\r\n")?.upperBound ?? reply.endIndex)...].utf8))
                let body = Self.filled(step, password)
                client.send(
                    "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(client.receive().hasPrefix(isRight ? "HTTP/1.1 200" : "HTTP/1.1 401"))
            }
            process.signal(SIGTERM)
            let outcome = try await process.end().succeeds()
            #expect(!outcome.errors.contains("horse"))
        }
    }

    /// The first step of a login, filled in with a name and a password.
    private static func filled(_ step: JSONValue, _ password: String) -> String {
        let answers = ["mira", password]
        let callbacks = (step["callbacks"]?.array ?? []).enumerated().map { index, callback -> JSONValue in
            var callback = callback.object ?? [:]
            let name = callback["input"]?.array?.first?["name"] ?? .null
            callback["input"] = .array([.object(["name": name, "value": .string(answers[min(index, 1)])])])
            return .object(callback)
        }
        return JSON.text(of: .object(["authId": step["authId"] ?? .null, "callbacks": .array(callbacks)]))
    }

    /// Starts a server and waits for its first line.
    private func start(_ cli: CommandLineFixture, _ options: String...) async throws -> (Outcome, TestProcess) {
        let process = try cli.start(["serve", "--port", "0"] + options)
        return (try await process.waitForOutput { output, _ in output.contains("\n") }, process)
    }

    /// A `signet push listen` that is connected to the server.
    private func listener(_ cli: CommandLineFixture, _ ready: JSONValue) async throws -> TestProcess {
        let user = try #require(ready["users"]?.array?.first)
        try await RunningServer.registerForPush(
            cli, url: #require(ready["url"]?.string), user: #require(user["name"]?.string),
            password: #require(user["password"]?.string))
        let listening = try cli.start(["push", "listen"])
        try await listening.waitForOutput { _, errors in errors.contains("Listening") }
        return listening
    }

    @Test("The server listens on a public address only with --allow-remote")
    func requiresAllowRemote() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            for host in ["0.0.0.0", "::", "192.0.2.1", "am.example.test"] {
                try await cli.signet("serve", "--host", host, "--port", "0").fails(64, "--allow-remote")
            }
        }
    }

    /// Options, the announced address, and whether the server warns about it.
    static let addresses: [([String], String, Bool)] = [
        (["--host", "0.0.0.0", "--allow-remote"], "http://127.0.0.1:", true),
        (["--host", "::", "--allow-remote"], "http://[::1]:", true),
        (
            ["--host", "0.0.0.0", "--allow-remote", "--public-url", "https://am.example.test/am"], "https://am.example.test/am",
            false
        ), (["--public-url", "http://signet.test:81/sso/"], "http://signet.test:81/sso", false), ([], "http://127.0.0.1:", false),
    ]

    @Test("A server for other machines without --public-url warns that its address is local", arguments: addresses)
    func warnsWithoutPublicURL(options: [String], address: String, isWarnedOf: Bool) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let process = try cli.start(["serve", "--port", "0", "--json", "--admin", "--state", "memory"] + options)
            let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
            let url = try #require(ready["url"]?.string)
            #expect(url.hasPrefix(address))
            // The console and the administration API are announced with an address of this machine.
            let console = try #require(ready["console"]?.string)
            let here = options.contains("::") ? "http://[::1]:" : "http://127.0.0.1:"
            #expect(console.hasPrefix(here) && console.contains("/console/open"))
            #expect(ready["admin"]?["url"]?.string?.hasPrefix(here) == true)
            let opened = try await AsyncHTTPTransport().use { try await $0.send(HTTPRequest("GET", console)) }
            #expect(opened.status < 400)
            process.signal(SIGTERM)
            let errors = try await process.end().succeeds().errors
            #expect(errors.contains("\(url), which other machines can't reach") == isWarnedOf)
            #expect(errors.contains("--public-url") == isWarnedOf && (isWarnedOf || errors == ""))
        }
    }

    @Test(
        "A malformed --public-url is refused",
        arguments: [
            "am.example.test", "https://am.example.test/am?x=1", "ftp://am.example.test", "", "https://user@am.example.test",
        ])
    func refusesMalformedPublicURL(url: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("serve", "--public-url", url, "--port", "0").fails(64, "--public-url")
        }
    }

    @Test("The public URL of the configuration file applies unless the option sets another")
    func readsPublicURLFromFile() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let path = try cli.write("server: {publicURL: \"https://file.test/am\"}\nusers: []\n".utf8, to: "server.yaml")
            for (options, url) in [
                ([], "https://file.test/am"), (["--public-url", "https://option.test/am"], "https://option.test/am"),
            ] {
                let process = try cli.start(
                    ["serve", "--port", "0", "--json", "--state", "memory", "--config", path] + options)
                let ready = try await process.waitForOutput { output, _ in output.hasSuffix("\n") }.json
                #expect(ready["url"]?.string == url)
                process.signal(SIGTERM)
                try await process.end().succeeds()
            }
        }
    }

    @Test("A generated password stays the same for one state, and differs between states")
    func keepsGeneratedPassword() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            var passwords: [String?] = []
            for state in ["one", "one", "two", "memory", "memory"] {
                let file = state == "memory" ? state : cli.directory.file("\(state)/server.sqlite")
                let (ready, process) = try await start(cli, "--json", "--state", file)
                passwords.append(ready.json["users"]?.array?.first?["password"]?.string)
                process.signal(SIGTERM)
                try await process.end().succeeds()
            }
            #expect(passwords[0] == passwords[1] && Set(passwords).count == 4 && !passwords.contains(nil))
        }
    }
}
