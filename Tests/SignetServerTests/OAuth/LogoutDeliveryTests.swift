#if os(Linux)
import Foundation
import MetricsTestKit
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The attempts to send a logout token, and what follows from the answers of the clients.
@Suite("Delivery of logout tokens", .timeLimit(.minutes(5)))
struct LogoutDeliveryTests {
    @Test("After an error the server sends the same token again, signed anew, and logs and counts each attempt")
    func retriesAfterError() async throws {
        let app = try BackChannelReceiver { $0 == 0 ? .status("500 Oh") : .status("204 No Content") }
        let (clock, metrics) = (ManualClock(), TestMetrics())
        let devServer = DevServer(
            configuration: .backChannel(["app": app]), clock: clock, logger: .silent, metrics: metrics)
        try await TestServer.run(devServer, clock: clock) { server in
            let sessions = [try await server.session(), try await server.session()]
            for session in sessions { _ = try await server.logIn("app", session) }
            try await server.logOut(sessions[0])
            let waiting = try await server.failedLogouts(1)
            #expect(waiting.map(\.nextAttempt) == [clock.now.addingTimeInterval(5)])
            server.devServer.moveClock(by: .seconds(4))
            // The search that finds the token of another session does not find this one yet.
            try await server.logOut(sessions[1])
            _ = try await app.wait(for: 2)
            let early = try await server.failedLogouts(1)
            #expect(early == waiting && app.requests.count == 2)
            server.devServer.moveClock(by: .seconds(1))
            let sent = try await app.wait(for: 3)
            try await server.finishedLogouts()
            #expect(app.requests.count == 3 && sent[0].token != sent[2].token)
            let ids = sent.map { $0.claims["jti"] }
            #expect(ids[0] == ids[2] && ids[0] != ids[1])
            let times = sent.map { $0.claims["iat"]?.lenientInteger ?? 0 }
            #expect(times[2] == times[0] + 5)
            #expect(try await server.claims(sent[2].token)["sub"] == "mira")
            let entries = server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .logout }).compactMap(\.logout)
            #expect(entries.map(\.status) == [500, 204, 204] && entries.map(\.attempt) == [1, 1, 2])
            #expect(entries[0].client == "app" && entries[0].realm == "/")
            let found = server.devServer.requestLog(
                matching: RequestLogFilter {
                    $0.status = 500
                    $0.client = .oauth("app")
                })
            #expect(found.count == 1)
            let isCounted = try await eventually { metrics.total("signet.logouts", [("outcome", "delivered")]) == 2 }
            #expect(isCounted)
        }
    }

    @Test("A waiting token is sent by the next server with the state")
    func retrySurvivesRestart() async throws {
        let app = try BackChannelReceiver { $0 == 0 ? .status("500 Oh") : .status("200 OK") }
        let clock = ManualClock()
        try await StateLocation.with(.file) { location in
            try await location.server(clock: clock, { $0.setReceivers(["app": app]) }) { server in
                let session = try await server.session()
                _ = try await server.logIn("app", session)
                try await server.logOut(session)
                _ = try await server.failedLogouts(1)
            }
            clock.advance(by: 5)
            try await location.server(clock: clock, { $0.setReceivers(["app": app]) }) { server in
                let sent = try await app.wait(for: 2)
                #expect(sent[0].claims["jti"] == sent[1].claims["jti"] && sent[1].claims["sub"] == "mira")
                try await server.finishedLogouts()
                #expect(app.requests.count == 2)
            }
        }
    }

    @Test("An attempt that the end of the server interrupts is repeated by the next server at once")
    func interruptedAttemptIsRepeated() async throws {
        let app = try BackChannelReceiver { $0 == 0 ? .silence : .status("200 OK") }
        try await StateLocation.with(.file) { location in
            try await location.server({ $0.setReceivers(["app": app]) }) { server in
                let session = try await server.session()
                _ = try await server.logIn("app", session)
                try await server.logOut(session)
                _ = try await app.wait(for: 1)
            }
            try await location.server({ $0.setReceivers(["app": app]) }) { server in
                let sent = try await app.wait(for: 2)
                #expect(sent[0].claims["jti"] == sent[1].claims["jti"])
                try await server.finishedLogouts()
            }
        }
    }

    @Test("A token that a client refuses with 400 is not sent again")
    func refusalEndsDelivery() async throws {
        let app = try BackChannelReceiver { $0 == 0 ? .status("400 Bad Request") : .status("200 OK") }
        let (clock, metrics, log) = (ManualClock(), TestMetrics(), RecordingLog())
        let devServer = DevServer(
            configuration: .backChannel(["app": app]), clock: clock, logger: log.logger, metrics: metrics)
        try await TestServer.run(devServer, clock: clock) { server in
            let sessions = [try await server.session(), try await server.session()]
            for session in sessions { _ = try await server.logIn("app", session) }
            try await server.logOut(sessions[0])
            _ = try await app.wait(for: 1)
            try await server.finishedLogouts()
            server.devServer.moveClock(by: .seconds(60))
            try await server.logOut(sessions[1])
            let sent = try await app.wait(for: 2)
            try await server.finishedLogouts()
            #expect(app.requests.count == 2 && sent[0].claims["jti"] != sent[1].claims["jti"])
            let areCounted = try await eventually {
                ["refused", "delivered"].allSatisfy { metrics.total("signet.logouts", [("outcome", $0)]) == 1 }
            }
            #expect(areCounted)
            let isLogged = try await eventually { log.lines.contains("a client refused a logout token") }
            #expect(isLogged && !log.lines.contains(sent[0].token))
        }
    }

    @Test(
        "After ten failed attempts within the hour the server gives up, and it follows no redirect",
        arguments: ["302 Found", "404 Not Found", "503 Service Unavailable"])
    func givesUpAfterTenAttempts(status: String) async throws {
        let app = try BackChannelReceiver { _ in .status(status) }
        let log = RecordingLog()
        try await TestServer.run(.backChannel(["app": app]), logger: log.logger) { server in
            let session = try await server.session()
            _ = try await server.logIn("app", session)
            let began = server.devServer.clock.now
            try await server.logOut(session)
            for attempt in 1..<LogoutDelivery.maxAttempts {
                let waiting = try await server.failedLogouts(attempt)
                let pause = waiting[0].nextAttempt.timeIntervalSince(server.devServer.clock.now)
                #expect(pause == 5 * Double(1 << (attempt - 1)))
                server.devServer.moveClock(by: .seconds(pause))
            }
            try await server.finishedLogouts()
            let lines = app.requests.map(\.line)
            #expect(lines == [String](repeating: "POST /logout?a=b HTTP/1.1", count: LogoutDelivery.maxAttempts))
            #expect(server.devServer.clock.now.timeIntervalSince(began) < LogoutDelivery.lifetime)
            let isLogged = try await eventually { log.lines.contains("could not be delivered") }
            #expect(isLogged && log.lines.contains(String(status.prefix(3))))
        }
    }

    @Test("A token whose hour is over is not sent")
    func expiredTokenIsNotSent() async throws {
        let app = try BackChannelReceiver { _ in .status("500 Oh") }
        let log = RecordingLog()
        try await TestServer.run(.backChannel(["app": app]), logger: log.logger) { server in
            let session = try await server.session()
            _ = try await server.logIn("app", session)
            try await server.logOut(session)
            _ = try await server.failedLogouts(1)
            server.devServer.moveClock(by: .seconds(LogoutDelivery.lifetime))
            try await server.finishedLogouts()
            let isLogged = try await eventually { log.lines.contains("a logout token expired") }
            #expect(isLogged && app.requests.count == 1)
        }
    }

    @Test("Of several workers that share a state, one sends a token")
    func oneOfSeveralWorkersSends() async throws {
        let app = try BackChannelReceiver()
        try await TestServer.run(.backChannel(["app": app])) { server in
            let context = server.devServer.context
            let worker = LogoutDeliveryWorker(server: context, transport: context.logoutTransport)
            let name = try #require(try await server.storeLogouts(1).first).rowName
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { await worker.deliver(name) } }
            }
            try await server.finishedLogouts()
            let ids = app.requests.map { $0.claims["jti"]?.string }
            #expect(ids == ["0"])
        }
    }

    @Test("A restored snapshot's tokens are sent at once, although a worker had claimed them")
    func restoredTokensAreSent() async throws {
        let app = try BackChannelReceiver()
        try await TestServer.run(.backChannel(["app": app])) { server in
            try await server.storeLogouts(1, claim: DispatchClaim(holder: "gone", end: .distantFuture))
            let snapshot = try await server.devServer.snapshot()
            try await server.devServer.restore(snapshot)
            #expect(try await app.wait(for: 1)[0].claims["jti"] == "0")
        }
    }

    // MARK: Answers

    @Test(
        "The status of a client's answer decides, although its body stalls, breaks off or is large",
        arguments: BackChannelReceiver.Body.allCases, [200, 500])
    func bodyOfAnswerIsIgnored(body: BackChannelReceiver.Body, status: Int) async throws {
        let app = try BackChannelReceiver { _ in .body("\(status) Oh", body) }
        try await TestServer.run(.backChannel(["app": app])) { server in
            try await server.storeLogouts(1)
            if status == 200 { try await server.finishedLogouts() } else { _ = try await server.failedLogouts(1) }
            let entries = server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .logout }).compactMap(\.logout)
            #expect(entries.map(\.status) == [status] && app.requests.count == 1)
        }
    }

    @Test("A token for an address that is not valid is not sent, and the server warns at once")
    func invalidAddressEndsDelivery() async throws {
        let (clock, metrics, log) = (ManualClock(), TestMetrics(), RecordingLog())
        let configuration = ServerConfiguration.sample { $0.clients[0].backchannelLogoutURI = "http://app.example.test/out" }
        let devServer = DevServer(configuration: configuration, clock: clock, logger: log.logger, metrics: metrics)
        try await TestServer.run(devServer, clock: clock) { server in
            try await server.storeLogouts(1)
            let isLogged = try await eventually { log.lines.contains("the backchannelLogoutURI of the client is not valid") }
            #expect(isLogged)
            try await server.finishedLogouts()
            let isCounted = try await eventually { metrics.total("signet.logouts", [("outcome", "failed")]) == 1 }
            #expect(isCounted)
            let entries = server.devServer.requestLog(matching: RequestLogFilter { $0.kind = .logout })
            #expect(entries.isEmpty)
        }
    }

    // MARK: A client that does not answer

    @Test("The stop of a server does not wait for a client that does not answer, and the next server can send its tokens")
    func stopDoesNotWaitForClient() async throws {
        let app = try BackChannelReceiver { _ in .silence }
        let end = Mutex(ContinuousClock.now)
        try await StateLocation.with(.file) { location in
            try await location.server({ $0.setReceivers(["app": app]) }) { server in
                try await server.storeLogouts(40)
                _ = try await app.wait(for: LogoutSchedule.maxConcurrentDeliveriesPerClient)
                end.withLock { $0 = .now }
            }
            // The timeout of an attempt is ten seconds.
            let duration = ContinuousClock.now - end.withLock { $0 }
            #expect(duration < .seconds(8))
            try await location.server { server in
                let waiting = try await server.waitingLogouts()
                let areFree = waiting.allSatisfy { $0.claim == nil && $0.failures == 0 }
                #expect(waiting.count == 40 && areFree)
            }
        }
    }

    @Test("A client that does not answer does not delay the tokens of another client")
    func silentClientDelaysNoOther() async throws {
        let (app, other) = (try BackChannelReceiver { _ in .silence }, try BackChannelReceiver())
        try await TestServer.run(.backChannel(["app": app, "other": other])) { server in
            let session = try await server.session()
            _ = try await server.logIn("other", session)
            try await server.storeLogouts(40)
            _ = try await app.wait(for: LogoutSchedule.maxConcurrentDeliveriesPerClient)
            try await server.logOut(session)
            _ = try await other.wait(for: 1)
            #expect(app.requests.count == LogoutSchedule.maxConcurrentDeliveriesPerClient)
        }
    }

    @Test("More tokens than one search reads are all sent, each once")
    func sendsTokensOfSeveralSearches() async throws {
        let app = try BackChannelReceiver()
        let count = 2 * LogoutDeliveryStore.pageSize + 20
        try await TestServer.run(.backChannel(["app": app])) { server in
            try await server.storeLogouts(count)
            _ = try await app.wait(for: count)
            try await server.finishedLogouts()
            let ids = Set(app.requests.compactMap { $0.claims["jti"]?.string })
            #expect(ids.count == count && app.requests.count == count)
        }
    }
}
#endif
