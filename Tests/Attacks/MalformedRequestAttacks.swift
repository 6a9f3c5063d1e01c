#if os(Linux)
import Foundation
import SignetCore
import SignetPushGateway
import SignetTesting
import Testing
import TestSupport

@testable import SignetServer

/// Valid requests to every route, each damaged in up to three places.
@Suite("Attacks: malformed requests", .serialized, .timeLimit(.minutes(10)))
struct MalformedRequestAttacks {
    private static let warmUp = AttackRun.rounds(250, 2_000)
    private static let count = AttackRun.rounds(1_500, 10_000)
    /// The number of requests after which the server is reset: damaged requests move its clock, too.
    private static let round = 250

    @Test(
        "The server answers every malformed request, logs every fault, stays alive and keeps its memory size",
        arguments: AttackRun.seeds)
    func survivesMalformedRequests(seed: UInt64) async throws {
        try await TemporaryDirectory.with { directory in
            let tokenFile = directory.file("token")
            let file = directory.file("server.yaml")
            try Data((ServerConfiguration.starterText + FuzzedServer.gateway).utf8).write(to: URL(filePath: file))
            // The C library would keep scrypt's working memory, 16 MiB at a time, for reuse; this setting makes it return it
            // all. The address sanitizer, which keeps 256 MiB of freed memory, is limited too.
            let sanitizer = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
            let own = [
                "HOME": directory.path, "TMPDIR": directory.path, "SIGNET_HOME": directory.file("vault"),
                "MALLOC_MMAP_THRESHOLD_": "1048576", "ASAN_OPTIONS": sanitizer + "quarantine_size_mb=1",
            ]
            let running = try await TestServer.Process.start(
                ["--config", file, "--admin-token-file", tokenFile],
                environment: AttackedProgram.environment.merging(own) { $1 })
            let process = running.process
            let server = FuzzedServer(
                port: running.port,
                token: try String(contentsOfFile: tokenFile, encoding: .utf8).trimmingCharacters(in: .newlines),
                password: try running.user.password, console: try #require(running.ready["console"]?.string))
            let outcome = try await server.run(seed: seed, warmUp: Self.warmUp, count: Self.count, round: Self.round) {
                Self.residentKilobytes(process.identifier)
            }
            #expect(!process.hasEnded, "seed \(seed): \(process.soFar.errors.suffix(2000))")
            #expect(outcome.unanswered == [], "seed \(seed): a request was accepted and not answered")
            #expect(outcome.faults == outcome.loggedFaults, "seed \(seed): a 500 without a log entry")
            #expect(outcome.faults == 0, "seed \(seed): \(outcome.examples.joined(separator: "\n"))")
            #expect(outcome.logged > Self.count / 2, "most requests have to get past the HTTP parser")
            #expect(outcome.routes == Set(FaultRoute.names + ["console", "admin"]))
            #expect(outcome.statuses.keys.contains(200) && outcome.statuses.keys.contains(400), "\(outcome.statuses)")
            let growth = outcome.after - outcome.before
            // The address sanitizer surrounds each allocation with memory of its own.
            let maxGrowth = (AttackRun.isSanitized ? 64 : 24) * 1024
            #expect(growth < maxGrowth, "seed \(seed): from \(outcome.before) KiB to \(outcome.after) KiB; \(outcome.statuses)")
            let figures =
                "seed \(seed): resident \(outcome.before) KiB, then \(outcome.after) KiB; \(outcome.logged) logged; statuses \(outcome.statuses.sorted { $0.key < $1.key })"
            print("malformed requests: \(figures)")
            try await running.stop()
        }
    }

    private static func residentKilobytes(_ id: Int32) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}

/// The server under test and the client that sends it damaged requests.
private struct FuzzedServer: Sendable {
    let port: Int
    let token: String
    let password: String
    let console: String

    /// The configuration that makes the server a push gateway as well.
    static let gateway = """

        push:
          gateway: {keys: [{accessKey: AKIDGATEWAY, secret: secret-of-the-gateway}]}
        """
    private static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("secret-of-the-gateway".utf8))

    struct Outcome: Sendable {
        var statuses: [Int: Int] = [:]
        var routes: Set<String> = []
        var faults = 0
        var loggedFaults = 0
        /// The number of requests that got past the HTTP parser: the request log's entries, without the administration API.
        var logged = 0
        var examples: [String] = []
        var unanswered: [String] = []
        var before = 0
        var after = 0
    }

    /// Runs on a thread of its own, because it only waits for a socket.
    func run(
        seed: UInt64, warmUp: Int, count: Int, round: Int, memory: @escaping @Sendable () -> Int
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try sendRequests(seed: seed, warmUp: warmUp, count: count, round: round, memory: memory) })
            }
        }
    }

    private func sendRequests(seed: UInt64, warmUp: Int, count: Int, round: Int, memory: () -> Int) throws -> Outcome {
        var fuzzer = RequestFuzzer(random: SeededGenerator(seed: seed))
        var outcome = Outcome()
        var valid = try requests()
        for number in 0..<(warmUp + count) {
            if number.isMultiple(of: round) {
                try cleanUp(&outcome)
                valid = try requests()
            }
            if number == warmUp { outcome.before = memory() }
            let request = valid[number % valid.count]
            outcome.routes.insert(request.route)
            let bytes = fuzzer.damaged(request)
            guard let answer = try? exchange(bytes) else {
                outcome.unanswered.append(String(decoding: bytes.prefix(300), as: UTF8.self))
                continue
            }
            let status = Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
            outcome.statuses[status, default: 0] += 1
            if status == 500 {
                outcome.faults += 1
                outcome.examples = (outcome.examples + [String(decoding: bytes.prefix(600), as: UTF8.self)]).suffix(3)
            }
            // An injected fault would disturb the following requests.
            if request.route == "admin" { _ = try admin("DELETE", "faults") }
        }
        try cleanUp(&outcome)
        outcome.after = memory()
        return outcome
    }

    /// Resets clock, faults and users, and adds the number of server faults in the request log.
    private func cleanUp(_ outcome: inout Outcome) throws {
        let found = try JSON.value(of: Array(try admin("GET", "request-log?status=500&limit=1").utf8))
        for (method, path) in [("DELETE", "request-log"), ("POST", "reset")] { _ = try admin(method, path) }
        outcome.loggedFaults += Int(try #require(found["count"]?.lenientInteger))
        outcome.logged = Int(try #require(found["last"]?.lenientInteger))
    }

    private func admin(_ method: String, _ path: String) throws -> String {
        let answer = try exchange(
            Array(
                "\(method) /am/admin/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\nContent-Length: 0\r\n\r\n"
                    .utf8))
        try #require(answer.hasPrefix("HTTP/1.1 2"), "\(answer)")
        return Self.body(answer)
    }

    private static func body(_ answer: String) -> String {
        answer.firstRange(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
    }

    /// Sends bytes on a connection of their own, and reads until the server closes it.
    private func exchange(_ bytes: [UInt8]) throws -> String {
        try #require(try ClientSocket(port: port, timeout: 60).exchange(bytes))
    }

    // MARK: The requests before damage

    private func json(_ method: String, _ target: String, _ body: String, _ headers: [String] = []) throws -> String {
        let lines =
            ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"] + headers
            + ["Content-Length: \(body.utf8.count)", "", body]
        return Self.body(try exchange(Array(lines.joined(separator: "\r\n").utf8)))
    }

    private func step(_ json: String, _ answers: [String: String]) throws -> String {
        var step = try JSON.decode(JourneyStep.self, from: json.utf8)
        for (type, value) in answers {
            guard let index = step.callbacks.firstIndex(where: { $0.type == type }) else { continue }
            step.callbacks[index].answer(.string(value))
        }
        return String(decoding: try JSON.encode(step), as: UTF8.self)
    }

    private static let authenticate = "/am/json/realms/root/authenticate"

    /// At least one request for every route, with valid sessions and handles.
    private func requests() throws -> [ValidRequest] {
        let login = ["NameCallback": "demo", "PasswordCallback": password]
        let first = try json("POST", "\(Self.authenticate)?authIndexType=service&authIndexValue=Login", "{}")
        let answered = try step(first, login)
        let done = try JSON.value(of: Array(try json("POST", Self.authenticate, answered).utf8))
        let session = try #require(done["tokenId"]?.string)
        let shown = [
            "iPlanetDirectoryPro: \(session)", "Cookie: iPlanetDirectoryPro=\(session)",
            "Accept-API-Version: resource=2.1, protocol=1.0",
        ]
        let typed = ["Content-Type: application/json"]
        let everything = try json("POST", "\(Self.authenticate)?authIndexType=service&authIndexValue=Everything", "{}")
        let push =
            #"{"messageId":"AUTHENTICATE:1f1e-2","jwt":"eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJyZXNwb25zZSI6IngifQ.AAAA"}"#
        return journeys(first, answered, everything, typed) + devices(shown, session, push) + oauth(shown, session)
            + (try pages(session)) + (try sns())
    }

    private func journeys(_ first: String, _ answered: String, _ everything: String, _ typed: [String]) -> [ValidRequest] {
        let headers = typed + ["Accept-API-Version: resource=2.1, protocol=1.0", "User-Agent: signet/1"]
        func request(_ target: String, _ body: String) -> ValidRequest {
            ValidRequest(route: "authenticate", method: "POST", target: target, headers: headers, body: body)
        }
        return [
            request("\(Self.authenticate)?authIndexType=service&authIndexValue=Login", "{}"),
            request(Self.authenticate, answered),
            request("\(Self.authenticate)?noSession=true&ForceAuth=true", first),
            request("/am/json/alpha/authenticate", everything),
            request("\(Self.authenticate)?suspendedId=abc", ""),
            request("/am/json/authenticate?realm=/alpha&authIndexType=service&authIndexValue=PushRegistration", "{}"),
        ]
    }

    private func devices(_ shown: [String], _ session: String, _ push: String) -> [ValidRequest] {
        let own = shown.dropLast() + ["Accept-API-Version: resource=1.0"]
        let path = "/am/json/realms/root/users/demo/devices"
        let message = "/am/json/push/sns/message?_action="
        let typed = ["Content-Type: application/json", "Accept-API-Version: resource=1.0, protocol=1.0"]
        return [
            ValidRequest(
                route: "sessions", method: "POST", target: "/am/json/realms/root/sessions?_action=getSessionInfo",
                headers: shown + ["Content-Type: application/json"], body: "{\"tokenId\":\"\(session)\"}"),
            ValidRequest(
                route: "session", method: "POST", target: "/am/json/sessions/\(session)?_action=validate", headers: shown),
            ValidRequest(route: "serverInfo", target: "/am/json/realms/root/serverinfo/*", headers: Array(shown)),
            ValidRequest(route: "serverInfo", target: "/am/json/alpha/serverinfo/version", headers: Array(shown)),
            ValidRequest(
                route: "users", method: "POST", target: "/am/json/realms/root/users?_action=validateGoto",
                headers: shown + ["Content-Type: application/json"], body: #"{"goto":"/am/console"}"#),
            ValidRequest(route: "secondFactorDevices", target: "\(path)/2fa/push?_queryFilter=true", headers: Array(own)),
            ValidRequest(
                route: "secondFactorDevice", method: "PUT", target: "\(path)/2fa/binding/x",
                headers: own + ["Content-Type: application/json"], body: #"{"deviceName":"x","_id":"x"}"#),
            ValidRequest(route: "profileDevices", target: "\(path)/profile?_queryId=*", headers: Array(own)),
            ValidRequest(route: "profileDevice", method: "DELETE", target: "\(path)/profile/x", headers: Array(own)),
            ValidRequest(route: "pushDevices", target: "\(path)/push?_queryFilter=true", headers: Array(own)),
            ValidRequest(route: "pushDevice", method: "DELETE", target: "\(path)/push/x", headers: Array(own)),
            ValidRequest(route: "pushMessage", method: "POST", target: message + "authenticate", headers: typed, body: push),
            ValidRequest(route: "pushMessage", method: "POST", target: message + "register", headers: typed, body: push),
            ValidRequest(
                route: "pushStream", target: "/am/json/push/stream",
                headers: [
                    "Authorization: Signet-Push-Stream eyJhbGciOiJIUzI1NiJ9.eyJtZWNoYW5pc21VaWQiOiJ4Iiwibm9uY2UiOiJ5In0.AAAA",
                    "Last-Event-ID: 7",
                ]),
        ]
    }

    private func oauth(_ shown: [String], _ session: String) -> [ValidRequest] {
        let base = "/am/oauth2/realms/root"
        func form(_ route: String, _ path: String, _ body: String, _ headers: [String] = []) -> ValidRequest {
            ValidRequest(
                route: route, method: "POST", target: "\(base)/\(path)",
                headers: headers + ["Content-Type: application/x-www-form-urlencoded"],
                body: body)
        }
        let query =
            "response_type=code&client_id=app&scope=openid%20profile&redirect_uri=org.example.app%3A%2F%2Fcallback&state=s"
            + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=n&max_age=60&prompt=consent"
        return [
            ValidRequest(route: "authorize", target: "\(base)/authorize?\(query)", headers: shown),
            form("authorize", "authorize?\(query)", "decision=allow&save_consent=on&csrf=\(session)", shown),
            form(
                "accessToken", "access_token",
                "grant_type=authorization_code&code=x&client_id=app&redirect_uri=org.example.app%3A%2F%2Fcallback&code_verifier=dBjftJeZ4CVP"
            ),
            form(
                "accessToken", "access_token", "grant_type=refresh_token&refresh_token=x&scope=openid",
                ["Authorization: Basic YXBwOng="]),
            form("revocation", "token/revoke", "token=x&client_id=app&token_type_hint=refresh_token"),
            form("introspection", "introspect", "token=x&client_id=app", ["Authorization: Basic YXBwOng="]),
            ValidRequest(route: "userInfo", target: "\(base)/userinfo", headers: ["Authorization: Bearer x"]),
            ValidRequest(
                route: "endSession",
                target: "\(base)/connect/endSession?id_token_hint=a.b.c&post_logout_redirect_uri=x%3A%2F%2Fy&state=1"),
            ValidRequest(route: "keys", target: "\(base)/connect/jwk_uri"),
            ValidRequest(route: "discovery", target: "/am/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"),
            ValidRequest(route: "authorizationServer", target: "/.well-known/oauth-authorization-server\(base)"),
            form("deviceCode", "device/code", "client_id=app&scope=openid"),
            form(
                "pushedAuthorization", "par",
                "client_id=app&response_type=code&scope=openid&redirect_uri=org.example.app%3A%2F%2Fcallback&dpop_jkt=x",
                ["DPoP: a.b.c"]),
            form("backchannelAuthorization", "bc-authorize", "client_id=app&scope=openid&login_hint=mira&request=a.b.c"),
            form("deviceUser", "device/user", "user_code=BCDF-GHJK&decision=allow&csrf=\(session)", shown),
        ]
    }

    private func pages(_ session: String) throws -> [ValidRequest] {
        let cookie = ["Cookie: signet-login-x=abc; iPlanetDirectoryPro=\(session); signet-console=abc"]
        let form = cookie + ["Content-Type: application/x-www-form-urlencoded"]
        let admin = ["Authorization: Bearer \(token)", "Content-Type: application/json"]
        func call(_ method: String, _ path: String, _ body: String = "") -> ValidRequest {
            ValidRequest(route: "admin", method: method, target: "/am/admin/\(path)", headers: admin, body: body)
        }
        return [
            ValidRequest(
                route: "pages", target: "/am/XUI/?realm=/alpha&authIndexType=service&authIndexValue=Everything&goto=x",
                headers: cookie),
            ValidRequest(
                route: "pages", method: "POST", target: "/am/XUI/", headers: form, body: "flow=x&csrf=y&IDToken1=demo&IDToken2=x"),
            ValidRequest(route: "pages", target: "/am/XUI/wait?flow=x", headers: cookie),
            ValidRequest(route: "pages", method: "POST", target: "/am/XUI/logout", headers: form, body: "csrf=x"),
            ValidRequest(route: "health", target: "/am/health"),
            ValidRequest(route: "console", target: "/am/console/open?token=x", headers: cookie),
            ValidRequest(route: "console", method: "POST", target: "/am/console/link", headers: form, body: "csrf=x"),
            call("PUT", "clock", #"{"now":"2030-01-01T00:00:00Z","stopped":false}"#),
            call("POST", "clock/advance", #"{"seconds":1}"#),
            call("POST", "faults", #"{"kind":"status","status":503,"route":"keys","times":1,"client":{"oauth":"app"}}"#),
            call("GET", "request-log?status=200&path=/json/**&after=1&limit=2"), call("GET", "sessions?user=demo&realm=/"),
            call("POST", "users", #"{"name":"kim","password":"p","claims":{"email":"x"}}"#),
            call("PATCH", "users/demo", #"{"locked":false}"#),
            call("GET", "emails?user=demo"), call("GET", "pushes"), call("DELETE", "users/kim/devices/push/x"),
            ValidRequest(
                route: "admin", method: "PUT", target: "/am/admin/snapshot", headers: Array(admin.prefix(1)),
                bytes: try snapshot()),
        ]
    }

    /// The current state of the server, sealed.
    private func snapshot() throws -> [UInt8] {
        let socket = try ClientSocket(port: port, timeout: 60)
        socket.send("GET /am/admin/snapshot HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n\r\n")
        socket.endSending()
        var answer: [UInt8] = []
        while let piece = socket.bytes(), !piece.isEmpty { answer += piece }
        let head = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
        try #require(answer.starts(with: Array("HTTP/1.1 200".utf8)))
        return Array(answer[head.upperBound...])
    }

    // MARK: The push gateway

    /// Signs as a client of the gateway does, for any body.
    @Sendable private static func signed(_ body: [UInt8]) -> [String] {
        let scope = AWSSignature.Scope(time: AWSTime.text(SystemWallClock().now), region: "us-east-1", service: "sns")
        let signed = AWSSignature.Request(
            method: "POST", path: "/sns", query: [], headers: [("host", "127.0.0.1"), ("x-amz-date", scope.time)], body: body)
        return ["X-Amz-Date: \(scope.time)", "Authorization: \(AWSSignature.authorization(of: signed, scope, key))"]
    }

    /// Each action with a body that is damaged and then signed, and one that is signed and then damaged.
    private func sns() throws -> [ValidRequest] {
        let type = "Content-Type: application/x-www-form-urlencoded"
        let inbox = try PushInbox(of: Secret("a secret of thirty-two bytes....".utf8))
        func form(_ fields: [(name: String, value: String)]) -> ValidRequest {
            ValidRequest(
                route: "gateway", method: "POST", target: "/sns", headers: [type], body: FormCoding.encode(fields),
                seal: Self.signed)
        }
        let create = form([
            ("Action", "CreatePlatformEndpoint"), ("PlatformApplicationArn", "arn:aws:sns:us-east-1:123456789012:app/GCM/am"),
            ("Token", inbox.address), ("CustomUserData", "x"),
        ])
        let lines =
            ["POST /sns HTTP/1.1", "Host: 127.0.0.1", type] + Self.signed(Array(create.body.utf8))
            + ["Content-Length: \(create.body.utf8.count)", "", create.body]
        let answer = try exchange(Array(lines.joined(separator: "\r\n").utf8))
        let endpoint = try #require(SNSAnswer.element("EndpointArn", in: Array(answer.utf8)), "\(answer)")
        let message = SNSEnvelope.wrap(PushDelivery(messageId: "AUTHENTICATE:1", message: "a.b.c"), text: "Login")
        var tampered = create
        tampered.headers += Self.signed(Array(create.body.utf8))
        tampered.seal = nil
        return [
            create, tampered,
            form([
                ("Action", "SetEndpointAttributes"), ("EndpointArn", endpoint), ("Attributes.entry.1.key", "Enabled"),
                ("Attributes.entry.1.value", "true"),
            ]), form([("Action", "GetEndpointAttributes"), ("EndpointArn", endpoint)]),
            form([
                ("Action", "Publish"), ("TargetArn", endpoint), ("MessageStructure", "json"), ("Message", message),
            ]), form([("Action", "DeleteEndpoint"), ("EndpointArn", "\(endpoint)x")]),
            ValidRequest(
                route: "gateway", target: "/sns",
                headers: ["Authorization: \(PushInbox.scheme) \(try inbox.proof("nonce"))", "Last-Event-ID: 7"]),
        ]
    }
}
#endif
