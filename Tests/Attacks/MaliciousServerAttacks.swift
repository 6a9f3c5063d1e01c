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

    @Test(
        "A tenant that names the issuer of another tenant of its host gets no browser opened (issuer mix-up)",
        arguments: ["/tenants/b", "/am/oauth2/realms/root/realms/victim", "/", ""])
    func mixesUpIssuers(issuer: String) async throws {
        let server = try RawServer { connection in
            while let request = connection.request() {
                let base = "http://\(request.header("host") ?? "")"
                connection.answer(
                    "200 OK", headers: ["Content-Type: application/json"],
                    """
                    {"issuer":"\(base)\(issuer)","authorization_endpoint":"\(base)/evil/authorize","token_endpoint":"\(base)/evil/token",
                    "jwks_uri":"\(base)/evil/keys","response_types_supported":["code"],"subject_types_supported":["public"],
                    "id_token_signing_alg_values_supported":["RS256"],"userinfo_endpoint":"\(base)/evil/userinfo"}
                    """)
            }
        }
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

    @Test("An enrollment registers no device at an address that is unsafe or of another kind")
    func enrollsAtUnsafeAddress() async throws {
        try await AttackedVault.with(accounts: 0) { vault in
            for address in [
                "http://169.254.169.254/", "http://evil.test/", "file:///etc/passwd", "ftp://127.0.0.1/",
                "http://127.0.0.1@evil.test/",
                "http://2130706433.evil.test/", "gopher://127.0.0.1/", "http://evil.test#127.0.0.1", "http://[::ffff:10.0.0.1]/",
                "//127.0.0.1/",
                "http://127.0.0.1\r\nHost: evil.test/", "http://0/", "javascript:1", "",
            ] {
                let encoded = Base64.encode(Array(address.utf8), as: .url)
                let uri =
                    "pushauth://push/Harbor:eve?r=\(encoded)&a=\(encoded)&s=\(encoded)&c=\(encoded)&l=YW1sYmNvb2tpZT0wMQ&m=REGISTER:1&issuer=SGFyYm9y"
                let outcome = try await vault.run(["enroll", uri], within: .seconds(20))
                #expect(outcome.status == 65, "\(address): \(outcome.status) \(outcome.errors)")
                #expect(outcome.isSafeToShow)
            }
        }
    }
}
#endif
