import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Requests for a protocol upgrade (RFC 9110 section 7.8)", .timeLimit(.minutes(5)))
struct ProtocolUpgradeTests {
    /// Serves with a short header timeout: a connection that the server no longer reads ends with 408 after it.
    private static func serve(_ body: (_ port: Int) async throws -> Void) async throws {
        try await TestServer.live(.sample { $0.limits.headerTimeout = 1 }) { server in
            try await body(Endpoint(server.url).port)
        }
    }

    private static let plain = "GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let request: String
        var status = "200"
        var testDescription: String { name }
    }

    static let requests = [
        Case(
            name: "Upgrade: h2c, as Java's HttpClient sends it",
            request: "GET /am/health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                + "Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\n\r\n"),
        Case(
            name: "Upgrade: websocket",
            request: "GET /am/health HTTP/1.1\r\nHost: localhost\r\nconnection: keep-alive, upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"),
        Case(
            name: "Upgrade: h2c with a body",
            request: "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}"),
        Case(
            name: "Upgrade: h2c with a chunked body",
            request: "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        Case(name: "CONNECT", request: "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n", status: "404"),
    ]

    @Test(
        "S1: The response to an upgrade request says Connection: close, and the server closes the connection", arguments: requests
    )
    func answerClosesTheConnection(_ upgrade: Case) async throws {
        try await Self.serve { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send(upgrade.request)
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 \(upgrade.status)"), "\(text)")
            #expect(text.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(!text.contains("408"))
            connection.vanish()
        }
    }

    @Test("A request that is pipelined behind an upgrade request does not change its response", arguments: requests)
    func pipelinedAfterUpgrade(_ upgrade: Case) async throws {
        try await Self.serve { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send(upgrade.request + Self.plain)
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 \(upgrade.status)"), "\(text)")
            #expect(text.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(!text.contains("408"))
            connection.vanish()
        }
    }

    @Test("Requests that are pipelined before an upgrade request are answered in order and keep the connection open")
    func pipelinedBeforeUpgrade() async throws {
        try await Self.serve { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send(Self.plain + Self.plain + Self.requests[0].request)
            let text = await connection.read { _ in false }
            let heads = text.components(separatedBy: "HTTP/1.1 200").dropFirst().map { $0.lowercased() }
            let closing = heads.map { $0.contains("\r\nconnection: close\r\n") }
            #expect(closing == [false, false, true], "\(text)")
            connection.vanish()
        }
    }

    @Test("S1: The command curl --http2 gets two responses in one call", .enabled(if: Programs.missing(["curl"]).isEmpty))
    func curlHTTP2() async throws {
        try await Self.serve { port in
            let url = "http://127.0.0.1:\(port)/am/health"
            let curl = try await TestProcess.run(
                "curl", ["--http2", "--silent", "--show-error", "--max-time", "30", "--write-out", "%{http_code} ", url, url])
            #expect(curl.status == 0, "\(curl.errors)")
            #expect(curl.output == "{}200 {}200 ")
        }
    }

    /// A program that sends two pages' and two journeys' requests through one client, which asks for HTTP/2 by default.
    private static let java = """
        import java.net.URI;
        import java.net.http.HttpClient;
        import java.net.http.HttpRequest;
        import java.net.http.HttpRequest.BodyPublishers;
        import java.net.http.HttpResponse.BodyHandlers;

        class FourRequests {
            public static void main(String[] addresses) throws Exception {
                var client = HttpClient.newHttpClient();
                var page = HttpRequest.newBuilder(URI.create(addresses[0]));
                var step = HttpRequest.newBuilder(URI.create(addresses[1])).header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{}"));
                for (var request : new HttpRequest[] {page.build(), step.build(), page.build(), step.build()}) {
                    System.out.println(request.method() + " " + client.send(request, BodyHandlers.ofString()).statusCode());
                }
            }
        }
        """

    @Test(
        "S1: Java's HttpClient gets four responses through one client, none of them 408",
        .enabled(if: Programs.missing(["java", "javac"]).isEmpty))
    func javaHTTPClient() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let source = directory.file("FourRequests.java")
        try Data(Self.java.utf8).write(to: URL(filePath: source))
        try await Self.serve { port in
            let server = "http://127.0.0.1:\(port)/am"
            let program = try await TestProcess.run("java", [source, "\(server)/health", "\(server)/json/authenticate"])
            #expect(program.status == 0, "\(program.errors)")
            #expect(program.output == "GET 200\nPOST 200\nGET 200\nPOST 200\n")
        }
    }
}
