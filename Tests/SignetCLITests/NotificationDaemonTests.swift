#if os(Linux)
import Foundation
import SignetCore
import SignetDesktop
import SignetTesting
import TestSupport
import Testing

@testable import signet

/// The agent at a server of logins, on a desktop with a real notification server.
@Suite(
    "signet agent with dunst", .timeLimit(.minutes(5)),
    .enabled(if: NotificationDaemon.missingPrograms.isEmpty, "not installed: \(NotificationDaemon.missingPrograms)"))
struct NotificationDaemonTests {
    /// A user at the login page, the vault, the agent that listens for the user's logins, and the screen.
    private struct Desktop {
        let server: RunningServer
        let cli: CommandLineFixture
        let agent: RunningAgent
        let dunst: NotificationDaemon

        /// The states of all messages, the latest first.
        var states: [String] {
            get async throws {
                try await agent.signet("push", "list", "--all", "--json").succeeds().jsonLines.compactMap { $0["state"]?.string }
            }
        }

        /// Waits until so many notifications are on the screen.
        func shows(_ count: Int) async throws -> Bool {
            try await eventually { try await dunst.shownCount == count }
        }

        /// Chooses a button, and waits until the message has another state than `pending`.
        /// - Returns: The state of the latest message.
        func choose(_ label: String) async throws -> String? {
            _ = try await eventually {
                // No answer counts in the first second. A busy agent notices late that the notification is on the screen, and then
                // shows it again after the answer.
                try await Task.sleep(for: DesktopNotifications.guardTime + .milliseconds(300))
                if try await dunst.shownCount == 1 { try await dunst.choose(label) }
                return try await states.first != "pending"
            }
            return try await states.first
        }
    }

    /// Runs `body` with an account that takes push messages.
    private func withDesktop(_ options: String..., body: (Desktop) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            try await RunningServer.with(cli, options) { server in
                try await server.registerForPush(cli)
                try await MessageBus.with { bus in
                    try await NotificationDaemon.with(bus) { dunst in
                        let none = "unix:path=\(cli.directory.file("no-bus"))"
                        let agent = try await RunningAgent.start(
                            cli, desktop: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": none])
                        try await body(Desktop(server: server, cli: cli, agent: agent, dunst: dunst))
                        await agent.process.stop()
                    }
                }
            }
        }
    }

    @Test(
        "A login is shown by dunst, and the button that the user chooses there approves or denies it",
        arguments: [("Approve", "approved"), ("Deny", "denied")])
    func answersLoginInDunst(label: String, state: String) async throws {
        try await withDesktop { desktop in
            let login = try await desktop.server.browser.begin("PushLogin")
            let isShown = try await desktop.shows(1)
            #expect(isShown)
            let user = desktop.server.browser.user
            let isDescribed = try await eventually {
                let text = desktop.dunst.output
                return text.contains("Login request: Signet") && text.contains("Account: \(user)")
            }
            #expect(isDescribed, "\(desktop.dunst.output)")
            let chosen = try await desktop.choose(label)
            #expect(chosen == state)
            let isGone = try await desktop.shows(0)
            #expect(isGone)
            let isLoggedIn = try await desktop.server.refusal(of: login) == nil
            #expect(isLoggedIn == (state == "approved"))
        }
    }

    @Test("The number of the login page, chosen in dunst, approves the login")
    func choosesNumberInDunst() async throws {
        try await withDesktop { desktop in
            let login = try await desktop.server.browser.begin("PushNumberLogin")
            let number = try #require(try Browser.step(login).hiddenValue("pushChallengeNumber"))
            let isShown = try await desktop.shows(1)
            #expect(isShown)
            let (chosen, refusal) = (try await desktop.choose(number), try await desktop.server.refusal(of: login))
            #expect(chosen == "approved" && refusal == nil)
        }
    }

    @Test("A notification in dunst is closed when its login expires, and the agent continues")
    func closesExpiredInDunst() async throws {
        try await withDesktop("--push-timeout", "5") { desktop in
            _ = try await desktop.server.browser.begin("PushLogin")
            let (isShown, isClosed) = (try await desktop.shows(1), try await desktop.shows(0))
            #expect(isShown && isClosed)
            let states = try await desktop.states
            #expect(states == ["expired"])
            _ = try await desktop.server.browser.begin("PushLogin")
            let isNextShown = try await desktop.shows(1)
            #expect(isNextShown)
        }
    }

    @Test("A dunst that is started again shows the logins that wait, and an answer in a terminal closes them")
    func showsAgainInNextDunst() async throws {
        try await withDesktop { desktop in
            for _ in 0..<2 { _ = try await desktop.server.browser.begin("PushLogin") }
            let areShown = try await desktop.shows(2)
            #expect(areShown)
            try await desktop.dunst.restart()
            let areShownAgain = try await desktop.shows(2)
            #expect(areShownAgain)
            for line in try await desktop.agent.signet("push", "list", "--json").succeeds().jsonLines {
                let id = try #require(line["id"]?.string)
                try await desktop.agent.signet("push", "approve", id).succeeds()
            }
            let areClosed = try await desktop.shows(0)
            #expect(areClosed)
        }
    }
}
#endif
