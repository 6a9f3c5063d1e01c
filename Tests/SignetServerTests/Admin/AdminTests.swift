import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The administration API", .timeLimit(.minutes(5)))
struct AdminTests {
    static let token = "a token of a test's own"

    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(Self.token.utf8) }, body)
    }

    // MARK: Access

    /// Headers that a request sends in addition to a valid token, and the expected status.
    static let headerCases: [([String: String], Int)] = [
        ([:], 200), (["Host": "127.0.0.1:8080"], 200), (["Host": "[::1]:8080"], 200), (["Host": "LOCALHOST"], 200),
        (["Sec-Fetch-Site": "none"], 200),
        // Sent by a proxy on the same machine.
        (["X-Forwarded-For": "192.0.2.1"], 404), (["Forwarded": "for=192.0.2.1"], 404), (["Via": "1.1 proxy"], 404),
        (["X-Real-IP": "127.0.0.1"], 404), (["True-Client-IP": "127.0.0.1"], 404), (["X-Forwarded-Host": "127.0.0.1"], 404),
        // Sent by a page in a browser.
        (["Origin": "https://evil.example"], 404), (["Origin": "null"], 404), (["Origin": "http://localhost"], 404),
        (["Sec-Fetch-Site": "cross-site"], 404), (["Sec-Fetch-Site": "same-origin"], 404),
        // Sent by a client without the token.
        (["Authorization": "Bearer x"], 401), (["Authorization": ""], 401), (["Authorization": "Basic \(token)"], 401),
        (["Authorization": "Bearer \(token) "], 200), (["Authorization": "Bearer \(token)x"], 401),
    ]

    @Test("Only a local process that sends the token and no proxy or cross-origin headers is allowed", arguments: headerCases)
    func allowsLocalCallersWithToken(headers: [String: String], status: Int) async throws {
        try await run { server in
            let own = ["Authorization": "Bearer \(Self.token)"]
            let reply = try await server.send(.get, "/am/admin/clock", headers: own.merging(headers) { $1 })
            #expect(reply.status == status)
        }
    }

    @Test(
        "A request whose Host header names another machine is refused, as in a DNS rebinding attack",
        arguments: [
            ("127.0.0.1:1", 200), ("localhost", 200), ("[::1]", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421),
            ("192.0.2.1", 421), ("", 400), ("a:b:c", 400),
        ])
    func refusesForeignHost(authority: String, status: Int) async throws {
        try await TestServer.run(
            .sample {
                $0.port = 0
                $0.adminToken = Secret(Self.token.utf8)
            }
        ) { server in
            try await server.serve { port in
                let connection = try RawHTTPConnection(port: port)
                connection.send(
                    "GET /am/admin/clock HTTP/1.1\r\nHost: \(authority)\r\nAuthorization: Bearer \(Self.token)\r\n\r\n")
                let text = await connection.read { $0.hasSuffix("}") }
                #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
                connection.vanish()
            }
        }
    }

    @Test("An IPv4-mapped IPv6 address equals its IPv4 address")
    func unmapsIPv4Addresses() {
        #expect("::ffff:127.0.0.1".withoutMapping == "127.0.0.1")
        #expect("::FFFF:192.0.2.1".withoutMapping == "192.0.2.1")
        #expect("::1".withoutMapping == "::1")
        #expect("::ffff:7f00:1".withoutMapping == "::ffff:7f00:1")
    }

    @Test(
        "Without an admin token, or with one that is too short, the administration API is off",
        arguments: [nil, "short"] as [String?])
    func isOffWithoutToken(token: String?) async throws {
        try await TestServer.run(.sample { $0.adminToken = token.map { Secret($0.utf8) } }) { server in
            let reply = try await server.send(.get, "/am/admin/clock", headers: ["Authorization": "Bearer \(token ?? "")"])
            #expect(reply.status == 404 && reply.message == "Resource not found.")
        }
    }

    @Test("The console also refuses proxies and pages of other origins")
    func consoleRefusesProxiesAndForeignPages() async throws {
        try await run { server in
            for (headers, status) in [
                (["X-Forwarded-For": "192.0.2.1"], 404), (["Origin": "https://evil.example"], 404), (["Origin": "null"], 403),
            ] {
                let reply = try await server.send(.get, "/am/console", headers: headers)
                #expect(reply.status == status)
            }
        }
    }

    // MARK: Calls

    @Test("A caller reads, sets, stops, advances and resumes the clock")
    func controlsClock() async throws {
        try await run { server in
            let start = server.clock.now
            #expect(try await server.admin(.get, "clock").json["offset"]?.lenientInteger == 0)
            #expect(try await server.admin(.post, "clock/advance", #"{"seconds": 90}"#).json["offset"]?.lenientInteger == 90)
            let set = try await server.admin(.put, "clock", #"{"now": "2031-05-04T10:20:30Z", "stopped": true}"#).json
            #expect(set["now"]?.string == "2031-05-04T10:20:30Z" && set["stopped"] == .bool(true))
            server.clock.advance(by: 5)
            #expect(
                try await server.admin(.post, "clock/advance", #"{"seconds": 1.5}"#).json["seconds"] == .number(1_935_656_431.5))
            #expect(try await server.admin(.post, "clock/resume").json["stopped"] == .bool(false))
            server.clock.advance(by: 5)
            #expect(server.devServer.clock.now.timeIntervalSince1970 == 1_935_656_436.5)
            #expect(try await server.admin(.put, "clock", #"{"now": 1735689600}"#).json["now"]?.string == "2025-01-01T00:00:00Z")
            #expect(try await server.admin(.delete, "clock").json["offset"]?.lenientInteger == 0)
            #expect(server.devServer.clock.now == start.addingTimeInterval(10))
        }
    }

    @Test("A caller enables, lists and disables a fault")
    func managesFaults() async throws {
        try await run { server in
            let body =
                #"{"kind": "status", "status": 503, "retryAfter": 1, "route": "accessToken", "client": {"oauth": "app"}, "times": 2}"#
            let made = try await server.admin(.post, "faults", body)
            #expect(made.status == 201 && made.json["name"] == "status" && made.json["remaining"]?.lenientInteger == 2)
            #expect(try await server.exchange("x").header("Retry-After") == "1")
            let listed = try await server.admin(.get, "faults").json["faults"]?.array
            #expect(listed?.first?["applied"]?.lenientInteger == 1 && listed?.first?["client"]?["oauth"] == "app")
            #expect(try await server.admin(.delete, "faults/status").status == 200)
            #expect(try await server.admin(.delete, "faults/status").status == 404)
            for kind in FaultKind.examples {
                let parameter = ["latency", "slow-body"].contains(kind.name) ? #", "milliseconds": 1"# : ""
                #expect(
                    try await server.admin(.post, "faults", #"{"kind": "\#(kind.name)"\#(parameter)}"#).status == 201,
                    "\(kind.name)")
            }
            #expect(try await server.admin(.delete, "faults").status == 200)
            #expect(server.devServer.faults.entries.isEmpty)
            #expect(try await server.admin(.post, "faults", #"{"kind": "html", "name": "portal", "seconds": 60}"#).status == 201)
            server.clock.advance(by: 60)
            #expect(server.devServer.faults.entries.isEmpty)
        }
    }

    @Test("A caller queries the request log, waits for an entry and clears the log")
    func queriesRequestLog() async throws {
        try await run { server in
            _ = try await server.exchange("x")
            let found = try await server.admin(.get, "request-log?resource=accessToken&status=400&oauth=app").json
            #expect(found["count"]?.lenientInteger == 1 && found["last"]?.lenientInteger == 1)
            let entry = try #require(found["entries"]?.array?.first)
            #expect(entry["problem"] == "invalid_grant" && entry["parameters"]?["grant_type"] == "authorization_code")
            #expect(entry["parameters"]?["code"] == .null && entry["kind"] == "request")
            async let waiting = server.admin(.get, "request-log?after=1&path=/health&wait=30")
            _ = try await server.send(.get, "/am/health", headers: [:])
            #expect(try await waiting.json["count"]?.lenientInteger == 1)
            #expect(try await server.admin(.get, "request-log?status=599&wait=0.01").json["count"]?.lenientInteger == 0)
            #expect(try await server.admin(.get, "request-log?limit=1").json["entries"]?.array?.count == 1)
            #expect(try await server.admin(.delete, "request-log").status == 200)
            // Requests to the administration API are not logged.
            #expect(try await server.admin(.get, "request-log").json["count"]?.lenientInteger == 0)
        }
    }

    @Test("A caller lists sessions and ends one, those of a user, or all")
    func listsAndEndsSessions() async throws {
        try await run { server in
            let mira = try await server.session()
            _ = try await server.session(name: "noa", password: "staple")
            let noa = try await server.admin(.get, "sessions?user=noa").json["sessions"]?.array
            #expect(noa?.count == 1 && noa?.first?["journeys"]?.array == ["Login"])
            let key = TokenHash(mira).text
            #expect(try await server.admin(.delete, "sessions/\(key)").json["user"] == "mira")
            #expect(try await server.admin(.delete, "sessions/\(key)").status == 404)
            #expect(try await server.admin(.delete, "sessions?user=noa&realm=/alpha").json["ended"]?.lenientInteger == 0)
            for path in ["sessions?realm=/alpha", "sessions/x?user=noa"] {
                #expect(try await server.admin(.delete, path).status == 400, "the request would end too many sessions")
            }
            #expect(try await server.admin(.delete, "sessions").json["ended"]?.lenientInteger == 1)
            #expect(try await server.start("Login", query: "").json["authId"] != nil)
        }
    }

    @Test("A caller creates and locks users, sets their passwords and removes their devices")
    func managesUsers() async throws {
        try await run { server in
            #expect(try await server.admin(.get, "users?realm=/alpha").json["users"]?.array?.count == 1)
            let made = try await server.admin(
                .post, "users", #"{"name": "kim", "password": "p", "claims": {"email": "kim@example.test"}}"#)
            #expect(made.status == 201 && made.json["locked"] == .bool(false))
            #expect(try await server.admin(.post, "users", #"{"name": "kim", "password": "p"}"#).status == 409)
            #expect(try await server.admin(.post, "users", #"{"name": "kim", "password": "p", "realm": "/none"}"#).status == 404)
            #expect(try await server.logIn("Login", name: "kim", password: "p").isLoggedIn)
            #expect(try await server.admin(.patch, "users/kim", #"{"locked": true}"#).json["locked"] == .bool(true))
            #expect(try await server.logIn("Login", name: "kim", password: "p").status == 401)
            _ = try await server.admin(.patch, "users/kim", #"{"locked": false, "password": "q"}"#)
            #expect(try await server.logIn("Login", name: "kim", password: "q").isLoggedIn)
            #expect(try await server.admin(.patch, "users/nobody", #"{"locked": true}"#).status == 404)
            #expect(try await server.admin(.get, "users/kim").json["lockedOut"] == .bool(false))

            let phone = try await server.registeredPhone("CombinedRegistration")
            let devices = try #require(try await server.admin(.get, "users/mira").json["devices"]?.array)
            let kinds = devices.compactMap { $0["kind"]?.string }
            #expect(kinds == ["oath", "push"])
            let id = try #require(devices[1]["_id"]?.string)
            #expect(try await server.admin(.delete, "users/mira/devices/push/x").status == 404)
            #expect(try await server.admin(.delete, "users/mira/devices/push/\(id)").json["devices"]?.array?.count == 1)
            #expect(try await server.inbox(phone.uid).isEmpty)
            #expect(try await server.admin(.delete, "users/mira/devices").json["devices"]?.array == [])
        }
    }

    @Test("A lockout after wrong passwords is reported separately from a user's lock; unlocking ends both")
    func reportsLockout() async throws {
        let configuration = ServerConfiguration.sample {
            $0.adminToken = Secret(Self.token.utf8)
            $0.limits.lockout = Lockout(failures: 2, within: 60, duration: 600)
        }
        try await TestServer.run(configuration) { server in
            func isLockedOut() async throws -> JSONValue? {
                let user = try await server.admin(.get, "users/mira").json
                #expect(user["locked"] == .bool(false))
                return user["lockedOut"]
            }
            _ = try await server.logIn("Login", password: "wrong")
            #expect(try await isLockedOut() == .bool(false))
            _ = try await server.logIn("Login", password: "wrong")
            #expect(try await isLockedOut() == .bool(true))
            let all = try await server.admin(.get, "users?realm=/").json["users"]?.array
            let lockouts = all?.map { $0["lockedOut"] }
            #expect(lockouts == [.bool(true), .bool(false)])
            #expect(try await server.admin(.patch, "users/mira", #"{"locked": false}"#).json["lockedOut"] == .bool(false))
            for _ in 0..<2 { _ = try await server.logIn("Login", password: "wrong") }
            server.clock.advance(by: 600)
            #expect(try await isLockedOut() == .bool(false))
        }
    }

    /// Every call of the API, with a body where the call needs one.
    static let calls: [(HTTPRequest.Method, String, String?)] = [
        (.get, "", nil), (.get, "clock", nil), (.put, "clock", #"{"stopped": true}"#),
        (.post, "clock/advance", #"{"seconds": 5}"#), (.post, "clock/resume", nil), (.delete, "clock", nil),
        (.get, "faults", nil), (.post, "faults", #"{"kind": "html", "name": "another"}"#), (.delete, "faults", nil),
        (.post, "sessions", #"{"user": "mira"}"#), (.delete, "emails", nil), (.get, "emails/ID", nil),
        (.delete, "emails/ID", nil),
        (.get, "clients", nil), (.get, "clients/app", nil), (.put, "clients/app", "{}"), (.delete, "clients/app", nil),
        (.get, "journeys", nil), (.get, "journeys/Login", nil), (.put, "journeys/New", "{}"), (.delete, "journeys/Login", nil),
        (.get, "metrics", nil),
        (.delete, "faults/portal", nil), (.get, "request-log", nil), (.delete, "request-log", nil), (.get, "sessions", nil),
        (.delete, "sessions", nil), (.delete, "sessions/KEY", nil), (.get, "users", nil),
        (.post, "users", #"{"name": "kim", "password": "p"}"#), (.get, "users/mira", nil),
        (.patch, "users/mira", #"{"locked": true}"#), (.delete, "users/mira/devices", nil),
        (.delete, "users/mira/devices/push/ID", nil), (.get, "emails", nil), (.get, "pushes", nil), (.get, "snapshot", nil),
        (.put, "snapshot", nil), (.post, "reset", nil),
    ]

    @Test("Every call refuses an unknown parameter before it changes anything", arguments: calls)
    func refusesUnknownParameters(method: HTTPRequest.Method, path: String, body: String?) async throws {
        try await run { server in
            _ = try await server.registeredPhone()
            let session = try await server.session()
            try server.devServer.faults.enable(FaultRule(.html, name: "portal", at: "keys"))
            let device = try await server.admin(.get, "users/mira").json["devices"]?.array?.first?["_id"]?.string
            let target = path.replacing("KEY", with: TokenHash(session).text).replacing("ID", with: try #require(device))
            let before = try await server.devServer.snapshot().rows
            for query in ["relam=/alpha", "dry", "_prettyPrint=true"] {
                let reply = try await server.admin(method, "\(target)?\(query)", body)
                #expect(reply.status == 400, "\(reply.text)")
                let parameter = query.prefix { $0 != "=" }
                #expect(reply.message?.contains("Unknown parameter '\(parameter)'") == true, "\(reply.text)")
            }
            #expect(Set(try await server.devServer.snapshot().rows) == Set(before))
            #expect(
                server.devServer.faults.entries.map(\.rule.name) == ["portal"] && !server.devServer.requestLog.entries.isEmpty)
            #expect(!server.devServer.clock.isStopped && server.devServer.clock.offset == 0)
        }
    }

    @Test("Pending emails and push messages are listed without the secrets of push messages")
    func listsEmailsAndPushMessages() async throws {
        try await run { server in
            var step = try await server.start("EmailLogin").step
            step.fill("NameCallback", "noa")
            _ = try await server.next(step)
            let emails = try await server.admin(.get, "emails?user=noa").json["emails"]?.array
            let sent = try await server.devServer.emailLinks(to: "noa")
            #expect(sent.count == 1 && emails?.first?["link"]?.string == sent.first)
            #expect(try await server.admin(.get, "emails?user=mira").json["emails"]?.array == [])
            // The request log has an entry for the sent email, which a caller can wait for, without the link.
            let log = try await server.admin(.get, "request-log?kind=email&user=noa&wait=10")
            #expect(log.json["count"]?.lenientInteger == 1 && log.json["entries"]?.array?.first?["realm"] == "/")
            #expect(try !log.text.contains(#require(sent.first?.split(separator: "=").last)))
            #expect(try await server.admin(.get, "request-log?user=mira").json["count"]?.lenientInteger == 0)

            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin("PushNumberLogin", phone: phone)
            let reply = try await server.admin(.get, "pushes")
            let shown = try #require(reply.json["pushes"]?.array?.first)
            #expect(shown["state"] == "waiting" && shown["user"] == "mira" && shown["device"] == "phone-1")
            #expect(shown["number"]?.lenientInteger == push.number.map(Int64.init) && shown["streams"]?.lenientInteger == 0)
            #expect(!reply.text.contains(push.sealed) && !reply.text.contains(Base64.encode(push.challenge, as: .standard)))
            server.clock.advance(by: 121)
            #expect(try await server.admin(.get, "pushes").json["pushes"]?.array?.first?["state"] == "expired")
        }
    }

    @Test("Ending a user's sessions ends all of them, however many there are, and leaves other users' sessions open")
    func endsManySessionsOfOneUser() async throws {
        try await run { server in
            let count = 1003
            try await server.devServer.context.store.write { tx in
                for index in 0...count {
                    let user = UserKey(realm: .root, name: index == 0 ? "noa" : "mira")
                    _ = try tx.sessions.open(user, tree: "Login")
                }
            }
            #expect(try await server.admin(.delete, "sessions?user=mira").json["ended"]?.lenientInteger == Int64(count))
            let users = try await server.admin(.get, "sessions").json["sessions"]?.array?.map { $0["user"] }
            #expect(users == ["noa"])
        }
    }

    @Test("A snapshot restores the state and the clock, and only a server with the same admin token accepts it")
    func restoresSnapshot() async throws {
        try await run { server in
            let session = try await server.session()
            _ = try await server.admin(.put, "clock", #"{"now": "2031-05-04T10:20:30Z", "stopped": true}"#)
            let kept = try await server.session()
            let made = try await server.raw(.get, "snapshot")
            #expect(made.status == .ok && made.headers[.contentType] == "application/octet-stream")
            let bytes = Array(made.body.readableBytesView)
            for secret in ["mira", session, TokenHash(session).text, Self.token] {
                #expect(bytes.firstRange(of: Array(secret.utf8)) == nil)
            }
            let link = try await server.devServer.consoleLink().replacing("http://127.0.0.1:8080", with: "")
            #expect(try await server.admin(.post, "reset").status == 200)
            #expect(try await server.admin(.get, "sessions").json["sessions"]?.array == [])

            let changed = bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
            #expect(try await server.raw(.put, "snapshot", Array(changed)).status == .badRequest)
            #expect(try await server.admin(.get, "sessions").json["sessions"]?.array == [])
            #expect(!server.devServer.clock.isStopped)

            #expect(try await server.raw(.put, "snapshot", bytes).status == .ok)
            let keys = try await server.admin(.get, "sessions").json["sessions"]?.array?.compactMap { $0["key"]?.string }
            #expect(keys?.contains(TokenHash(kept).text) == true)
            #expect(server.devServer.clock.isStopped && server.devServer.clock.now == Date(timeIntervalSince1970: 1_935_656_430))
            // Access to the console is not part of a snapshot.
            #expect(try await server.send(.get, link, headers: [:]).status == 303)
            try await TestServer.run(.sample { $0.adminToken = Secret("another token, long enough".utf8) }) { other in
                let reply = try await other.raw(.put, "snapshot", bytes, token: "another token, long enough")
                #expect(reply.status == .badRequest)
            }
        }
    }

    @Test("A reset restores the initial users, sessions and clock")
    func resetRestoresUsersSessionsAndClock() async throws {
        try await run { server in
            _ = try await server.session()
            _ = try await server.admin(.post, "users", #"{"name": "kim", "password": "p"}"#)
            _ = try await server.admin(.post, "clock/advance", #"{"seconds": 5}"#)
            #expect(try await server.admin(.post, "reset").status == 200)
            #expect(try await server.admin(.get, "users/kim").status == 404)
            #expect(try await server.admin(.get, "sessions").json["sessions"]?.array == [])
            #expect(server.devServer.clock.offset == 0)
        }
    }

    /// Invalid calls: method, address, body, status, and a part of the error message.
    static let wrong: [(HTTPRequest.Method, String, String?, Int, String)] = [
        (.post, "faults", #"{"kind": "statsu"}"#, 400, "there is no fault of the kind 'statsu'"),
        (.post, "faults", #"{}"#, 400, "'kind' is missing"),
        (.post, "faults", #"{"kind": "latency"}"#, 400, "'milliseconds' is missing"),
        (.post, "faults", #"{"kind": "html", "route": "token"}"#, 400, "there is no resource 'token'"),
        (.post, "faults", #"{"kind": "wrong-state", "route": "health"}"#, 400, "only at authorize"),
        (.post, "faults", #"{"kind": "html", "time": 1}"#, 400, "Unknown parameter 'time'"),
        (.post, "faults", #"{"kind": "html", "times": "1"}"#, 400, "'times' is an integer"),
        (.post, "faults", #"{"kind": "html", "times": 1, "seconds": 1}"#, 400, "excludes"),
        (.post, "faults", #"{"kind": "html", "client": {"name": "x"}}"#, 400, "oauth, device, userAgent or address"),
        (.post, "faults", #"{"kind": "html", "executed": 1}"#, 400, "true or false"),
        (.post, "faults", #"{"kind": "truncated", "executed": false}"#, 400, "cannot be chosen"),
        (.post, "faults", "[", 400, "no"), (.put, "faults", "{}", 405, ""), (.get, "faults/x", nil, 405, ""),
        (.post, "clock/advance", #"{"seconds": 1e300}"#, 400, "ten years"),
        (.post, "clock/advance", "{}", 400, "'seconds' is missing"),
        (.put, "clock", #"{"now": "yesterday"}"#, 400, "2026-01-31"), (.put, "clock", #"{"now": 1e18}"#, 400, "100 years"),
        (.get, "clock/advance", nil, 405, ""), (.get, "clock/x", nil, 404, ""),
        (.get, "request-log?stauts=200", nil, 400, "Unknown parameter 'stauts'"),
        (.get, "request-log?status=x", nil, 400, "0 to 999"),
        (.get, "request-log?step=x", nil, 400, "approved"), (.get, "request-log?wait=3600", nil, 400, "at most 60"),
        (.get, "request-log?oauth=a&device=b", nil, 400, "only one parameter"),
        (.get, "request-log?wait=nan", nil, 400, "at most 60"),
        (.post, "request-log", "{}", 405, ""), (.get, "nothing", nil, 404, ""), (.get, "reset", nil, 405, ""),
        (.get, "sessions/x", nil, 405, ""), (.get, "emails/x", nil, 404, "no such email"), (.post, "emails", "{}", 405, ""),
        (.get, "emails?since=yesterday", nil, 400, "2026-01-31"), (.get, "clients/none", nil, 404, "no such client"),
        (.get, "journeys/none", nil, 404, "no such journey"), (.post, "metrics", "{}", 405, ""),
        (.post, "users", #"{"name": 7, "password": "p"}"#, 400, "'name' is a string"),
        (.post, "users", #"{"name": "a/b", "password": "p"}"#, 400, "slashes"), (.get, "users/%zz", nil, 404, ""),
        (.post, "reset", #"{"users": true}"#, 400, "Unknown parameter 'users'"),
        (.post, "clock/resume", #"{"now": 1}"#, 400, "Unknown parameter 'now'"),
        (.delete, "clock", #"{"now": 1}"#, 400, "Unknown parameter 'now'"),
        (.put, "clock", "{}", 400, "'now' or 'stopped' is missing"),
        (.get, "request-log?limit=1&limit=2", nil, 400, "more than once"),
        (.get, "sessions?user=demo&user=x", nil, 400, "more than once"),
        (.get, "request-log?resource=acessToken", nil, 400, "'resource' is one of"),
        (.get, "users?realm=/nope", nil, 404, "no such realm"), (.get, "emails?realm=/nope", nil, 404, "no such realm"),
        (.delete, "sessions?user=mira&realm=/nope", nil, 404, "no such realm"),
        (.get, "sessions?realm=/", nil, 400, "'realm' needs 'user'"),
        (.delete, "sessions?realm=/", nil, 400, "'realm' needs 'user'"),
        (.put, "snapshot", "{}", 400, "sealed with another key"), (.delete, "snapshot", nil, 405, ""),
    ]

    @Test("An invalid call changes nothing, and its error message names the reason", arguments: wrong)
    func refusesInvalidCalls(method: HTTPRequest.Method, path: String, body: String?, status: Int, word: String) async throws {
        try await run { server in
            let reply = try await server.admin(method, path, body)
            #expect(reply.status == status, "\(reply.text)")
            #expect(reply.message?.contains(word) == true || word.isEmpty || word == "no", "\(reply.text)")
            #expect(server.devServer.faults.entries.isEmpty && server.devServer.clock.offset == 0)
        }
    }
}

extension TestServer {
    /// Calls the administration API, and compares the response with the OpenAPI document.
    func admin(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Reply {
        var headers = ["Authorization": "Bearer \(AdminTests.token)"]
        if body != nil { headers["Content-Type"] = "application/json" }
        let reply = try await send(method, "/am/admin/\(path)", headers: headers, body: body)
        for problem in AdminEndpoint.problems(method, path, reply) { Issue.record("\(problem)") }
        return reply
    }

    /// Calls the administration API with bytes, and returns the raw response.
    func raw(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]? = nil, token: String = AdminTests.token
    ) async throws -> TestResponse {
        try await client.executeRequest(
            uri: "/am/admin/\(path)", method: method, headers: [.authorization: "Bearer \(token)"],
            body: body.map { ByteBuffer(bytes: $0) })
    }
}
