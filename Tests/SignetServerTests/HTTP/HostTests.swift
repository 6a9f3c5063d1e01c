import Foundation
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The host that a request is addressed to", .timeLimit(.minutes(5)))
struct HostTests {
    /// Serves on a free port and returns the response to each request.
    private static func responses(
        to requests: [String], at address: String = "127.0.0.1", _ configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> [String] {
        let configuration = ServerConfiguration.sample {
            ($0.host, $0.port) = (address, 0)
            configure(&$0)
        }
        let responses = Responses()
        try await TestServer.run(configuration) { server in
            try await server.serve { port in
                for request in requests {
                    let connection = try RawHTTPConnection(port: port)
                    connection.send(request)
                    connection.endSending()
                    await responses.add(await connection.read { _ in false })
                    connection.vanish()
                }
            }
        }
        return await responses.texts
    }

    private actor Responses {
        private(set) var texts: [String] = []
        func add(_ text: String) { texts.append(text) }
    }

    private static func get(_ path: String, host: String) -> String { "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n" }

    private static func post(_ path: String, host: String, type: String = "application/json") -> String {
        "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Type: \(type)\r\nContent-Length: 2\r\n\r\n{}"
    }

    private static func requests(host: String) -> [String] {
        [
            post("/am/json/authenticate", host: host), post("/am/json/realms/root/sessions?_action=logout", host: host),
            post("/am/oauth2/access_token", host: host, type: "application/x-www-form-urlencoded"),
            get("/am/oauth2/authorize?client_id=app", host: host), get("/am/XUI/", host: host),
            post("/am/json/push/sns/message?_action=authenticate", host: host), get("/am/json/push/stream", host: host),
            get("/am/console", host: host), get("/", host: host),
        ]
    }

    @Test("A page with a domain that resolves to this machine (DNS rebinding) reaches no address but the health check")
    func refusesReboundDomain() async throws {
        for text in try await Self.responses(to: Self.requests(host: "rebound.evil.example:8080")) {
            #expect(text.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"), "\(text)")
            #expect(!text.contains("authId") && !text.lowercased().contains("set-cookie"), "\(text)")
        }
        let health = try await Self.responses(to: [Self.get("/am/health", host: "10.1.2.3")])
        #expect(health[0].hasPrefix("HTTP/1.1 200"))
    }

    @Test("The error for a host that isn't allowed names the setting, in the format of the address")
    func namesSetting() async throws {
        let texts = try await Self.responses(to: Self.requests(host: "rebound.evil.example"))
        for text in texts { #expect(text.contains("server.allowedHosts"), "\(text)") }
        #expect(texts[0].contains(#""code":421"#) && texts[4].contains("<h1>"))
    }

    @Test(
        "A server on a loopback address answers for loopback names, its public address and the allowed hosts",
        arguments: [
            "localhost", "LOCALHOST:1", "am.localhost:8080", "127.0.0.1", "127.9.9.9:80", "[::1]:8080", "login.example.test",
            "Phone.Example.Test:9", "10.0.2.2:8080", "[fd00::1]",
        ])
    func answersForOwnNames(host: String) async throws {
        let texts = try await Self.responses(to: [Self.post("/am/json/authenticate", host: host)]) {
            $0.publicURL = "https://login.example.test/am"
            $0.allowedHosts = ["phone.example.test", "10.0.2.2", "fd00::1"]
        }
        #expect(texts[0].hasPrefix("HTTP/1.1 200"), "\(texts)")
    }

    @Test(
        "A name that only looks like an allowed one is refused",
        arguments: [
            "localhost.evil.example", "127.0.0.1.evil.example", "evil-localhost", "login.example.test.evil.example",
            "xlogin.example.test", "128.0.0.1", "0.0.0.0", "[::2]", "localhost.",
        ])
    func refusesSimilarNames(host: String) async throws {
        let texts = try await Self.responses(to: [Self.post("/am/json/authenticate", host: host)]) {
            $0.publicURL = "https://login.example.test/am"
        }
        #expect(texts[0].hasPrefix("HTTP/1.1 421"), "\(texts)")
    }

    @Test("A server for other machines answers for every host, unless the configuration lists the allowed ones")
    func exposedServerHasNoRuleByDefault() async throws {
        let request = Self.post("/am/json/authenticate", host: "login.example.test")
        for (hosts, status) in [([], 200), (["login.example.test"], 200), (["other.example.test"], 421)] {
            let texts = try await Self.responses(to: [request], at: "0.0.0.0") { $0.allowedHosts = hosts }
            #expect(texts[0].hasPrefix("HTTP/1.1 \(status)"), "\(hosts): \(texts)")
        }
    }

    @Test(
        "A request without one valid Host header gets 400, and its connection ends (RFC 9112 section 3.2)",
        arguments: [
            "", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nhost: evil.example\r\n",
            "Host: evil.example\r\nX: y\r\nHost: localhost\r\n", "Host:\r\n", "Host: a:b:c\r\n", "Host: [::1\r\n",
            "Host: localhost:x\r\n",
        ])
    func refusesAmbiguousHost(fields: String) async throws {
        let texts = try await Self.responses(
            to: ["GET /am/health HTTP/1.1\r\n\(fields)\r\n" + Self.get("/am/health", host: "localhost")])
        #expect(texts[0].hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(texts)")
        #expect(texts[0].components(separatedBy: "HTTP/1.1 ").count == 2, "\(texts)")
    }

    @Test("An absolute target with another host than the Host header is refused")
    func comparesHostOfTarget() async throws {
        let texts = try await Self.responses(
            to: ["evil.example", "localhost"].map { Self.get("http://\($0)/am/health", host: "localhost") })
        #expect(texts[0].hasPrefix("HTTP/1.1 400") && texts[1].hasPrefix("HTTP/1.1 200"), "\(texts)")
    }

    @Test("A health check in HTTP/1.0 needs no Host header")
    func answersHTTP10() async throws {
        let texts = try await Self.responses(to: ["GET /am/health HTTP/1.0\r\n\r\n"])
        #expect(texts[0].contains(" 200 OK\r\n"), "\(texts)")
    }

    @Test("A rejected request behind another one is answered after it, and is in the request log")
    func answersInOrder() async throws {
        try await TestServer.live(.sample()) { server in
            let connection = try RawHTTPConnection(port: try Endpoint(server.url).port)
            connection.send(Self.get("/am/health", host: "localhost") + "GET /am/health HTTP/1.1\r\n\r\n")
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("{}HTTP/1.1 400"), "\(text)")
            let entry = try await server.devServer.waitForEntry(matching: RequestLogFilter { $0.status = 400 })
            #expect(entry.request?.problem?.contains("Host header") == true)
            connection.vanish()
        }
    }
}
