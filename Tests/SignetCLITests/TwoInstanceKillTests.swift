#if PostgreSQL
import Foundation
import SignetCore
import SignetNetwork
import Testing
import TestSupport

/// Two instances of `signet serve` on one PostgreSQL database, and many users that log in by push at both of them.
///
/// A hundred logins by default; with `SIGNET_KILLS=all` (`make kills`) a thousand.
@Suite(
    "Two server instances on one database", .tags(.slow), .serialized,
    .enabled(if: PostgresServer.isPossible, "there is no PostgreSQL server to start (scripts/setup)"))
struct TwoInstanceKillTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["SIGNET_KILLS"] == "all"
    private static let logins = isExhaustive ? 1000 : 100
    private static let userCount = 8

    @Test("Logins whose requests alternate between or reach both instances are neither lost nor counted twice")
    func alternatesBetweenInstances() async throws {
        try await InstancePair.with(userCount: Self.userCount) { pair in
            let accepted = AcceptedState()
            let users = try await logInAll(at: pair, accepted, twice: true)
            #expect(await accepted.restarts == 0)
            let sessions = await accepted.sessions
            #expect(sessions.count == Self.logins && Set(sessions).count == Self.logins)
            for user in users { #expect(await user.repeatedDeliveries == 0) }
            try await check(accepted, at: pair)
        }
    }

    @Test(
        "When one of two instances is killed, the other finishes the logins and keeps all confirmed state", arguments: [0, 1])
    func survivesKilledInstance(victim: Int) async throws {
        try await InstancePair.with(userCount: Self.userCount) { pair in
            let accepted = AcceptedState(at: (Self.logins / 2, { pair.kill(victim) }))
            _ = try await logInAll(at: pair, accepted, twice: false)
            try #require(pair.isKilled(victim))
            #expect(await pair.instances[victim].process.end().status == -SIGKILL)
            // The requests in flight to the killed instance, one of each user at the most.
            #expect(await accepted.restarts <= Self.userCount)
            let sessions = await accepted.sessions
            #expect(Set(sessions).count == sessions.count)
            try await check(accepted, at: pair)
            if Self.isExhaustive {
                let figures = "\(await accepted.logins) logins, \(await accepted.restarts) begun again"
                print("SIGNET_KILLS: \(figures)")
            }
        }
    }

    /// Registers all users, and distributes the logins among them.
    private func logInAll(at pair: InstancePair, _ accepted: AcceptedState, twice: Bool) async throws -> [PushUser] {
        var users: [PushUser] = []
        for number in 0..<Self.userCount { users.append(try await PushUser.registered(number, at: pair, accepted)) }
        try await withThrowingTaskGroup(of: Void.self) { listeners in
            for user in users { listeners.addTask { try await user.listen() } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, user) in users.enumerated() {
                    group.addTask {
                        for login in stride(from: number, to: Self.logins, by: Self.userCount) {
                            try await user.logIn(login, twice: twice)
                        }
                    }
                }
                try await group.waitForAll()
            }
            listeners.cancelAll()
        }
        #expect(await accepted.logins == Self.logins)
        return users
    }

    /// Asks the instances still running for all confirmed state.
    private func check(_ accepted: AcceptedState, at pair: InstancePair) async throws {
        let alive = [0, 1].filter { !pair.isKilled($0) }
        let (sessions, tokens, answers) = (await accepted.sessions, await accepted.accessTokens, await accepted.answers)
        for (index, session) in sessions.enumerated() {
            let path = "/json/realms/root/sessions?_action=validate&tokenId=\(session)"
            let reply = try #require(
                try await pair.send(
                    "POST", path, headers: [("Content-Type", "application/json")], body: "{}", at: alive[index % alive.count]))
            #expect(reply.json["valid"] == .bool(true), "\(reply.text)")
        }
        for (index, token) in tokens.enumerated() {
            let reply = try #require(
                try await pair.send(
                    "GET", "/oauth2/realms/root/userinfo", headers: [("Authorization", "Bearer \(token)")],
                    at: alive[index % alive.count]))
            #expect(reply.status == 200 && reply.json["sub"]?.string?.hasPrefix("user") == true, "\(reply.text)")
        }
        #expect(Set(answers.map(\.messageID)).count == answers.count)
        for (index, answer) in answers.enumerated() {
            let body = JSON.text(of: PushRequestBody(messageId: answer.messageID, jwt: answer.jwt))
            let reply = try #require(
                try await pair.send(
                    "POST", "/json/realms/root/push/sns/message?_action=authenticate",
                    headers: [("Content-Type", "application/json")], body: body, at: alive[index % alive.count]))
            #expect(reply.status == 200, "an accepted answer is unknown: \(reply.text)")
        }
    }
}
#endif
