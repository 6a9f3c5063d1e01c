#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

private let missing = Programs.missing(["Xvfb", "dunst", "dunstctl", "dbus-send"]) + MessageBus.missingPrograms

/// The notifications in a real server of notifications, on a screen in memory.
@Suite("Notifications in dunst", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct DunstTests {
    private static let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

    /// A dunst with its own screen and home directory.
    private struct Dunst {
        let environment: [String: String]
        private let screen: TestProcess
        private let daemon: TestProcess

        init(_ bus: MessageBus, in directory: TemporaryDirectory) async throws {
            screen = try TestProcess.kept(
                "Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
                environment: ["PATH": DunstTests.searchPath, "HOME": directory.path])
            let display = try await screen.waitForOutput { output, _ in output.hasSuffix("\n") }.line
            environment = [
                "PATH": DunstTests.searchPath, "HOME": directory.path, "DISPLAY": ":\(display)", "LC_ALL": "C.UTF-8",
                "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path,
            ]
            // dunst lets the user choose a button with a program that gets a line for each, and prints the chosen one.
            let menu = directory.file("menu")
            try Data("#!/bin/sh\ngrep --max-count=1 \"$(cat \"$0.choice\")\"\n".utf8).write(to: URL(filePath: menu))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: menu)
            let settings = "[global]\n    dmenu = \(menu)\n    monitor = 0\n"
            try Data(settings.utf8).write(to: URL(filePath: directory.file("dunstrc")))
            daemon = try TestProcess.kept("dunst", ["-conf", directory.file("dunstrc")], environment: environment)
        }

        func control(_ arguments: String...) async throws -> String {
            try await TestProcess.run("dunstctl", arguments, environment: environment).line
        }

        func stop() async {
            await daemon.stop()
            await screen.stop()
        }
    }

    @Test("A push message is shown by dunst until one of its buttons is chosen")
    func dunstAnswersPush() async throws {
        try await TemporaryDirectory.with { directory in
            try await MessageBus.with { bus in
                let dunst = try await Dunst(bus, in: directory)
                let time = ManualTime()
                let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
                let notifications = try await DesktopNotifications.start(connection, now: { time.now })
                let isFound = try await eventually { await notifications.server?.name.hasPrefix("dunst ") == true }
                #expect(isFound)
                let capabilities = await notifications.server?.capabilities
                #expect(capabilities?.hasActions == true)
                #expect(capabilities?.hasBody == true)

                let message = PushMessage(
                    mechanismUID: "1", challenge: [1, 2, 3], kind: .number(choices: [34, 56, 82]), timeToLive: 600, sentAt: nil,
                    text: "Login attempt")
                let notification = PushNotification(
                    messageID: "AUTHENTICATE:1", message: message, receivedAt: SystemWallClock().now, clockOffset: 0)
                try await notifications.show(
                    PushNotice(for: notification, issuer: "Acme", accountName: "mira"), for: "a")
                let isDisplayed = try await eventually { try await dunst.control("count", "displayed") == "1" }
                #expect(isDisplayed)

                time.advance(by: .seconds(2))
                try Data("^#56 ".utf8).write(to: URL(filePath: directory.file("menu.choice")))
                _ = try await dunst.control("context")
                let event = await next(of: notifications.events)
                #expect(event == .answered(id: "a", .number(56)))
                let isGone = try await eventually { try await dunst.control("count", "displayed") == "0" }
                #expect(isGone)
                await notifications.stop()
                await dunst.stop()
            }
        }
    }
}
#endif
