import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Login by the headers X-OpenAM-Username and X-OpenAM-Password", .timeLimit(.minutes(5)))
struct HeaderLoginTests {
    private static let password = "Pässw0rd-ß!"

    private static func configuration(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            $0.users.append(User(name: "c-umlaut-ü", password: Secret(password.utf8)))
            configure(&$0)
        }
    }

    private static func headers(_ name: String, _ password: String) -> [String: String] {
        ["X-OpenAM-Username": name, "X-OpenAM-Password": password]
    }

    /// Names and passwords as scripts write them.
    static let right: [(name: String, password: String)] = [
        ("mira", TestServer.password), ("=?UTF-8?B?bWlyYQ==?=", TestServer.password),
        ("=?UTF-8?B?Yy11bWxhdXQtw7w=?=", "=?UTF-8?B?UMOkc3N3MHJkLcOfIQ==?="),
        ("=?UTF-8?Q?c-umlaut-=C3=BC?=", "=?UTF-8?Q?P=C3=A4ssw0rd-=C3=9F!?="),
        ("=?ISO-8859-1?Q?c-umlaut-=FC?=", "=?iso-8859-1?q?P=E4ssw0rd-=DF!?="), ("c-umlaut-ü", password),
    ]

    @Test("S6: A request with the name and the password in its headers logs in", arguments: right, ["{}", nil])
    func logsInByHeaders(credentials: (name: String, password: String), body: String?) async throws {
        try await TestServer.live(Self.configuration()) { server in
            let headers = Self.headers(credentials.name, credentials.password)
            let reply = try await server.authenticate(headers: headers, body: body)
            #expect(reply.status == 200, "\(reply.json)")
            #expect(reply.token?.isEmpty == false)
            #expect(reply.json["successUrl"] == "/am/console" && reply.json["realm"] == "/")
            let named = try await server.authenticate(
                "authIndexType=service&authIndexValue=Login&noSession=true", headers: headers)
            #expect(named.json["message"] == "Authentication Successful" && named.token == nil)
        }
    }

    @Test("A name without a password is put into the step, and a step that asks for more is sent")
    func prefillsName() async throws {
        try await TestServer.live(Self.configuration()) { server in
            let step = try await server.authenticate(headers: ["X-OpenAM-Username": "mira"])
            #expect(step.types == ["NameCallback", "PasswordCallback"])
            let callbacks = try #require(step.json["callbacks"]?.array)
            let values = callbacks.map { $0["input"]?.array?.first?["value"] }
            #expect(values == ["mira", ""])
            let registration = try await server.authenticate(
                "authIndexType=service&authIndexValue=OATHRegistration", headers: Self.headers("mira", TestServer.password))
            #expect(registration.types?.contains("HiddenValueCallback") == true)
            #expect(!JSON.text(of: registration.json).contains(TestServer.password))
        }
    }

    @Test("Wrong passwords in headers count toward the lockout, and neither log has a password")
    func countsAndHidesPasswords() async throws {
        let log = RecordingLog()
        let configuration = Self.configuration { $0.limits.lockout = Lockout(failures: 2) }
        try await TestServer.live(configuration, logger: log.logger) { server in
            var messages: [String?] = []
            for _ in 0..<2 {
                let reply = try await server.authenticate(headers: Self.headers("mira", "wrong-in-header"))
                #expect(reply.status == 401)
                messages.append(reply.message)
            }
            #expect(messages == ["Login failure", "Login failure"])
            let locked = try await server.authenticate(headers: Self.headers("MIRA", TestServer.password))
            #expect(locked.status == 401 && locked.message == "User Locked Out.")
            #expect(try await server.logIn().message == "User Locked Out.")
            let entries = "\(server.devServer.requestLog.entries)" + log.lines
            #expect(!entries.contains("wrong-in-header") && !entries.contains(TestServer.password))
        }
    }

    @Test("The rate limit of a user and that of an address apply to logins by header")
    func appliesRateLimits() async throws {
        let limits = [
            RateLimits(authenticate: RateLimit(perMinute: 1, burst: 2)), RateLimits(perUser: RateLimit(perMinute: 1, burst: 2)),
        ]
        for limit in limits {
            try await TestServer.live(Self.configuration { $0.limits.rateLimits = limit }) { server in
                var statuses: [Int] = []
                for _ in 0..<3 {
                    statuses.append(try await server.authenticate(headers: Self.headers("mira", "wrong")).status)
                }
                #expect(statuses == [401, 401, 429])
            }
        }
    }

    @Test("The session of the request is not returned in place of the user in the headers")
    func ignoresSessionOfAnotherUser() async throws {
        try await TestServer.live(Self.configuration()) { server in
            let token = try #require(try await server.logIn().token)
            var headers = Self.headers("noa", "staple")
            headers["iPlanetDirectoryPro"] = token
            let other = try await server.authenticate(headers: headers)
            #expect(other.token != nil && other.token != token)
            headers["X-OpenAM-Password"] = "wrong"
            #expect(try await server.authenticate(headers: headers).status == 401)
        }
    }

    @Test("A header whose bytes are lost is refused")
    func refusesLostBytes() async throws {
        try await TestServer.live(Self.configuration()) { server in
            let reply = try await server.authenticate(headers: Self.headers("c-umlaut-\u{FFFD}", Self.password))
            #expect(reply.status == 400 && reply.message?.contains("RFC 2047") == true)
        }
    }

    @Test("A header with a letter as one byte of Latin-1 is refused")
    func refusesRawLatin1() async throws {
        try await TestServer.live(Self.configuration()) { server in
            let connection = try RawHTTPConnection(port: Endpoint(server.url).port)
            let head =
                "POST /am/json/realms/root/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                + "Connection: close\r\nX-OpenAM-Password: x\r\nX-OpenAM-Username: c-umlaut-"
            connection.send(Array(head.utf8) + [0xFC] + Array("\r\n\r\n".utf8))
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("RFC 2047"), "\(text)")
            connection.vanish()
        }
    }

    @Test(
        "Encoded words are decoded as RFC 2047 says, and other text stays",
        arguments: [
            ("plain text", "plain text"), ("=?UTF-8?Q?a_b?=", "a b"), ("=?UTF-8?Q?a?= =?UTF-8?B?Yg==?= c", "ab c"),
            ("=?utf-8*en?q?=C3=BC?= x", "ü x"), ("=?UTF-8?Q?=C3?=", "=?UTF-8?Q?=C3?="), ("=?UTF-8?X?a?=", "=?UTF-8?X?a?="),
            ("=?KOI8-R?Q?a?=", "=?KOI8-R?Q?a?="), ("=?", "=?"), ("=?UTF-8?Q?=Z0?=", "=?UTF-8?Q?=Z0?="), ("a =?b", "a =?b"),
        ])
    func decodesEncodedWords(value: String, text: String) { #expect(EncodedWords.decode(value) == text) }
}
