#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

/// The notifications in a real notification server, on a screen in memory.
@Suite(
    "Notifications in dunst",
    .enabled(if: NotificationDaemon.missingPrograms.isEmpty, "not installed: \(NotificationDaemon.missingPrograms)"))
struct DunstTests {
    private func notice(_ id: Int, _ kind: PushKind) -> PushNotice {
        let message = PushMessage(
            mechanismUID: "1", challenge: [1, 2, 3], kind: kind, timeToLive: 600, sentAt: nil, text: "Login attempt")
        let notification = PushNotification(
            messageID: "AUTHENTICATE:\(id)", message: message, receivedAt: SystemWallClock().now, clockOffset: 0)
        return PushNotice(for: notification, issuer: "Acme", accountName: "mira")
    }

    /// Runs `body` with dunst, and with notifications whose time the test moves.
    private func with(_ body: (NotificationDaemon, DesktopNotifications, ManualTime) async throws -> Void) async throws {
        try await MessageBus.with { bus in
            try await NotificationDaemon.with(bus) { dunst in
                let time = ManualTime()
                let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
                let notifications = try await DesktopNotifications.start(connection, now: { time.now })
                let isFound = try await eventually { await notifications.server?.name.hasPrefix("dunst ") == true }
                #expect(isFound)
                try await body(dunst, notifications, time)
                await notifications.stop()
            }
        }
    }

    @Test("A push message is shown by dunst until one of its buttons is chosen")
    func dunstAnswersPush() async throws {
        try await with { dunst, notifications, time in
            let capabilities = await notifications.server?.capabilities
            #expect(capabilities?.hasActions == true)
            #expect(capabilities?.hasBody == true)
            try await notifications.show(notice(1, .number(choices: [34, 56, 82])), for: "a")
            let isDisplayed = try await eventually { try await dunst.shownCount == 1 }
            #expect(isDisplayed)

            time.advance(by: .seconds(2))
            try await dunst.choose("56")
            let event = await next(of: notifications.events)
            #expect(event == .answered(id: "a", .number(56)))
            let isGone = try await eventually { try await dunst.shownCount == 0 }
            #expect(isGone)
        }
    }

    @Test("Two messages with the same text are shown by dunst as two notifications")
    func dunstShowsEqualMessages() async throws {
        try await with { dunst, notifications, _ in
            for id in [1, 2] { try await notifications.show(notice(id, .tap), for: "\(id)") }
            let areDisplayed = try await eventually { try await dunst.shownCount == 2 }
            #expect(areDisplayed)
        }
    }
}
#endif
