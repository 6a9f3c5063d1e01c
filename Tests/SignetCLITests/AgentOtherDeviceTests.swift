#if os(Linux)
import Foundation
import SignetCore
import SignetDesktop
import SignetJourney
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// The agent's notifications, when another device of the user answers the login at a real server.
@Suite(
    "signet agent beside another device", .timeLimit(.minutes(5)),
    .enabled(if: MessageBus.missingPrograms.isEmpty, "not installed: \(MessageBus.missingPrograms)"))
struct AgentOtherDeviceTests {
    /// Runs `body` with an agent whose user has a second device, as a copy of the vault.
    private func withTwoDevices(
        _ body: (RunningServer, RunningAgent, _ other: CommandLineFixture, ScriptedService) async throws -> Void
    ) async throws {
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli) { server in
                try await server.registerForPush(cli)
                try await CommandLineFixture.with(vault: false) { other in
                    try FileManager.default.copyItem(atPath: cli.home, toPath: other.home)
                    try await MessageBus.with { bus in
                        let desktop = try await ScriptedService.notificationServer(bus)
                        let agent = try await RunningAgent.start(cli, desktop: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
                        try await body(server, agent, other, desktop)
                        await agent.process.stop()
                        desktop.stop()
                    }
                }
            }
        }
    }

    private func listenOnce(_ cli: CommandLineFixture) async throws -> String {
        let heard = try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds()
        return try #require(heard.json["id"]?.string)
    }

    @Test(
        "A notification is closed when another device has answered, and the message is not stored as answered",
        arguments: ["approve", "deny"])
    func closesAnsweredElsewhere(answer: String) async throws {
        try await withTwoDevices { server, agent, other, desktop in
            let login = try await server.browser.begin("PushLogin")
            let isShown = try await eventually { desktop.calls(of: "Notify").count == 1 }
            #expect(isShown && desktop.calls(of: "CloseNotification").isEmpty)
            let body = desktop.calls(of: "Notify").first.map { "\($0.body)" } ?? ""
            #expect(body.contains("127.0.0.1"))
            let id = try await listenOnce(other)
            try await other.signet("push", answer, id).succeeds()
            let isClosed = try await eventually { desktop.calls(of: "CloseNotification").first?.body == [.uint32(1)] }
            #expect(isClosed)
            let states = try await agent.cli.messages().compactMap { $0["state"]?.string }
            #expect(states == ["pending"])
            #expect(try await (server.refusal(of: login) == nil) == (answer == "approve"))
        }
    }

    @Test("Of two logins only the notification of the answered one is closed")
    func keepsOtherNotification() async throws {
        try await withTwoDevices { server, agent, other, desktop in
            _ = try await server.browser.begin("PushLogin")
            let isShown = try await eventually { desktop.calls(of: "Notify").count == 1 }
            #expect(isShown)
            let id = try await listenOnce(other)
            _ = try await server.browser.begin("PushLogin")
            let areShown = try await eventually { desktop.calls(of: "Notify").count == 2 }
            #expect(areShown)
            try await other.signet("push", "approve", id).succeeds()
            let isClosed = try await eventually { !desktop.calls(of: "CloseNotification").isEmpty }
            #expect(isClosed)
            // The agent also closes what has ended in its own vault, every five seconds: the second message has not.
            try await Task.sleep(for: .seconds(6))
            #expect(desktop.calls(of: "CloseNotification").map(\.body) == [[.uint32(1)]])
            withExtendedLifetime(agent) {}
        }
    }
}
#endif
