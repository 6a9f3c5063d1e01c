import Foundation
import HTTPTypes
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Security headers of every response")
struct AnswerHeaderTests {
    /// Addresses of every resource, and of unknown ones.
    private static var paths: [String] {
        let resources = Route.resources.map { resource in
            let arguments = Array(repeating: "mira", count: resource.parameterCount)
            return "/am" + Route.Address(resource, realm: .root, arguments: arguments).path
        }
        return resources + [
            "/am/health", "/am/health/ready", "/am/XUI/", "/am/XUI/session", "/am/XUI/wait?flow=x", "/am/XUI/nothing",
            "/am/console",
            "/am/console/open?token=x", "/am/json/nothing", "/am/oauth2/nothing", "/am/nothing", "/",
            "/am/json/realms/none/authenticate",
        ]
    }

    @Test(
        "Every response of every address and method forbids caching, sniffing, framing and referrers to others",
        arguments: paths)
    func everyResponseHasSecurityHeaders(path: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            for method in [HTTPRequest.Method.get, .post, .put, .delete, .options, .head, .patch] {
                for headers in [
                    [:], ["Content-Type": "application/json", "iPlanetDirectoryPro": session],
                    ["Content-Type": "application/x-www-form-urlencoded", "Cookie": "iPlanetDirectoryPro=\(session)"],
                ] {
                    let reply = try await server.send(method, path, headers: headers, body: method == .get ? nil : "{}")
                    let about: Comment = "\(method) \(path): \(reply.status)"
                    #expect(reply.header("Cache-Control")?.contains("no-store") == true, about)
                    #expect(reply.header("X-Content-Type-Options") == "nosniff", about)
                    #expect(reply.header("X-Frame-Options") == "DENY", about)
                    let isPage = reply.header("Content-Type")?.hasPrefix("text/html") == true
                    #expect(reply.header("Referrer-Policy") == (isPage ? "same-origin" : "no-referrer"), about)
                    #expect(reply.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true, about)
                    #expect(reply.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true, about)
                    #expect(reply.header("Access-Control-Allow-Origin") == nil, about)
                    #expect(reply.header("Strict-Transport-Security") == nil, about)
                    #expect(reply.header("Cross-Origin-Resource-Policy") == "same-origin", about)
                    // A response that a browser could read as a page or a script states its type.
                    #expect(reply.text.isEmpty || reply.header("Content-Type") != nil, about)
                }
            }
        }
    }

    private static let assets =
        PageAsset.ofPages.map { $0.path(below: "/am") }
        + [PageAsset.consoleStyle, .console].map { $0.consolePath(below: "/am") }

    @Test("Page assets are cacheable, because their address changes with their content", arguments: assets)
    func assetsAreCacheable(path: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.send(.get, path, headers: [:])
            #expect(reply.header("Cache-Control") == "public, max-age=31536000, immutable")
            #expect(reply.header("X-Content-Type-Options") == "nosniff")
        }
    }

    /// A public URL, a host, the TLS setting, and whether browsers are told to use only https.
    static let addresses: [(String?, String, ServerTLS?, Bool)] = [
        (nil, "127.0.0.1", nil, false), ("http://login.example.test/am", "127.0.0.1", nil, false),
        ("https://login.example.test/am", "127.0.0.1", nil, true), ("https://localhost:8443/am", "127.0.0.1", nil, false),
        (nil, "login.example.test", .files(certificate: "c", key: "k"), true),
        (nil, "127.0.0.1", .files(certificate: "c", key: "k"), false),
        (nil, "login.example.test", .ownAuthority(directory: "d"), false),
        ("https://login.example.test/am", "0.0.0.0", .ownAuthority(directory: "d"), false),
    ]

    @Test(
        "Strict-Transport-Security is sent only for https on a real host name, without the server's own authority",
        arguments: addresses)
    func sendsStrictTransportSecurity(publicURL: String?, host: String, tls: ServerTLS?, isStrict: Bool) async throws {
        let configuration = ServerConfiguration.sample {
            $0.publicURL = publicURL
            $0.host = host
            $0.tls = tls
        }
        try await TestServer.run(configuration) { server in
            let reply = try await server.send(.get, "/am/health", headers: [:])
            #expect((reply.header("Strict-Transport-Security") != nil) == isStrict)
        }
    }
}

@Suite("Cross-origin requests (CORS)")
struct CrossOriginTests {
    static let origin = "https://app.example:8443"
    private static let configuration = ServerConfiguration.sample { $0.corsOrigins = [origin, "http://localhost:3000"] }
    private static let preflight = [
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "accept-api-version,content-type,x-requested-with",
    ]

    @Test(
        "A preflight request of a configured origin is allowed the headers of the JavaScript SDK at every AM address",
        arguments: [
            "/am/json/realms/root/authenticate", "/am/json/realms/root/sessions?_action=logout",
            "/am/oauth2/realms/root/access_token",
            "/am/oauth2/realms/root/userinfo", "/am/json/alpha/users/mira/devices/2fa/push/x",
        ])
    func allowsPreflightOfConfiguredOrigin(path: String) async throws {
        try await TestServer.run(Self.configuration) { server in
            let reply = try await server.send(.options, path, headers: Self.preflight.merging(["Origin": Self.origin]) { $1 })
            #expect(reply.status == 200 && reply.text.isEmpty)
            #expect(reply.header("Access-Control-Allow-Origin") == Self.origin)
            #expect(reply.header("Access-Control-Allow-Credentials") == "true")
            #expect(reply.header("Vary")?.contains("Origin") == true)
            let methods = try #require(reply.header("Access-Control-Allow-Methods"))
            for method in ["GET", "POST", "PUT", "DELETE"] { #expect(methods.contains(method)) }
            let headers = try #require(reply.header("Access-Control-Allow-Headers")).lowercased()
            for name in [
                "accept-api-version", "content-type", "authorization", "x-requested-with", "x-requested-platform",
                "iplanetdirectorypro", "x-openam-username", "x-openam-password",
            ] { #expect(headers.contains(name)) }
        }
    }

    @Test("A page of a configured origin can read responses, errors, and the headers that the SDK reads")
    func exposesResponsesToConfiguredOrigin() async throws {
        try await TestServer.run(Self.configuration) { server in
            for (path, status) in [
                ("/am/json/realms/root/authenticate", 200), ("/am/json/nothing", 404), ("/am/oauth2/access_token", 400),
            ] {
                let reply = try await server.send(
                    .post, path, headers: ["Origin": "http://localhost:3000", "Content-Type": "application/json"], body: "{}")
                #expect(reply.status == status)
                #expect(reply.header("Access-Control-Allow-Origin") == "http://localhost:3000")
                #expect(reply.header("Access-Control-Allow-Credentials") == "true")
                #expect(reply.header("Access-Control-Expose-Headers")?.contains("WWW-Authenticate") == true)
                #expect(reply.header("Cross-Origin-Resource-Policy") == "cross-origin")
            }
        }
    }

    @Test(
        "Other origins, and all origins at pages and the console, get no CORS headers",
        arguments: [
            ("https://app.example", "/am/json/authenticate"), ("https://app.example:8443.evil.test", "/am/json/authenticate"),
            ("null", "/am/json/authenticate"), ("*", "/am/json/authenticate"), ("", "/am/json/authenticate"),
            (origin, "/am/XUI/"), (origin, "/am/console"), (origin, "/am/health"),
        ])
    func sendsNoCORSHeadersToOtherOrigins(origin: String, path: String) async throws {
        try await TestServer.run(Self.configuration) { server in
            for method in [HTTPRequest.Method.options, .get, .post] {
                let reply = try await server.send(
                    method, path, headers: Self.preflight.merging(["Origin": origin]) { $1 }, body: "")
                for field in reply.headers { #expect(!field.name.canonicalName.hasPrefix("access-control-")) }
            }
        }
    }
}

@Suite("Rate limits per client address", .timeLimit(.minutes(2)))
struct AddressRateTests {
    private static let one = RateLimit(perMinute: 1, burst: 2)

    /// A path, the name of its resource, a body, the limit, and a part of the refusal.
    static let requests: [(path: String, name: String, body: String, limits: RateLimits, refusal: String)] = [
        ("/json/authenticate", "authenticate", "{}", RateLimits(authenticate: one), #""reason":"Too Many Requests""#),
        ("/XUI/", "pages", "flow=x", RateLimits(authenticate: one), "<h1>"),
        ("/oauth2/access_token", "accessToken", "grant_type=x", RateLimits(token: one), #""error":"temporarily_unavailable""#),
        ("/oauth2/par", "pushedAuthorization", "client_id=app", RateLimits(token: one), #""error":"temporarily_unavailable""#),
        ("/oauth2/device/code", "deviceCode", "client_id=app", RateLimits(token: one), #""error":"temporarily_unavailable""#),
        (
            "/json/push/sns/message?_action=authenticate", "pushMessage", "{}", RateLimits(push: one),
            #""reason":"Too Many Requests""#
        ),
    ]

    @Test(
        "Requests beyond the rate limit get 429 in the error format of their address until Retry-After has passed",
        arguments: requests)
    func limitsRequestsOfOneKind(path: String, name: String, body: String, limits: RateLimits, refusal: String) async throws {
        let configuration = ServerConfiguration.sample {
            $0.port = 0
            $0.limits.rateLimits = limits
        }
        try await TestServer.run(configuration) { server in
            try await server.serve { port in
                try await AsyncHTTPTransport().use { transport in
                    func ask() async throws -> SignetNetwork.HTTPResponse {
                        let type = path.contains("json") ? "application/json" : "application/x-www-form-urlencoded"
                        return try await transport.send(
                            SignetNetwork.HTTPRequest(
                                "POST", "http://127.0.0.1:\(port)/am\(path)", headers: ["Content-Type": type],
                                body: Array(body.utf8)))
                    }
                    for _ in 0..<2 { #expect(try await ask().status != 429) }
                    let reply = try await ask()
                    #expect(reply.status == 429)
                    #expect(String(decoding: reply.body, as: UTF8.self).contains(refusal))
                    let logged = server.devServer.requestLog(
                        matching: RequestLogFilter {
                            $0.resource = name
                            $0.status = 429
                        })
                    let problems = logged.map(\.request?.problem)
                    #expect(problems == ["Too many requests. Try again later."])
                    let retryAfter = try #require(reply.headers["Retry-After"])
                    let wait = try #require(Int(retryAfter))
                    let health = try await transport.send(SignetNetwork.HTTPRequest("GET", "http://127.0.0.1:\(port)/am/health"))
                    #expect(health.status == 200)
                    server.clock.advance(by: Double(wait))
                    #expect(try await ask().status != 429)
                }
            }
        }
    }

    @Test("Login pages that start a journey count like requests that start one; other pages don't count")
    func limitsStartedFlows() async throws {
        let configuration = ServerConfiguration.sample { $0.limits.rateLimits = RateLimits(authenticate: Self.one) }
        try await TestServer.live(configuration) { server in
            var statuses: [Int] = []
            for path in [
                "/XUI/?realm=/", "/XUI?realm=/&goto=/am/oauth2/authorize", "/XUI/?suspendedId=x", "/XUI/", "/XUI/?flow=x",
                "/XUI/session", "/XUI/app.css",
            ] {
                let request = SignetNetwork.HTTPRequest("GET", "\(server.url)\(path)")
                statuses.append(try await server.transport.send(request).status)
            }
            #expect(statuses == [200, 200, 429, 429, 404, 200, 200])
        }
    }

    @Test("A server on a loopback address has no rate limits by default")
    func loopbackHasNoRateLimits() async throws {
        try await TestServer.run(.sample { $0.port = 0 }) { server in
            #expect(server.devServer.context.configuration.rateLimits == .none)
            try await server.serve { port in
                let connection = try RawHTTPConnection(port: port)
                let request = "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                for _ in 0..<200 { connection.send(request) }
                let text = await connection.read { $0.components(separatedBy: "HTTP/1.1 200 OK").count > 200 }
                #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == 201)
                connection.vanish()
            }
        }
        let exposed = ServerConfiguration { $0.host = "0.0.0.0" }
        #expect(exposed.rateLimits == .default)
    }
}
