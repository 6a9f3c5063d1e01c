import Foundation
import HTTPTypes
import HummingbirdTesting
import InMemoryTracing
import Logging
import MetricsTestKit
import SignetCore
import SignetPushGateway
import SignetTesting
import TestSupport
import Testing
import Tracing

@testable import SignetServer

@Suite("Metrics and traces")
struct TelemetryTests {
    /// Runs a server in this process whose metrics and spans a test can read.
    private static func run(
        _ configuration: ServerConfiguration = .sample(),
        _ body: @Sendable (TestServer, TestMetrics, InMemoryTracer) async throws -> Void
    ) async throws {
        let (clock, metrics, tracer) = (ManualClock(), TestMetrics(), InMemoryTracer())
        let server = DevServer(configuration: configuration, clock: clock, logger: .silent, metrics: metrics, tracer: tracer)
        try await TestServer.run(server, clock: clock) { server in try await body(server, metrics, tracer) }
    }

    @Test("Logins are counted by journey and outcome, and a request with an existing session is not counted")
    func countsLogins() async throws {
        try await Self.run(.sample { $0.limits.lockout = Lockout(failures: 2) }) { server, metrics, _ in
            func count(_ outcome: String, _ journey: String = "Login") -> Int64 {
                metrics.total("signet.logins", [("journey", journey), ("outcome", outcome)])
            }
            let session = try await server.session()
            _ = try await server.send(
                .post, TestServer.authenticate, headers: ["iPlanetDirectoryPro": session, "Content-Type": "application/json"],
                body: "{}")
            #expect(count("success") == 1)
            for _ in 0..<3 { _ = try await server.logIn("Login", password: "wrong") }
            #expect(count("failure") == 2 && count("lockedOut") == 1)
            #expect(metrics.total("signet.lockouts") == 1)
            #expect(metrics.total("signet.refusals", [("reason", "lockedOut")]) == 1)
            _ = try await server.logIn("Failure", name: "noa", password: "staple")
            #expect(count("failure", "Failure") == 1)
            let step = try await server.start("Login").step
            server.clock.advance(by: 400)
            #expect(try await server.next(step).status == 401)
            #expect(count("timeout") == 1)
        }
    }

    @Test("Push messages are counted by event, tokens by grant, and refusals by reason")
    func countsPushMessagesAndTokens() async throws {
        try await Self.run { server, metrics, _ in
            func count(_ event: String) -> Int64 { metrics.total("signet.pushes", [("event", event)]) }
            let phone = try await server.registeredPhone()
            let (_, push) = try await server.waitingLogin(phone: phone)
            #expect(count("sent") == 1)
            #expect(try await phone.send(push.messageID, "x.y.z", at: server).status == 400)
            for _ in 0..<2 { #expect(try await phone.answer(push, at: server).status == 200) }
            let (_, other) = try await server.waitingLogin(phone: phone)
            #expect(try await phone.answer(other, ["deny": .bool(true)], at: server).status == 200)
            #expect(count("approved") == 1 && count("denied") == 1 && count("refused") == 1 && count("sent") == 2)

            let tokens = try await server.tokens()
            _ = try await server.refresh(try #require(tokens.refresh))
            for grant in ["authorization_code", "refresh_token"] {
                #expect(metrics.total("signet.tokens", [("grant", grant)]) == 1)
            }
            let large = String(repeating: "x", count: 300_000)
            #expect(try await server.send(.post, TestServer.authenticate, body: large).status == 413)
            #expect(metrics.total("signet.refusals", [("reason", "bodyTooLarge")]) == 1)
        }
    }

    @Test("Requests have metrics by route and status, without user names, tokens or unknown names in the labels")
    func labelsHaveNoSecrets() async throws {
        try await Self.run { server, metrics, tracer in
            let session = try await server.session()
            let secrets = ["mira", session, "made-up", "GARBLE", "/alpha", "s3cret"]
            for path in [
                "/am/json/users/mira/devices/2fa/push/made-up?_queryFilter=true", "/am/json/sessions/\(session)", "/am/made-up",
                "/am/json/made-up", "/am/oauth2/made-up", "/am/XUI/made-up?x=s3cret",
                "/am/json/realms/alpha/authenticate?a=s3cret",
                "/am/console/made-up",
            ] {
                for method in [HTTPRequest.Method.get, .post, HTTPRequest.Method("GARBLE")].compactMap({ $0 }) {
                    _ = try await server.send(method, path, headers: ["iPlanetDirectoryPro": session, "User-Agent": "made-up"])
                }
            }
            let labels = metrics.timers.filter { $0.label == "http.server.request.duration" }.map { "\($0.dimensions)" }
            let allLabels = labels.joined(separator: "\n")
            #expect(allLabels.contains("/json/users/*/devices/2fa/*/*") && allLabels.contains("_OTHER"))
            let spans = tracer.finishedSpans.map { "\($0.operationName) \($0.attributes)" }
            #expect(spans.count >= 24)
            for text in labels + spans {
                for secret in secrets { #expect(!text.contains(secret), "\(text)") }
            }
        }
    }

    @Test("A push message to SNS is counted as sent, one published at the gateway is not, and the gateway is a route")
    func countsMessagesOfPushGateway() async throws {
        let sns = try StandInSNS()
        let configuration = ServerConfiguration.sample {
            $0.sns = sns.configuration
            $0.pushGateway = PushGatewayConfiguration(keys: [Sender.key])
        }
        try await Self.run(configuration) { server, metrics, _ in
            let phone = try await server.registeredPhone()
            _ = try await server.waitingLogin(phone: phone)
            let (sender, inbox) = (Sender(), try PushGatewayTests.inbox())
            let arn = try await sender.endpoint(inbox.address, at: server)
            let reply = try await sender.publish(PushDelivery(messageId: "1", message: "a"), to: arn, at: server)
            #expect(reply.status == 200 && reply.header("Cache-Control") == "no-store")
            #expect(metrics.total("signet.pushes", [("event", "sent")]) == 1)
            let requests = metrics.timers.filter { $0.label == "http.server.request.duration" }
            let isTimed = requests.contains { timer in timer.dimensions.contains { $0 == ("http.route", "push gateway") } }
            #expect(isTimed)
        }
    }

    @Test("A request is a span below the caller's span, with the route and status as attributes")
    func tracesRequests() async throws {
        try await Self.run { server, _, tracer in
            var headers = ["Content-Type": "application/json"]
            headers[InMemoryTracer.traceIDKey] = "trace-1"
            headers[InMemoryTracer.spanIDKey] = "span-1"
            _ = try await server.send(.post, TestServer.authenticate, headers: headers, body: "{}")
            let span = try #require(tracer.finishedSpans.last)
            #expect(span.operationName == "POST /json/authenticate" && span.kind == .server)
            #expect(span.context.inMemorySpanContext?.traceID == "trace-1")
            #expect(span.context.inMemorySpanContext?.parentSpanID == "span-1")
            #expect(span.attributes.get("http.route") == "/json/authenticate")
            #expect(span.attributes.get("http.response.status_code") == 200)
        }
    }
}

extension TestMetrics {
    /// Returns the sum of the counters that have exactly this label and these dimensions.
    func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int64 {
        counters.lazy
            .filter { $0.label == label && $0.dimensions.elementsEqual(dimensions, by: ==) }
            .reduce(0) { $0 + $1.totalValue }
    }
}
