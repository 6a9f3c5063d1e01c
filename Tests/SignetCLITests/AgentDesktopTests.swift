#if os(Linux)
import AgentWire
import Foundation
import SignetCore
import SignetDesktop
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// The agent with programs of a desktop, which the tests simulate on a message bus.
@Suite(
    "signet agent on a desktop", .timeLimit(.minutes(5)),
    .enabled(if: MessageBus.missingPrograms.isEmpty, "not installed: \(MessageBus.missingPrograms)"))
struct AgentDesktopTests {
    /// Runs `body` with a vault that has an account at a push server.
    private func withPush(_ body: (FakePushServer, CommandLineFixture) async throws -> Void) async throws {
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            try await body(server, cli)
        }
    }

    /// Stores a biometric message in the vault, and returns its ID.
    private func biometricMessage(_ server: FakePushServer, _ cli: CommandLineFixture) async throws -> String {
        server.send(try server.message(id: "M1", kind: .biometric), id: "1")
        let message = try await cli.signet("push", "listen", "--once", "--json", "--timeout", "30").succeeds().json
        return try #require(message["id"]?.string)
    }

    // MARK: The user's presence

    /// Starts a polkit that asks the user, who is recognized or not.
    private func polkit(_ bus: MessageBus, recognizes: Bool) async throws -> ScriptedService {
        try await ScriptedService.start(bus, "org.freedesktop.PolicyKit1") { call in
            guard call.member == "CheckAuthorization", call.body.count == 5 else { return call.unknownMethod }
            let asks = call.body[3] == .uint32(1)
            return call.reply([.structure([.boolean(asks && recognizes), .boolean(!asks), .texts([:])])])
        }
    }

    /// The process that a call of `CheckAuthorization` names.
    private func subject(_ call: DBusMessage) -> [String: DBusValue] {
        guard let fields = call.body.first?.fields, fields.first == .string("unix-process") else { return [:] }
        return fields.last?.options ?? [:]
    }

    @Test("The agent approves a biometric message after polkit has asked about the process of the command")
    func approvesAfterPolkit() async throws {
        try await withPush { server, cli in
            let id = try await biometricMessage(server, cli)
            try await MessageBus.with { bus in
                let polkit = try await polkit(bus, recognizes: true)
                let agent = try await RunningAgent.start(cli, "--no-push", desktop: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
                let command = try cli.start(["push", "approve", id, "--json"], environment: agent.environment)
                let outcome = try await command.end().succeeds()
                #expect(outcome.json["state"]?.string == "approved")
                #expect(!outcome.errors.contains("simulated"))
                #expect(server.answers.count == 1)
                let subjects = polkit.calls(of: "CheckAuthorization").map(subject)
                #expect(subjects.count == 2)
                for subject in subjects {
                    #expect(subject["pid"] == .uint32(UInt32(command.identifier)))
                    #expect(subject["uid"] == .int32(Int32(bitPattern: getuid())))
                    let hasStartTime = if case .uint64(let time)? = subject["start-time"] { time > 0 } else { false }
                    #expect(hasStartTime)
                }
                await agent.process.stop()
                polkit.stop()
            }
        }
    }

    @Test("A client that says nothing about the user gets no biometric approval, whether polkit refuses or is not there")
    func refusesApprovalWithoutPresence() async throws {
        try await withPush { server, cli in
            let id = try await biometricMessage(server, cli)
            try await MessageBus.with { bus in
                let polkit = try await polkit(bus, recognizes: false)
                for address in [bus.address, "unix:path=\(cli.directory.file("no-bus"))"] {
                    let agent = try await RunningAgent.start(cli, "--no-push", desktop: ["DBUS_SYSTEM_BUS_ADDRESS": address])
                    guard case .failure(let failure) = try agent.reply(to: "approve", [id, ""]) else {
                        Issue.record("the agent approved the message")
                        return
                    }
                    #expect(failure.exit == 77 && failure.code == "agent.presence")
                    try await agent.signet("push", "approve", id).fails(77, "polkit", "SIGNET_AGENT=off")
                    await agent.process.stop()
                }
                polkit.stop()
            }
            #expect(server.answers.isEmpty)
            let states = try await cli.messages().compactMap { $0["state"]?.string }
            #expect(states == ["pending"])
        }
    }

    @Test("With --simulate-biometric a command does not ask the agent, which simulates nothing")
    func simulatesWithoutAgent() async throws {
        try await withPush { server, cli in
            let id = try await biometricMessage(server, cli)
            let none = "unix:path=\(cli.directory.file("no-bus"))"
            let agent = try await RunningAgent.start(cli, "--no-push", desktop: ["DBUS_SYSTEM_BUS_ADDRESS": none])
            let outcome = try await agent.signet("push", "approve", id, "--simulate-biometric").succeeds()
            #expect(outcome.errors.contains("simulated") && server.answers.count == 1)
            await agent.process.stop()
        }
    }

    @Test(
        "The start time of a process is found behind a name with spaces and parentheses",
        arguments: [
            ("7 (signet) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 8211 1 1", 8211),
            ("7 (a) S 1 (b)) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 12 1 1", 12), ("7 (signet) S 1 7", nil), ("", nil),
        ] as [(String, UInt64?)])
    func findsStartTime(status: String, time: UInt64?) {
        #expect(AgentPeer.startTime(in: status) == time)
    }

    // MARK: Notifications

    @Test("A message is shown while the vault is unlocked, and its notification is closed until the vault is unlocked again")
    func closesNotificationsWhenLocked() async throws {
        try await withPush { server, cli in
            try await MessageBus.with { bus in
                let desktop = try await ScriptedService.notificationServer(bus)
                let agent = try await RunningAgent.start(cli, desktop: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
                server.send(try server.message(id: "M1", text: "Log in?"), id: "1")
                try await expectNotification(desktop, agent)
                await agent.process.stop()
                desktop.stop()
            }
        }
    }

    @Test("A notification is closed at once when a command answers its login through the agent", arguments: ["approve", "deny"])
    func closesNotificationOfAnswer(command: String) async throws {
        try await withPush { server, cli in
            try await MessageBus.with { bus in
                let desktop = try await ScriptedService.notificationServer(bus)
                let agent = try await RunningAgent.start(cli, desktop: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
                server.send(try server.message(id: "M1", text: "Log in?"), id: "1")
                let isShown = try await eventually { !desktop.calls(of: "Notify").isEmpty }
                #expect(isShown)
                let id = try await agent.signet("push", "list", "--json").succeeds().json["id"]?.string
                try await agent.signet("push", command, try #require(id)).succeeds()
                // The agent reads the messages again every five seconds.
                let isClosed = try await eventually(within: .seconds(3)) {
                    desktop.calls(of: "CloseNotification").first?.body == [.uint32(1)]
                }
                #expect(isClosed && server.answers.count == 1)
                await agent.process.stop()
                desktop.stop()
            }
        }
    }

    @Test("Without a session bus the agent says once why it prints push messages, and prints each of them")
    func saysWhyNothingIsShown() async throws {
        try await withPush { server, cli in
            let none = "unix:path=\(cli.directory.file("no-bus"))"
            let agent = try await RunningAgent.start(cli, desktop: ["DBUS_SESSION_BUS_ADDRESS": none])
            for number in 1...2 {
                server.send(try server.message(id: "M\(number)", text: "Login \(number)?"), id: "\(number)")
            }
            let outcome = try await agent.process.waitForOutput { _, errors in
                errors.contains("Login 1?") && errors.contains("Login 2?") && errors.contains("printed here")
            }
            #expect(outcome.errors.matches(of: #/push messages are printed here, not shown as notifications: ./#).count == 1)
            await agent.process.stop()
        }
    }

    // MARK: logind

    /// Starts a logind that knows no session, which is enough for sleep, and points the path of the system bus to its bus.
    private func logind(_ bus: MessageBus, _ path: String) async throws -> ScriptedService {
        let service = try await ScriptedService.start(bus, "org.freedesktop.login1") { $0.unknownMethod }
        let socket = bus.address.trimmingPrefix("unix:path=")
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: String(socket))
        return service
    }

    @Test("After the system bus has ended the agent says so once, and follows logind at the next bus")
    func followsNextSystemBus() async throws {
        try await CommandLineFixture.with { cli in
            let path = cli.directory.file("system-bus")
            let agent = try await MessageBus.with { bus in
                let first = try await logind(bus, path)
                let agent = try await RunningAgent.start(
                    cli, "--no-push", desktop: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"])
                let isFollowed = try await eventually { !first.calls(of: "Inhibit").isEmpty }
                #expect(isFollowed)
                return agent
            }
            let warning = "the vault is not locked with the session or before sleep: the system bus has ended"
            try await agent.process.waitForOutput { _, errors in errors.contains(warning) }
            try await MessageBus.with { bus in
                let next = try await logind(bus, path)
                try await expectLock(before: next, agent)
            }
            await agent.process.stop()
        }
    }

    /// Expects that the agent follows a logind, and locks the vault when it reports sleep.
    private func expectLock(before logind: ScriptedService, _ agent: RunningAgent) async throws {
        let isFollowed = try await eventually { !logind.calls(of: "Inhibit").isEmpty }
        #expect(isFollowed)
        let outcome = try await agent.process.waitForOutput { _, errors in errors.contains("before sleep again") }
        #expect(outcome.errors.matches(of: #/not locked with the session/#).count == 1)
        let sleep = DBusMessage.signal(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", [.boolean(true)])
        try logind.connection.send(sleep)
        let isLocked = try await eventually {
            guard case .result(let fields) = try agent.reply(to: "status") else { return false }
            return fields.first == Array("locked-session".utf8)
        }
        #expect(isLocked)
    }

    /// Expects that a notification is shown, closed when the vault is locked, and shown when it is unlocked.
    private func expectNotification(_ desktop: ScriptedService, _ agent: RunningAgent) async throws {
        let isShown = try await eventually { !desktop.calls(of: "Notify").isEmpty }
        #expect(isShown)
        #expect(desktop.calls(of: "Notify").first?.body[3] == .string("Login request: Harbor"))
        #expect(desktop.calls(of: "CloseNotification").isEmpty)
        try await agent.signet("lock").succeeds()
        let isClosed = try await eventually { desktop.calls(of: "CloseNotification").first?.body == [.uint32(1)] }
        #expect(isClosed && desktop.calls(of: "Notify").count == 1)
        try await agent.signet("unlock").succeeds()
        let isShownAgain = try await eventually { desktop.calls(of: "Notify").count == 2 }
        #expect(isShownAgain)
    }
}
#endif
