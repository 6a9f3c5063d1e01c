import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Faults that a test enables by name", .timeLimit(.minutes(5)))
struct FaultTests {
    private func faults(_ server: TestServer) -> FaultTable { server.devServer.faults }

    /// The faults that affected the newest request.
    private func applied(_ server: TestServer) -> [String]? {
        server.devServer.requestLog.entries.last { $0.request != nil }?.faults
    }

    // MARK: Responses

    @Test(
        "A status fault answers with the status and the error format of the resource, and does not execute the request",
        arguments: [
            (500, nil, "server_error", "Internal Server Error"), (503, 2, "temporarily_unavailable", "Service Unavailable"),
            (429, 1, "temporarily_unavailable", "Too Many Requests"),
        ] as [(Int, Int?, String, String)])
    func respondsWithStatusAndSkipsRequest(status: Int, retryAfter: Int?, error: String, reason: String) async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            try faults(server).enable(FaultRule(.status(status, retryAfter: retryAfter), name: "down", .times(2)))
            let token = try await server.exchange(code)
            #expect(token.status == status && token.error == error)
            #expect(token.header("Retry-After") == retryAfter.map(String.init))
            #expect(applied(server) == ["down"])
            let login = try await server.start("Login")
            #expect(login.status == status && login.json["code"]?.lenientInteger == Int64(status) && login.message != nil)
            #expect(login.json["reason"]?.string == reason)
            // The code was not used, and the fault is over.
            #expect(try await server.exchange(code).status == 200)
            #expect(applied(server) == [])
        }
    }

    /// A request, and the type and a part of the response.
    static let languages: [(HTTPRequest.Method, String, String, String)] = [
        (.get, "/am/XUI/", "text/html", "<h1>"), (.post, "/am/XUI/?realm=/alpha", "text/html", "<h1>"),
        (.post, "/sns", "text/xml", "<Type>Receiver</Type><Code>ServiceUnavailable</Code>"),
        (.get, "/sns", "application/json", #""code":503"#), (.get, "/am/health", "application/json", #""code":503"#),
        (.get, "/am/nothing", "application/json", #""code":503"#),
        (.get, "/am/oauth2/connect/jwk_uri", "application/json", #""error":"temporarily_unavailable""#),
    ]

    @Test("A status fault uses the error format of its address: JSON, OAuth 2.0, a page, or the XML of SNS", arguments: languages)
    func respondsInFormatOfAddress(method: HTTPRequest.Method, path: String, type: String, part: String) async throws {
        try await Sender.run { server in
            try faults(server).enable(FaultRule(.status(503, retryAfter: 7)))
            let reply = try await server.send(method, path, headers: [:], body: "")
            #expect(reply.status == 503 && reply.header("Retry-After") == "7")
            #expect(reply.header("Content-Type")?.hasPrefix(type) == true)
            #expect(reply.text.contains(part) && reply.text.contains("A fault is enabled."), "\(reply.text)")
        }
    }

    @Test("A fault at the push gateway affects only the requests to the gateway")
    func gatewayFaultAffectsGatewayOnly() async throws {
        try await Sender.run { server in
            let (sender, inbox) = (Sender(), try PushGatewayTests.inbox())
            #expect(faults(server).routes == FaultRoute.names)
            try faults(server).enable(FaultRule(.status(429), at: "gateway", .times(2)))
            #expect(try await server.start("Login").status == 200)
            #expect(try await server.send(.get, "/sns", headers: [:]).status == 429)
            let refused = try await sender.create(inbox.address, at: server)
            #expect(refused.status == 429 && refused.text.contains("<Code>Throttled</Code>"))
            #expect(try await sender.create(inbox.address, at: server).status == 200)
        }
    }

    @Test("A fault with isExecuted executes the request and replaces only the response")
    func executesRequestBeforeFault() async throws {
        try await TestServer.run { server in
            let code = try await server.code(try await server.session())
            var rule = FaultRule(.status(502), at: "accessToken", .times(1))
            rule.isExecuted = true
            try faults(server).enable(rule)
            #expect(try await server.exchange(code).status == 502)
            #expect(try await server.exchange(code).error == "invalid_grant")
        }
    }

    @Test("The fault html answers with a page, like a network that requires a login")
    func respondsWithHTMLPage() async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.html, at: "userInfo"))
            let reply = try await server.userInfo("x")
            #expect(reply.status == 200 && reply.text.hasPrefix("<!DOCTYPE html>"))
            #expect(reply.header("Content-Type")?.hasPrefix("text/html") == true)
            #expect(faults(server).disable("html"))
            #expect(try await server.userInfo("x").status == 401)
            #expect(!faults(server).disable("html"))
        }
    }

    @Test(
        "The fault truncated cuts the JSON body, and Content-Length matches the shorter body", arguments: [nil, 0, 3] as [Int?])
    func truncatesJSON(bytes: Int?) async throws {
        try await TestServer.run { server in
            let whole = try await server.start("Login").text
            try faults(server).enable(FaultRule(.truncated(after: bytes), at: "authenticate"))
            let reply = try await server.start("Login")
            #expect(reply.status == 200 && reply.json == .null)
            // The length of the authId differs between logins by a few bytes.
            if let bytes {
                #expect(reply.text.utf8.count == bytes)
            } else {
                #expect(reply.text.utf8.count > whole.utf8.count / 3)
            }
            #expect(reply.header("Content-Length") == String(reply.text.utf8.count))
            #expect(applied(server) == ["truncated"])
            // A redirect has no body that the fault could truncate.
            try faults(server).enable(FaultRule(.truncated()))
            #expect(try await server.authorize(nil).status == 302)
            #expect(applied(server) == [])
        }
    }

    @Test("The fault latency delays a response by the wall clock and does not change it")
    func delaysResponse() async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.latency(.milliseconds(50)), at: "health", .times(1)))
            let began = ContinuousClock.now
            #expect(try await server.send(.get, "/am/health", headers: [:]).text == "{}")
            #expect(ContinuousClock.now - began >= .milliseconds(50))
            #expect(applied(server) == ["latency"])
        }
    }

    @Test(
        "The fault cut closes the connection before the response head, or after some bytes of the body",
        arguments: [nil, 0, 5] as [Int?])
    func cutsConnection(bytes: Int?) async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            try faults(server).enable(FaultRule(.cut(after: bytes), at: "keys", .times(1)))
            try await server.serve { port in
                let request = "GET /am/oauth2/connect/jwk_uri HTTP/1.1\r\nHost: localhost\r\n\r\n"
                let connection = try RawHTTPConnection(port: port)
                connection.send(request)
                let text = await connection.read { _ in false }
                if let bytes {
                    let body = text.components(separatedBy: "\r\n\r\n")
                    #expect(text.hasPrefix("HTTP/1.1 200") && body.count == 2 && body[1].utf8.count == bytes)
                } else {
                    #expect(text == "")
                }
                connection.vanish()
                let again = try RawHTTPConnection(port: port)
                again.send(request)
                let answer = await again.read { $0.hasSuffix("}") }
                #expect(answer.hasPrefix("HTTP/1.1 200"))
                again.vanish()
            }
            let entries = server.devServer.requestLog(matching: RequestLogFilter { $0.resource = "keys" })
            let statuses = entries.map(\.request?.status)
            #expect(statuses == [bytes == nil ? 0 : 200, 200])
            #expect(entries.map(\.faults) == [["cut"], []])
        }
    }

    @Test("A client without a socket gets an error from the fault cut")
    func cutThrowsWithoutSocket() async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.cut(), .times(1)))
            await #expect(throws: ConnectionCut.self) { _ = try await server.send(.get, "/am/health", headers: [:]) }
            #expect(try await server.send(.get, "/am/health", headers: [:]).status == 200)
        }
    }

    // MARK: OAuth 2.0

    @Test("The fault wrong-state changes only the state in the response of authorize")
    func changesStateOfAuthorize() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            try faults(server).enable(FaultRule(.wrongState, .times(1)))
            // A request without a state does not count as an occurrence.
            #expect(try await server.authorize(session, ["state": nil]).location["state"] == nil)
            let answer = try await server.authorize(session).location
            #expect(answer["state"]?.isEmpty == false && answer["state"] != "st/&te")
            #expect(applied(server) == ["wrong-state"])
            #expect(try await server.exchange(try #require(answer["code"])).status == 200)
            #expect(try await server.authorize(session).location["state"] == "st/&te")
        }
    }

    @Test("The fault expired-code makes an authorization code expire before its exchange")
    func expiresAuthorizationCode() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            try faults(server).enable(FaultRule(.expiredCode, .times(1)))
            #expect(try await server.exchange(try await server.code(session)).error == "invalid_grant")
            #expect(try await server.exchange(try await server.code(session)).status == 200)
        }
    }

    @Test("The faults wrong-nonce and wrong-signature change the nonce or the signature of an id_token")
    func changesNonceOrSignatureOfIDToken() async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            func token() async throws -> String {
                let code = try await server.code(session, ["nonce": "n-1"])
                return try #require(try Tokens(try await server.exchange(code)).id)
            }
            try faults(server).enable(FaultRule(.wrongNonce, .times(1)))
            let other = try await server.claims(try await token())["nonce"]?.string
            #expect(other?.isEmpty == false && other != "n-1")
            try faults(server).enable(FaultRule(.wrongSignature, .times(1)))
            let forged = try await token()
            await #expect(throws: (any Error).self) { _ = try await server.claims(forged) }
            #expect(try await server.claims(try await token())["nonce"] == "n-1")
        }
    }

    // MARK: Clients and extents

    @Test(
        "A fault affects only the client that it names, by OAuth client, User-Agent, address or device",
        arguments: [
            (.oauth("app"), true), (.oauth("web"), false), (.userAgent("SIGNET"), true), (.userAgent("curl"), false),
            (.address("127.0.0.1"), false), (.device("phone-1"), false),
        ] as [(ClientMatch, Bool)])
    func affectsNamedClientOnly(client: ClientMatch, isMeant: Bool) async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.status(500), for: client))
            let reply = try await server.postForm(
                "access_token", ["grant_type": "refresh_token", "refresh_token": "x", "client_id": "app"],
                headers: ["User-Agent": "signet/1 (test)"])
            #expect(reply.status == (isMeant ? 500 : 400), "\(reply.text)")
            #expect(applied(server) == (isMeant ? ["status"] : []))
        }
    }

    @Test("A client is known by its Authorization header or by its body, and the body remains readable for the resource")
    func findsClientInHeaderOrBody() async throws {
        try await TestServer.run { server in
            let basic = ["Authorization": "Basic \(Base64.encode(Array("web:s3cret%3A+%2B%25".utf8), as: .standard))"]
            try faults(server).enable(FaultRule(.status(500), for: .oauth("web"), .times(1)))
            let form = ["token": "x"]
            #expect(try await server.postForm("token/revoke", form, headers: basic).status == 500)
            try faults(server).enable(FaultRule(.status(500), for: .oauth("app"), .times(1)))
            #expect(try await server.postForm("token/revoke", form, headers: basic).status == 200)
            #expect(try await server.postForm("token/revoke", ["token": "x", "client_id": "app"]).status == 500)
            let entry = server.devServer.requestLog(matching: RequestLogFilter { $0.client = .oauth("web") })
            #expect(entry.map(\.faults) == [["status"], []])
        }
    }

    @Test("A body that is too large is refused as usual while a fault looks for its client")
    func refusesLargeBodyDuringFault() async throws {
        try await TestServer.run(.sample { $0.maxBodySize = 64 }) { server in
            try faults(server).enable(FaultRule(.status(500), for: .oauth("app")))
            let reply = try await server.postForm("access_token", ["x": String(repeating: "y", count: 100)])
            #expect(reply.status == 413)
        }
    }

    @Test(
        "A refusal while a fault looks for its client has the error format of the address",
        arguments: [
            ("/sns", "text/xml", "<Code>RequestEntityTooLarge</Code>"), ("/am/XUI/", "text/html", "<h1>"),
            ("/am/oauth2/access_token", "application/json", #""error":"invalid_request""#),
            ("/am/json/authenticate", "application/json", #""code":413"#),
        ], [false, true])
    func refusesLargeBodyInFormatOfAddress(_ row: (path: String, type: String, part: String), isFaulty: Bool) async throws {
        try await Sender.run { server in
            if isFaulty { try faults(server).enable(FaultRule(.status(500), for: .oauth("app"))) }
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            let reply = try await server.send(.post, row.path, headers: form, body: String(repeating: "x", count: 300_000))
            #expect(reply.status == 413 && reply.text.contains(row.part), "\(reply.text)")
            #expect(reply.header("Content-Type")?.hasPrefix(row.type) == true)
        }
    }

    @Test("A fault for one device affects only the responses to that device")
    func affectsNamedDeviceOnly() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            try faults(server).enable(FaultRule(.status(500), at: "pushMessage", for: .device("phone-2")))
            try faults(server).enable(
                FaultRule(.status(503), name: "mine", at: "pushMessage", for: .device("phone-1"), .times(1)))
            #expect(try await phone.answer(push, at: server).status == 503)
            #expect(try await phone.answer(push, at: server).status == 200)
        }
    }

    @Test("A timed fault ends by the server's clock, a counted one by its count, and a fault of the same name replaces it")
    func endsByTimeOrCount() async throws {
        try await TestServer.run { server in
            func health() async throws -> Int { try await server.send(.get, "/am/health", headers: [:]).status }
            try faults(server).enable(FaultRule(.status(500), at: "health", .until(server.clock.now.addingTimeInterval(60))))
            #expect(try await health() == 500)
            server.clock.advance(by: 60)
            #expect(try await health() == 200)
            #expect(faults(server).entries.isEmpty)
            try faults(server).enable(FaultRule(.status(500), at: "health", .times(2)))
            try faults(server).enable(FaultRule(.status(501), name: "status", at: "health", .times(1)))
            #expect([try await health(), try await health()] == [501, 200])
        }
    }

    @Test("A fault with a count affects exactly that many concurrent requests")
    func countsConcurrentRequests() async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.status(500), .times(7)))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await server.send(.get, "/am/health", headers: [:]).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let broken = statuses.filter { $0 == 500 }
            #expect(broken.count == 7)
            let logged = server.devServer.requestLog(matching: RequestLogFilter { $0.fault = "status" })
            #expect(logged.count == 7)
        }
    }

    @Test(
        "The route of a fault is a resource's name or a path, with or without the context path",
        arguments: [
            ("", true), ("authenticate", true), ("/json/realms/root/authenticate", true), ("/am/json/**", true), ("/**", true),
            ("/json/*/*/authenticate", true), ("sessions", false), ("/json/authenticate", false), ("/oauth2/**", false),
            ("pages", false),
        ])
    func matchesRoutes(route: String, isMeant: Bool) async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.status(500), at: FaultRoute(route)))
            #expect(try await server.start("Login").status == (isMeant ? 500 : 200))
        }
    }

    @Test("A fault affects pages and health checks, but neither the console nor the administration API")
    func affectsAllButConsoleAndAdministration() async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(.status(500)))
            #expect(try await server.send(.get, "/am/XUI/", headers: [:]).status == 500)
            #expect(try await server.send(.get, "/am/health", headers: [:]).status == 500)
            #expect(try await server.send(.get, "/am/nothing", headers: [:]).status == 500)
            #expect(try await server.send(.get, "/am/console", headers: [:]).status == 403)
            #expect(try await server.send(.get, "/am/admin", headers: [:]).status == 404)
        }
    }

    /// Invalid rules, and the errors that they cause.
    static let wrong: [(FaultRule, FaultError)] = [
        (FaultRule(.html, at: "autenticate"), .unknownRoute("autenticate")),
        (FaultRule(.html, at: "gateway"), .parameter("route", "is the push gateway, which this server does not have")),
        (FaultRule(.html, at: "/json/autenticate"), .unknownRoute("/json/autenticate")),
        (
            FaultRule(.html, at: "/json/realms/root/realms/none/authenticate"),
            .unknownRoute("/json/realms/root/realms/none/authenticate")
        ),
        (FaultRule(.html, at: "/jsom/**"), .unknownRoute("/jsom/**")),
        (FaultRule(.wrongState, at: "accessToken"), .wrongRoute(kind: .wrongState, route: "accessToken")),
        (FaultRule(.wrongNonce, at: "/json/**"), .wrongRoute(kind: .wrongNonce, route: "/json/**")),
        (FaultRule(.reordering, at: "pushMessage"), .wrongRoute(kind: .reordering, route: "pushMessage")),
        (FaultRule(.status(200)), .parameter("status", "is a number from 400 to 599")),
        (FaultRule(.status(503, retryAfter: -1)), .parameter("retryAfter", "is a number of seconds, at most a day")),
        (FaultRule(.latency(.zero)), .parameter("milliseconds", "is more than 0, and at most 600000")),
        (FaultRule(.cut(after: -1)), .parameter("bytes", "is a number from 0 to 16777216")),
        (FaultRule(.html, .times(0)), .parameter("times", "is a number from 1 to 1000000")),
        (FaultRule(.html, .until(.distantPast)), .parameter("until", "is later than now, by ten years at most")),
        (FaultRule(.html, .until(.distantFuture)), .parameter("until", "is later than now, by ten years at most")),
        (FaultRule(.html, name: ""), .parameter("name", "is up to 64 characters of ASCII without spaces and slashes")),
        (FaultRule(.html, name: "a/b"), .parameter("name", "is up to 64 characters of ASCII without spaces and slashes")),
    ]

    @Test("An invalid fault throws an error that names the valid values", arguments: wrong)
    func refusesInvalidFaults(rule: FaultRule, error: FaultError) async throws {
        try await TestServer.run { server in
            #expect(!faults(server).routes.contains("gateway"))
            #expect(throws: error) { try faults(server).enable(rule) }
            #expect(faults(server).entries.isEmpty)
            #expect(!error.description.isEmpty)
        }
    }

    @Test(
        "A fault of each kind can be enabled at its own resource and everywhere, and the server works after it",
        arguments: FaultKind.examples)
    func enablesEveryKind(kind: FaultKind) async throws {
        try await TestServer.run { server in
            try faults(server).enable(FaultRule(kind))
            if let home = kind.home { try faults(server).enable(FaultRule(kind, name: "home", at: FaultRoute(home.rawValue))) }
            try faults(server).enable(FaultRule(kind, name: "all", at: "/**"))
            #expect(faults(server).entries.count == (kind.home == nil ? 2 : 3))
            // The server continues, whatever its response was.
            _ = try? await server.start("Login")
            faults(server).disableAll()
            #expect(try await server.start("Login").status == 200)
        }
    }
}
