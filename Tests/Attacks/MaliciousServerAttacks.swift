#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// `signet` at a server that wants to crash it, steer its terminal, or get at a password or a token.
@Suite("Attacks: malicious servers", .timeLimit(.minutes(10)))
struct MaliciousServerAttacks {
    /// A response of the server to every request.
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ name: String, _ body: String, status: String = "200 OK", headers: [String] = ["Content-Type: application/json"]) {
            testDescription = name
            let head = (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers).joined(separator: "\r\n")
            bytes = Array("\(head)\r\n\r\n\(body)".utf8)
        }

        init(_ name: String, raw: String) { (testDescription, bytes) = (name, Array(raw.utf8)) }
    }

    private static let escape = #"\u001b]0;owned\u0007\u001b[2J\u202e\nUser: root"#

    private static func step(_ callbacks: String, authId: String = #""a.b.c""#, _ more: String = "") -> String {
        #"{"authId":\#(authId),"callbacks":\#(callbacks)\#(more)}"#
    }

    private static func callback(_ type: String, _ output: String, input: String = #"{"name":"IDToken1","value":""}"#) -> String {
        #"[{"type":"\#(type)","output":[\#(output)],"input":[\#(input)]}]"#
    }

    private static let prompt = #"{"name":"prompt","value":"Name"}"#

    private static func manyCallbacks(_ count: Int) -> Answer {
        let callbacks = Array(repeating: #"{"type":"TextOutputCallback","output":[]}"#, count: count)
        return Answer("\(count) callbacks", step("[\(callbacks.joined(separator: ","))]"))
    }

    private static let answers: [Answer] = [
        Answer("empty", ""), Answer("null", "null"), Answer("number", "1e999"),
        Answer("not UTF-8", raw: "HTTP/1.1 200 OK\r\n\r\n\u{FF}"),
        Answer("nested arrays", String(repeating: "[", count: 200_000)),
        Answer("nested objects", String(repeating: #"{"a":"#, count: 100_000)), Answer("lone surrogate", #"{"authId":"\ud800"}"#),
        Answer("NUL in authId", step("[]", authId: #""\u0000""#)), Answer("authId is a number", step("[]", authId: "7")),
        Answer("long authId", step(callback("NameCallback", prompt), authId: "\"\(String(repeating: "x", count: 900_000))\"")),
        Answer("doubled authId", #"{"authId":"a","authId":"b","callbacks":[]}"#), Answer("no callbacks", step("[]")),
        Answer("callbacks are an object", step("{}")), Answer("callbacks of nothing", step("[null,1,\"x\",[],{}]")),
        Answer("a callback without a type", step(#"[{"output":[],"input":[]}]"#)),
        manyCallbacks(1_000), manyCallbacks(20_000),
        Answer("escapes in a prompt", step(callback("NameCallback", #"{"name":"prompt","value":"\#(escape)"}"#))),
        Answer(
            "escapes in a choice",
            step(
                callback(
                    "ChoiceCallback",
                    #"{"name":"prompt","value":"x"},{"name":"choices","value":["\#(escape)","b"]},{"name":"defaultChoice","value":99}"#
                ))),
        Answer(
            "a choice without choices",
            step(
                callback(
                    "ChoiceCallback",
                    #"{"name":"choices","value":[]},{"name":"defaultChoice","value":-1}"#))),
        Answer(
            "escapes in a text",
            step(
                callback(
                    "TextOutputCallback",
                    #"{"name":"message","value":"\#(escape)"},{"name":"messageType","value":"4"}"#))),
        Answer("escapes in a header", step(callback("NameCallback", prompt), #","header":"\#(escape)","stage":"\#(escape)""#)),
        Answer(
            "escapes in an error", #"{"code":401,"reason":"Unauthorized","message":"\#(escape)"}"#, status: "401 Unauthorized"),
        Answer("an error of another type", #"{"code":"x","message":{"a":[1]}}"#, status: "400 Bad Request"),
        Answer(
            "a negative wait",
            step(callback("ConfirmationCallback", #"{"name":"options","value":"x"},{"name":"optionType","value":1e300}"#))),
        Answer(
            "a redirect callback to a file",
            step(callback("RedirectCallback", #"{"name":"redirectUrl","value":"file:///etc/passwd"}"#))),
        Answer(
            "a redirect callback to a script",
            step(callback("RedirectCallback", #"{"name":"redirectUrl","value":"javascript:alert(1)"}"#))),
        Answer(
            "a redirect callback with options", step(callback("RedirectCallback", #"{"name":"redirectUrl","value":"--help"}"#))),
        Answer(
            "an account with escapes",
            step(
                callback(
                    "HiddenValueCallback",
                    #"{"name":"id","value":"mfaDeviceRegistration"},{"name":"value","value":"otpauth://totp/%1B%5D0;x%07:%0Aeve?secret=KDJ7CDBNBTGWZBQC&issuer=%1B%5B2J"}"#
                ))),
        Answer("a session with line ends", #"{"tokenId":"a\r\nX: y","successUrl":"/","realm":"/"}"#),
        Answer("an empty session", #"{"tokenId":"","successUrl":"/","realm":"/"}"#),
        Answer("a session of another type", #"{"tokenId":{"a":1},"successUrl":7,"realm":[]}"#),
        Answer("an address that is not one", #"{"tokenId":"t","successUrl":"\#(escape)","realm":"\#(escape)"}"#),
        Answer(
            "escapes in a cookie", step(callback("NameCallback", prompt)),
            headers: ["Set-Cookie: \u{1B}[2J=x; Path=\u{1B}; Domain=.", "Set-Cookie: ;;==;"]),
        Answer("another length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
        Answer("a negative length", raw: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
        Answer("chunks without an end", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n{}"),
        Answer(
            "a long head",
            raw: "HTTP/1.1 200 OK\r\n\(String(repeating: "X-Y: \(String(repeating: "z", count: 1_000))\r\n", count: 500))\r\n"),
        Answer("not HTTP", raw: "SSH-2.0-OpenSSH_9.9\r\n\u{1B}[2J"),
        Answer("only status lines", raw: String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5_000)),
        Answer("a status beyond all", raw: "HTTP/1.1 999 \u{1B}[2J\r\nContent-Length: 0\r\n\r\n"),
    ]

    /// A password that no attack may show or send without being asked.
    private static let password = "correct horse battery"

    @Test(
        "No answer of a server crashes or hangs a login, steers the terminal, or gets a password that it did not ask for",
        arguments: answers)
    func answersLogin(answer: Answer) async throws {
        let received = Mutex("")
        let server = try RawServer { connection in
            while let request = connection.request() {
                received.withLock { $0 += request.head + request.body }
                connection.send(String(decoding: answer.bytes, as: UTF8.self))
                if !answer.bytes.starts(with: Array("HTTP/1.1 200 OK\r\nContent-Length: \(0)".utf8)) { connection.cut() }
            }
        }
        defer { server.stop() }
        try await AttackedVault.with(accounts: 0) { vault in
            let opened = try Self.watchedBrowser(in: vault)
            let outcome = try await vault.run(
                ["login", "http://127.0.0.1:\(server.port)/am", "--answer", "name=mira", "--answer", "password=-"],
                input: .text(Self.password + "\n"), environment: opened.environment)
            #expect(outcome.isDocumented, "\(outcome.status) \(outcome.errors)")
            #expect(outcome.isSafeToShow && !outcome.shown.contains("\u{202E}") && !outcome.shown.contains("\nUser: root"))
            #expect(!outcome.shown.contains(Self.password))
            let sent = received.withLock { $0 }
            #expect(!sent.contains(Self.password))
            #expect(!FileManager.default.fileExists(atPath: opened.record))
        }
    }

    /// Returns an environment in which a browser that is opened leaves a file.
    private static func watchedBrowser(in vault: AttackedVault) throws -> (environment: [String: String], record: String) {
        let (folder, record) = (vault.directory.file("bin"), vault.directory.file("opened"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let program = "\(folder)/xdg-open"
        try Data("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(record)'\n".utf8).write(to: URL(filePath: program))
        try #require(chmod(program, 0o700) == 0)
        return (["PATH": "\(folder):\(AttackedProgram.environment["PATH"] ?? "/usr/bin:/bin")"], record)
    }

    @Test("A login follows no redirect to another server", arguments: ["301", "302", "303", "307", "308"])
    func redirectsLogin(status: String) async throws {
        let visits = Mutex(0)
        let canary = try RawServer { connection in
            visits.withLock { $0 += 1 }
            _ = connection.request()
        }
        let server = try RawServer { connection in
            while connection.request() != nil {
                connection.answer("\(status) Moved", headers: ["Location: http://127.0.0.1:\(canary.port)/am"], "")
            }
        }
        defer { for each in [canary, server] { each.stop() } }
        try await AttackedVault.with(accounts: 0) { vault in
            for way in [[], ["--client", "c", "--device"], ["--client", "c", "--browser"]] {
                let outcome = try await vault.run(
                    ["login", "http://127.0.0.1:\(server.port)/am", "--answer", "password=-"] + way,
                    input: .text(Self.password + "\n"), environment: try Self.watchedBrowser(in: vault).environment)
                #expect(outcome.isDocumented && outcome.status != 0)
            }
            let count = visits.withLock { $0 }
            #expect(count == 0)
        }
    }

    /// A tenant whose discovery document names an issuer of its choice.
    /// - Parameter issuer: The path of the issuer; nil for that of the address from which the document is read.
    /// - Returns: The server of the tenant.
    /// - Throws: ``RawServer/CannotListen``.
    private static func tenant(naming issuer: String?) throws -> RawServer {
        try RawServer { connection in
            while let request = connection.request() {
                let base = "http://\(request.header("host") ?? "")"
                let path = request.line.split(separator: " ").dropFirst().first ?? ""
                let own = String(path.prefix { $0 != "?" }).replacing("/.well-known/openid-configuration", with: "")
                connection.answer(
                    "200 OK", headers: ["Content-Type: application/json"],
                    """
                    {"issuer":"\(base)\(issuer ?? own)","authorization_endpoint":"\(base)/evil/authorize",
                    "token_endpoint":"\(base)/evil/token","jwks_uri":"\(base)/evil/keys",
                    "response_types_supported":["code"],"subject_types_supported":["public"],
                    "id_token_signing_alg_values_supported":["RS256"],"userinfo_endpoint":"\(base)/evil/userinfo"}
                    """)
            }
        }
    }

    @Test("A tenant that names its own issuer gets a browser opened, so a refusal of the others is due to their issuer")
    func namesOwnIssuer() async throws {
        let server = try Self.tenant(naming: nil)
        defer { server.stop() }
        try await AttackedVault.with(accounts: 0) { vault in
            let opened = try Self.watchedBrowser(in: vault)
            let login = try TestProcess(
                AttackedProgram.path, ["login", "http://127.0.0.1:\(server.port)/am", "--client", "c", "--browser"],
                environment: vault.environment.merging(opened.environment) { $1 })
            let isOpened = try await eventually { FileManager.default.fileExists(atPath: opened.record) }
            login.signal(SIGTERM)
            let outcome = await login.end()
            #expect(isOpened, "\(outcome.status) \(outcome.errors)")
        }
    }

    @Test(
        "A tenant that names the issuer of another tenant of its host gets no browser opened (issuer mix-up)",
        arguments: ["/tenants/b", "/am/oauth2/realms/root/realms/victim", "/", ""])
    func mixesUpIssuers(issuer: String) async throws {
        let server = try Self.tenant(naming: issuer)
        defer { server.stop() }
        try await AttackedVault.with(accounts: 0) { vault in
            let opened = try Self.watchedBrowser(in: vault)
            let outcome = try await vault.run(
                ["login", "http://127.0.0.1:\(server.port)/am", "--client", "c", "--browser"], environment: opened.environment,
                within: .seconds(20))
            #expect(outcome.isDocumented && outcome.status != 0, "\(outcome.status) \(outcome.errors)")
            #expect(!outcome.shown.contains("/evil/authorize"))
            #expect(!FileManager.default.fileExists(atPath: opened.record))
        }
    }

    @Test(
        "A server that asks for a wait again and again keeps a login no longer than its limit, and is not asked without a pause",
        arguments: ["0", "-5", "1", "9223372036854775807", "x"])
    func asksForEndlessWait(time: String) async throws {
        let wait = Self.step(#"[{"type":"PollingWaitCallback","output":[{"name":"waitTime","value":"\#(time)"}]}]"#)
        let count = Mutex(0)
        let server = try RawServer { connection in
            while connection.request() != nil {
                count.withLock { $0 += 1 }
                connection.answer("200 OK", headers: ["Content-Type: application/json"], wait)
            }
        }
        defer { server.stop() }
        try await AttackedVault.with(accounts: 0) { vault in
            let outcome = try await vault.run(["login", "http://127.0.0.1:\(server.port)/am", "--timeout", "3"])
            #expect(outcome.status == 69, "\(outcome.status) \(outcome.errors)")
            let requests = count.withLock { $0 }
            #expect((1...30).contains(requests))
        }
    }

    @Test("A forged answer to a token refresh ends the login, and the used refresh token is not sent again")
    func forgesRefreshAnswer() async throws {
        try await AttackedServer.with { server in
            try await TemporaryDirectory.with { directory in
                let own = ["SIGNET_HOME": directory.file("vault"), "HOME": directory.path, "TMPDIR": directory.path]
                let environment = AttackedProgram.environment.merging(own) { $1 }
                func signet(_ arguments: [String], input: String = "") async throws -> TestProcess.Outcome {
                    try await TestProcess.run(AttackedProgram.path, arguments, environment: environment, input: .text(input))
                }
                func tokenRequests() async throws -> JSONValue? {
                    let log = try await server.admin("GET", "request-log?resource=accessToken")
                    return log["count"]
                }
                let made = try await signet(["init", "--protect", "keyfile"])
                let login = try await signet(
                    [
                        "login", "http://127.0.0.1:\(server.port)/am", "--client", "app", "--answer",
                        "name=\(AttackedServer.victim)", "--answer", "password=-",
                    ], input: AttackedServer.password + "\n")
                try #require(made.status == 0 && login.status == 0, "\(made.errors) \(login.errors)")
                let renewed = try await signet(["token", "--refresh"])
                #expect(renewed.status == 0, "\(renewed.errors)")
                try await server.admin("POST", "faults", #"{"kind": "wrong-signature", "times": 1}"#)
                let forged = try await signet(["token", "--refresh"])
                #expect(forged.isDocumented && forged.status != 0 && forged.output.isEmpty, "\(forged.status)")
                let requests = try await tokenRequests()
                for arguments in [["token"], ["token", "--offline"], ["token", "--refresh"]] {
                    let later = try await signet(arguments)
                    #expect(later.status == 77 && later.output.isEmpty, "\(arguments): \(later.status) \(later.errors)")
                }
                let laterRequests = try await tokenRequests()
                #expect(requests != nil && laterRequests == requests)
            }
        }
    }

    /// Addresses at which no device may register: plain http to another machine, user info, other schemes, and texts that are not
    /// addresses.
    private static let unsafeAddresses = [
        "http://169.254.169.254/", "http://evil.test/", "http://2130706433.evil.test/", "http://evil.test#127.0.0.1",
        "http://[::ffff:10.0.0.1]/", "http://0/", "http://127.0.0.1.evil.test/",
        "http://127.0.0.1@evil.test/", "https://127.0.0.1@evil.test/", "https://mira:horse@evil.test/", "http://mira@127.0.0.1/",
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "ws://127.0.0.1/", "javascript:1", "//127.0.0.1/",
        "http://127.0.0.1\r\nHost: evil.test/", "",
    ]

    @Test("An enrollment registers no device at an address that is unsafe or of another kind")
    func enrollsAtUnsafeAddress() async throws {
        // The reader checks the secret and the challenge before the addresses, so these two are valid in each URI.
        let fixed = Base64.encode([UInt8](repeating: 7, count: 32), as: .url)
        func uri(_ registration: String, _ authentication: String) -> String {
            let addresses = [registration, authentication].map { Base64.encode(Array($0.utf8), as: .url) }
            return "pushauth://push/Harbor:eve?r=\(addresses[0])&a=\(addresses[1])&s=\(fixed)&c=\(fixed)"
                + "&l=YW1sYmNvb2tpZT0wMQ&m=REGISTER:1&issuer=SGFyYm9y"
        }
        let port = try ReservedPort()
        let good = "http://127.0.0.1:\(port.number)/am/push"
        try await AttackedVault.with(accounts: 0) { vault in
            // No server listens at the good address: the device tries to register there.
            let tried = try await vault.run(["enroll", uri(good, good)], within: .seconds(20))
            #expect(tried.status == 69 && tried.errors.contains("127.0.0.1"), "\(tried.status) \(tried.errors)")
            for address in Self.unsafeAddresses {
                for (part, changed) in [("r", uri(address, good)), ("a", uri(good, address))] {
                    let outcome = try await vault.run(["enroll", changed], within: .seconds(20))
                    #expect(outcome.status == 65, "\(address): \(outcome.status) \(outcome.errors)")
                    #expect(outcome.errors.contains("enrollment URI: \(part): "), "\(address): \(outcome.errors)")
                    #expect(outcome.isSafeToShow)
                }
            }
            let listed = try await vault.succeed("accounts", "--json").output
            #expect(listed.isEmpty)
        }
    }
}
#endif
