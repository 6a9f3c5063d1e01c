import Foundation
import Logging
import MetricsTestKit
import NIOCore
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Slow, large and concurrent connections", .timeLimit(.minutes(5)))
struct ConnectionTests {
    /// Serves with one limit that differs from the default.
    private static func serve(
        _ limit: WritableKeyPath<ServerLimits, Int>, _ value: Int, _ body: (Int) async throws -> Void
    ) async throws {
        var limits = ServerLimits()
        limits[keyPath: limit] = value
        try await serve(limits) { port, _ in try await body(port) }
    }

    /// Serves with the test's own limits, and passes the server to the body as well.
    private static func serve(_ limits: ServerLimits, _ body: (Int, DevServer) async throws -> Void) async throws {
        try await TestServer.live(.sample { $0.limits = limits }) { server in
            try await body(Endpoint(server.url).port, server.devServer)
        }
    }

    @Test(
        "A request head that arrives byte by byte gets 408, on a new and on a reused connection",
        arguments: [false, true])
    func slowHeadGets408(isSecond: Bool) async throws {
        try await Self.serve(\.headerTimeout, 1) { port in
            let connection = try RawHTTPConnection(port: port)
            if isSecond {
                connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = await connection.read { $0.hasSuffix("{}") }
                #expect(answer.hasPrefix("HTTP/1.1 200"))
            }
            let dripping = Task {
                for byte in "GET /am/health HTTP/1.1\r\nHost: " + String(repeating: "x", count: 10_000) where !Task.isCancelled {
                    connection.send(String(byte))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            // The server ends the connection; the test's own time limit is much longer.
            let text = await connection.read { _ in false }
            dripping.cancel()
            #expect(text.contains("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(text.lowercased().contains("connection: close"))
            connection.vanish()
        }
    }

    @Test("A connection without a started request does not count as slow")
    func silentConnectionStaysOpen() async throws {
        try await Self.serve(\.headerTimeout, 1) { port in
            let silent = try RawHTTPConnection(port: port)
            // Later connections with a started request reach the timeout, one after the other.
            for _ in 0..<2 {
                let slow = try RawHTTPConnection(port: port)
                slow.send("GET /am/hea")
                let refusal = await slow.read { _ in false }
                #expect(refusal.hasPrefix("HTTP/1.1 408"))
                slow.vanish()
            }
            silent.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = await silent.read { $0.hasSuffix("{}") }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            silent.vanish()
        }
    }

    /// Heads of requests with a body; the second one does not state its length.
    static let slowBodies = [
        "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
        "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ]

    @Test("A request body that arrives byte by byte gets 408 with AM's error body", arguments: slowBodies)
    func slowBodyGets408(head: String) async throws {
        try await Self.serve(\.bodyTimeout, 1) { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send(head)
            let isChunked = head.contains("chunked")
            let dripping = Task {
                for _ in 0..<10_000 where !Task.isCancelled {
                    connection.send(isChunked ? "1\r\n \r\n" : " ")
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let text = await connection.read { _ in false }
            dripping.cancel()
            #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(text.contains(#""code":408"#) && text.contains(#""message":"The request's body took too long.""#))
            connection.vanish()
        }
    }

    @Test("A connection with an unfinished body that no resource reads ends after the body timeout")
    func unreadBodyEndsConnection() async throws {
        try await Self.serve(\.bodyTimeout, 1) { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send("POST /am/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 404"))
            connection.vanish()
        }
    }

    @Test("A request head that is too large gets 431, and one within the limit is answered")
    func largeHeadGets431() async throws {
        try await Self.serve(\.maxHeaderSize, 4096) { port in
            for (size, status) in [(3000, "200"), (5000, "431")] {
                let connection = try RawHTTPConnection(port: port)
                connection.send("GET /am/health HTTP/1.1\r\nHost: x\r\nX-Large: \(String(repeating: "x", count: size))\r\n\r\n")
                let text = await connection.read { $0.contains("\r\n\r\n") }
                #expect(text.hasPrefix("HTTP/1.1 \(status)"))
                connection.vanish()
            }
            let many = (0..<1000).map { "X-\($0): y\r\n" }.joined()
            let connection = try RawHTTPConnection(port: port)
            connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\(many)\r\n")
            let answer = await connection.read { $0.contains("\r\n\r\n") }
            #expect(answer.hasPrefix("HTTP/1.1 431"))
            connection.vanish()
        }
    }

    struct RefusedRequest: Sendable {
        var limits = ServerLimits()
        let sent: String
        let status: Int
        var path = "-"

        init(_ limit: WritableKeyPath<ServerLimits, Int>, _ value: Int, _ sent: String, _ status: Int, path: String = "-") {
            limits[keyPath: limit] = value
            (self.sent, self.status, self.path) = (sent, status, path)
        }
    }

    static let refusedRequests = [
        RefusedRequest(\.headerTimeout, 1, "GET /am/hea", 408),
        RefusedRequest(
            \.bodyTimeout, 1, "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", 408,
            path: "/am/json/authenticate"),
        RefusedRequest(\.headerTimeout, 10, largeBody, 413, path: "/am/json/authenticate"),
        RefusedRequest(
            \.maxHeaderSize, 4096, "GET /am/health HTTP/1.1\r\nX: \(String(repeating: "x", count: 5000))\r\n\r\n", 431),
        RefusedRequest(\.maxHeaderSize, 4096, "GARBAGE\r\n\r\n", 400),
    ]

    private static let largeBody =
        "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n"
        + String(repeating: " ", count: 300_000)

    @Test(
        "Requests refused with 408, 413, 431 and 400 are in the request log, with the client's address",
        arguments: refusedRequests)
    func refusalsAreLogged(_ refused: RefusedRequest) async throws {
        try await Self.serve(refused.limits) { port, server in
            let connection = try RawHTTPConnection(port: port)
            connection.send(refused.sent)
            let text = await connection.read { $0.contains("\r\n\r\n") }
            #expect(text.hasPrefix("HTTP/1.1 \(refused.status)"), "\(text)")
            let entry = try await server.waitForEntry(matching: RequestLogFilter { $0.status = refused.status })
            #expect(entry.request?.path == refused.path && entry.request?.client.address == "127.0.0.1")
            #expect(entry.request?.problem != nil)
            connection.vanish()
        }
    }

    /// The reasons of ``refusedRequests`` in the metrics, in their order; nil for a request that is not HTTP.
    private static let reasons = ["headTooSlow", "bodyTooSlow", "bodyTooLarge", "headTooLarge", nil]

    @Test(
        "Requests refused with 408, 413 and 431 are counted in the metrics by their reason",
        arguments: zip(refusedRequests, reasons))
    func refusalsAreCounted(_ refused: RefusedRequest, reason: String?) async throws {
        let metrics = TestMetrics()
        let configuration = ServerConfiguration.sample {
            $0.limits = refused.limits
            $0.port = 0
        }
        let server = DevServer(configuration: configuration, clock: SystemWallClock(), logger: .silent, metrics: metrics)
        try await server.serve { url in
            let connection = try RawHTTPConnection(port: Endpoint(url).port)
            connection.send(refused.sent)
            _ = await connection.read { $0.contains("\r\n\r\n") }
            _ = try await server.waitForEntry(matching: RequestLogFilter { $0.status = refused.status })
            connection.vanish()
        }
        let counters = metrics.counters.filter { $0.label == "signet.refusals" }
        let counted = counters.flatMap(\.dimensions).map(\.1)
        #expect(counted == [reason].compactMap(\.self))
    }

    @Test("A connection that a client closes in the middle of a head is not in the request log")
    func incompleteHeadIsNotLogged() async throws {
        try await Self.serve(ServerLimits()) { port, server in
            let connection = try RawHTTPConnection(port: port)
            connection.send("GET /am/hea")
            connection.endSending()
            _ = await connection.read { _ in false }
            #expect(server.requestLog.entries.isEmpty)
            connection.vanish()
        }
    }

    @Test("A head that is too large behind a pipelined request is refused after the response to that request")
    func largePipelinedHeadIsRefusedInOrder() async throws {
        try await Self.serve(\.maxHeaderSize, 4096) { port in
            let connection = try RawHTTPConnection(port: port)
            let large = "GET /am/health HTTP/1.1\r\nX: \(String(repeating: "x", count: 5000))\r\n\r\n"
            connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n" + large)
            let text = await connection.read { _ in false }
            #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("{}HTTP/1.1 431"), "\(text)")
            connection.vanish()
        }
    }

    @Test(
        "Data that is not HTTP gets 400, in the head and in the body of a request",
        arguments: [
            "GARBAGE\r\n\r\n",
            "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ])
    func invalidHTTPGets400(request: String) async throws {
        try await Self.serve(\.headerTimeout, 10) { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send(request)
            let answer = await connection.read { _ in false }
            #expect(answer.hasPrefix("HTTP/1.1 400"))
            connection.vanish()
        }
    }

    @Test("The server closes an idle connection after the idle timeout")
    func closesIdleConnection() async throws {
        try await Self.serve(\.idleTimeout, 1) { port in
            let connection = try RawHTTPConnection(port: port)
            connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = await connection.read { _ in false }
            #expect(answer.hasSuffix("{}"))
            connection.vanish()
        }
    }

    @Test("A connection beyond the maximum waits until another connection ends")
    func limitsConnections() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 2
        try await Self.serve(limits) { port, server in
            let request = "GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let first = [try RawHTTPConnection(port: port), try RawHTTPConnection(port: port)]
            for connection in first {
                connection.send(request)
                let answer = await connection.read { $0.hasSuffix("{}") }
                #expect(answer.hasPrefix("HTTP/1.1 200"))
            }
            let third = try RawHTTPConnection(port: port)
            third.send("GET /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // The first two connections are answered meanwhile, many times, and the third one is not.
            for round in 0..<100 {
                first[round % 2].send(request)
                let nextAnswer = await first[round % 2].read { $0.hasSuffix("{}") }
                #expect(nextAnswer.hasPrefix("HTTP/1.1 200"))
            }
            let paths = server.requestLog.entries.compactMap { $0.request?.path }
            #expect(!paths.contains("/am/json/authenticate"))
            first[0].vanish()
            let answer = await third.read { $0.contains("\r\n\r\n") }
            #expect(answer.hasPrefix("HTTP/1.1 "))
            _ = try await server.waitForEntry(matching: RequestLogFilter { $0.path = "/am/json/authenticate" })
            for connection in [first[1], third] { connection.vanish() }
        }
    }

    @Test("Connections that take the last place are counted in the metrics, and the first one is in the request log")
    func reportsFullServer() async throws {
        let metrics = TestMetrics()
        let configuration = ServerConfiguration.sample {
            $0.limits.maxConnections = 1
            $0.port = 0
        }
        let server = DevServer(configuration: configuration, clock: SystemWallClock(), logger: .silent, metrics: metrics)
        try await server.serve { url in
            for _ in 0..<2 {
                // The second connection waits until the server has noticed the end of the first one.
                let connection = try RawHTTPConnection(port: Endpoint(url).port)
                connection.send("GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = await connection.read { $0.hasSuffix("{}") }
                #expect(answer.hasPrefix("HTTP/1.1 200"))
                connection.vanish()
            }
        }
        #expect(metrics.total("signet.connections.full") == 2)
        let hasRefusal = metrics.counters.contains { $0.label == "signet.refusals" }
        #expect(!hasRefusal)
        let entries = server.requestLog.entries.compactMap(\.request).filter { $0.status == 0 }
        #expect(entries.map(\.problem) == ["The maximum of 1 connections is open; further ones wait"])
        #expect(entries.map(\.path) == ["-"])
    }

    @Test("The server counts the connections that it can't accept, and logs one a minute, so that it doesn't seem to hang")
    func warnsOfRefusedConnections() async {
        let log = RecordingLog()
        let metrics = TestMetrics()
        let server = DevServer(configuration: .sample(), clock: ManualClock(), logger: log.logger, metrics: metrics)
        let handler = server.context.acceptErrorLog
        let error = IOError(errnoCode: EMFILE, reason: "accept")
        let start = NIODeadline.now()
        for second in 0...60 { handler.report(error, at: start + .seconds(Int64(second))) }
        let warnings = log.lines.split(separator: "\n").filter { $0.contains("can't be accepted") }
        #expect(warnings.count == 2)
        for warning in warnings {
            #expect(warning.hasPrefix("warning a connection can't be accepted") && warning.contains("errno"))
        }
        #expect(metrics.total("signet.refusals", [("reason", "notAccepted")]) == 61)
        let entries = server.requestLog.entries.compactMap(\.request)
        #expect(entries.map(\.status) == [0, 0])
        let areExplained = entries.allSatisfy { $0.problem?.hasPrefix("A connection can't be accepted") == true }
        #expect(areExplained)
        await server.close()
    }
}
