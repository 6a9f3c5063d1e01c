import Foundation
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Pipelined requests", .timeLimit(.minutes(10)))
struct PipelineTests {
    private static let request = "GET /am/health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("A request is answered while other connections have thousands of pipelined requests, which are all answered")
    func answersOthersMeanwhile() async throws {
        // At least two connections for each event loop, and 24,000 requests in all.
        let connectionCount = max(8, 2 * ProcessInfo.processInfo.activeProcessorCount)
        let requestCount = 24_000 / connectionCount
        try await TestServer.live(.sample()) { server in
            let port = try Endpoint(server.url).port
            let connections = try (0..<connectionCount).map { _ in try RawHTTPConnection(port: port) }
            let other = try RawHTTPConnection(port: port)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for connection in connections {
                    group.addTask {
                        let last = "GET /am/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                        connection.send(String(repeating: Self.request, count: requestCount - 1) + last)
                        let text = await connection.read { _ in false }
                        return text.components(separatedBy: "HTTP/1.1 200 OK").count - 1
                    }
                }
                // The pipelined requests have begun.
                _ = try await server.devServer.waitForEntry(matching: RequestLogFilter { $0.path = "/am/health" })
                other.send("GET /am/XUI/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = await other.read { $0.contains("</html>") }
                // The log has one entry for each answered request, so this compares the order of the answers and no times.
                let answeredCount = server.devServer.requestLog.last
                #expect(answer.hasPrefix("HTTP/1.1 200"))
                #expect(
                    answeredCount < connectionCount * requestCount / 4,
                    "\(answeredCount) requests were answered before the one of another connection")
                for try await answers in group { #expect(answers == requestCount) }
            }
            for connection in connections + [other] { connection.vanish() }
        }
    }

    @Test("Requests that end in the middle of a piece, and bodies behind other requests, are answered in order")
    func answersMixedRequests() async throws {
        try await TestServer.live(.sample()) { server in
            let connection = try RawHTTPConnection(port: try Endpoint(server.url).port)
            let body = "{\"x\":\"\(String(repeating: "y", count: 5000))\"}"
            let post =
                "POST /am/json/authenticate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                + "\(body.utf8.count)\r\n\r\n\(body)"
            connection.send(String(repeating: Self.request + post, count: 20))
            connection.endSending()
            let text = await connection.read { _ in false }
            let kinds = text.components(separatedBy: "HTTP/1.1 200 OK").dropFirst().map { $0.contains("authId") }
            let expected = (0..<40).map { $0 % 2 == 1 }
            #expect(kinds == expected, "\(text.prefix(2000))")
            connection.vanish()
        }
    }
}
