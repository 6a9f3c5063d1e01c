#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

/// Requests that an HTTP client does not send.
@Suite("Attacks: HTTP", .timeLimit(.minutes(10)))
struct RequestAttacks {
    @Test("On a loopback address a request for another host gets 421 at every address of a client (DNS rebinding)")
    func rebindsName() async throws {
        try await AttackedServer.with { server in
            let targets = [
                "POST /am/json/realms/root/authenticate", "POST /am/json/realms/root/sessions?_action=getSessionInfo",
                "GET /am/XUI/",
                "GET /am/oauth2/realms/root/authorize", "POST /am/oauth2/realms/root/access_token",
                "GET /am/oauth2/realms/root/.well-known/openid-configuration", "POST /am/json/push/sns/message?_action=register",
            ]
            for target in targets {
                for host in [
                    "evil.test", "evil.test:\(server.port)", "127.0.0.1.evil.test", "localhost.evil.test", "10.0.0.1",
                    "evil.test.",
                ] {
                    let answer = try await server.sendRaw(
                        "\(target) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    #expect(
                        answer?.hasPrefix("HTTP/1.1 421") == true, "\(target) at \(host): \(answer?.prefix(40) ?? "no answer")")
                }
            }
            for host in [
                "127.0.0.1:\(server.port)", "localhost:\(server.port)", "LOCALHOST", "[::1]:\(server.port)", "127.0.0.1",
            ] {
                let answer = try await server.sendRaw("GET /am/XUI/ HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(answer?.hasPrefix("HTTP/1.1 200") == true, "\(host): \(answer?.prefix(40) ?? "no answer")")
            }
        }
    }

    @Test("A request without a Host field, or with two, gets 400 (RFC 9112 section 3.2)")
    func confusesHost() async throws {
        try await AttackedServer.with { server in
            for head in ["X: y", "Host: 127.0.0.1\r\nHost: evil.test", "Host: 127.0.0.1\r\nhost: 127.0.0.1"] {
                let answer = try await server.sendRaw("GET /am/health HTTP/1.1\r\n\(head)\r\nConnection: close\r\n\r\n")
                #expect(answer?.hasPrefix("HTTP/1.1 400") == true, "\(head): \(answer?.prefix(40) ?? "no answer")")
            }
        }
    }

    /// Requests whose end a proxy could see elsewhere (RFC 9112 section 11.2): the header fields and the body.
    private static let ambiguous: [(head: String, body: String)] = [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
        ("Content-Length: 5\r\nContent-Length: 6", "{}"), ("Content-Length: 5, 6", "{}"), ("Content-Length: +2", "{}"),
        ("Content-Length: -1", "{}"), ("Content-Length: 0x2", "{}"), ("Content-Length: 2 2", "{}"), ("Content-Length:", "{}"),
        ("Content-Length: 99999999999999999999", "{}"), ("Content-Length : 2", "{}"), ("Content-Length\t: 2", "{}"),
        ("Transfer-Encoding: chunked, identity", "0\r\n\r\n"), ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        ("Transfer-Encoding: identity, chunked, chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "0\r\n\r\n"),
        ("Transfer-Encoding : chunked", "0\r\n\r\n"), ("X: y\r\n Transfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "x\r\n{}\r\n0\r\n\r\n"), ("Transfer-Encoding: chunked", "-1\r\n\r\n"),
        ("Transfer-Encoding: chunked", "fffffffffffffffff\r\n{}"), ("Transfer-Encoding: chunked", "2\r\n{}xx0\r\n\r\n"),
        ("X\u{0}: y\r\nContent-Length: 2", "{}"), ("X: y\u{0}z\r\nContent-Length: 2", "{}"),
        ("X y: z\r\nContent-Length: 2", "{}"),
    ]

    @Test("A request that could end in two places is refused, and the request behind it is not executed")
    func smugglesRequest() async throws {
        try await AttackedServer.with { server in
            for (head, body) in Self.ambiguous {
                let smuggled = "GET /am/health/smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                let request =
                    "POST \(AttackedServer.path)\(AttackedServer.authenticate) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    + "Content-Type: application/json\r\n\(head)\r\n\r\n\(body)"
                let answer = try #require(try await server.sendRaw(request + smuggled), "no end: \(head)")
                #expect(answer.hasPrefix("HTTP/1.1 4"), "\(head): \(answer.prefix(60))")
                #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(head): \(answer)")
            }
            let log = try await server.admin("GET", "request-log?path=/health/smuggled")
            #expect(log["count"]?.lenientInteger == 0)
        }
    }

    @Test("Data of other protocols, and heads beyond the limits, get an error and the end of the connection")
    func speaksOtherProtocols() async throws {
        try await AttackedServer.with { server in
            let host = "Host: 127.0.0.1\r\n"
            let requests = [
                "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-x\r\n",
                "GET /am/health\r\n\r\n", "GET /am/health HTTP/3.0\r\n\(host)\r\n",
                "\r\n\r\nx", "EHLO x\r\n", "CONNECT evil.test:443 HTTP/1.1\r\n\(host)\r\n",
                "GET /am/health HTTP/1.1\n\(host)X\r\n\r\n",
                "GET /" + String(repeating: "a", count: 1_000_000) + " HTTP/1.1\r\n\(host)\r\n",
                "GET /am/health HTTP/1.1\r\n\(host)X: " + String(repeating: "y", count: 100_000) + "\r\n\r\n",
                "GET /am/health HTTP/1.1\r\n\(host)" + String(repeating: "X: y\r\n", count: 205) + "\r\n",
                "POST /am/json/authenticate HTTP/1.1\r\n\(host)Content-Type: application/json\r\nContent-Length: 262145\r\n\r\n"
                    + String(repeating: " ", count: 262_145),
            ]
            for request in requests {
                let answer = try #require(try await server.sendRaw(request), "no end: \(request.prefix(40))")
                let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                // A connection may also end without an answer, when nothing of a request has arrived.
                let isRefused = status.map { (400..<500).contains($0) || $0 == 501 } ?? answer.isEmpty
                #expect(isRefused, "\(request.prefix(40)): \(answer.prefix(60))")
            }
            #expect(try await server.send("GET", "/health").status == 200)
        }
    }

    @Test("Thousands of pipelined requests do not keep the server from other clients")
    func pipelinesRequests() async throws {
        try await AttackedServer.with { server in
            let (connections, count) = (8, AttackRun.rounds(1_000, 3_000))
            let request = "GET /am/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let bytes = String(repeating: request, count: count)
            let last = request.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
            let answer = try #require(try ClientSocket(port: server.port).exchange(Array(last.utf8)))
            let total = connections * count * answer.utf8.count
            let sockets = try (0..<connections).map { _ in try ClientSocket(port: server.port, timeout: 60) }
            defer { for socket in sockets { socket.close() } }
            let received = Counter()
            let senders = sockets.map { socket in
                Task {
                    try await AttackedServer.onThread {
                        socket.send(bytes)
                        while let piece = socket.bytes(), !piece.isEmpty { received.add(piece.count) }
                    }
                }
            }
            while received.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
            var largest = 0
            for _ in 0..<10 {
                let before = received.count
                let answer = try await server.send("GET", "/health")
                #expect(answer.status == 200)
                largest = max(largest, received.count - before)
            }
            for socket in sockets { socket.close() }
            for sender in senders { try await sender.value }
            #expect(largest < total / 2, "one answer to another client waited for \(largest) of \(total) bytes")
        }
    }
}
#endif
