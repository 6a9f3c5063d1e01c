#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

private let missing = MessageBus.missingPrograms

@Suite("Notifications of the desktop", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct DesktopNotificationsTests {
    private static let clock = ManualClock(Date(timeIntervalSince1970: 1_735_689_600))

    private func notice(
        _ kind: PushKind = .tap, issuer: String = "Acme", text: String = "Login attempt", timeToLive: Int = 3600
    ) -> PushNotice {
        let message = PushMessage(
            mechanismUID: "1", challenge: [1, 2, 3], kind: kind, timeToLive: timeToLive, sentAt: nil, text: text)
        let notification = PushNotification(
            messageID: "AUTHENTICATE:\(issuer)", message: message, receivedAt: Self.clock.now, clockOffset: 0)
        return PushNotice(for: notification, issuer: issuer, accountName: nil)
    }

    /// Runs a test with a scripted server, and a client whose time the test moves.
    private func with(
        capabilities: [String] = ["actions", "body", "body-markup"],
        _ body: (MessageBus, ScriptedNotifications, DesktopNotifications, ManualTime) async throws -> Void
    ) async throws {
        try await MessageBus.with { bus in
            let server = try await ScriptedNotifications.start(bus, capabilities: capabilities)
            let time = ManualTime()
            let notifications = try await start(bus, time)
            try await body(bus, server, notifications, time)
            await notifications.stop()
            server.stop()
        }
    }

    private func start(_ bus: MessageBus, _ time: ManualTime) async throws -> DesktopNotifications {
        let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
        return try await DesktopNotifications.start(connection, clock: Self.clock, now: { time.now })
    }

    @Test("A notice is shown with its buttons, hints and time, and its answer closes it")
    func showsNotice() async throws {
        try await with { _, server, notifications, time in
            try await notifications.show(notice(.number(choices: [34, 56, 82])), for: "a")
            let shown = try #require(server.log.shown.first)
            #expect(shown.summary == "Login request: Acme")
            #expect(shown.body.hasPrefix("Login attempt\nTime: "))
            #expect(shown.body.hasSuffix("\nChoose the number that the login page shows."))
            #expect(shown.actions == ["number-34", "34", "number-56", "56", "number-82", "82", "deny", "Deny"])
            #expect(shown.replaces == 0)
            #expect(shown.timeout == 3_600_000)
            #expect(shown.hints["urgency"] == .byte(2))
            #expect(shown.hints["category"] == .string("x-signet.login"))
            #expect(shown.hints["sound-name"] == .string("message-new-instant"))
            #expect(shown.hints["transient"] == .boolean(false))
            #expect(shown.hints["resident"] == .boolean(true))

            time.advance(by: .seconds(1))
            try server.press("number-56", on: shown.number)
            let event = await next(of: notifications.events)
            #expect(event == .answered(id: "a", .number(56)))
            let isClosed = try await eventually { server.log.closed == [shown.number] }
            #expect(isClosed)
        }
    }

    @Test("The server's name and abilities are asked first")
    func asksServerFirst() async throws {
        try await with(capabilities: ["body", "icon-static"]) { _, server, notifications, _ in
            let found = await notifications.server
            #expect(found?.name == "Scripted 1.0")
            #expect(found?.capabilities == NotificationCapabilities(["body"]))
            try await notifications.show(notice(), for: "a")
            let shown = try #require(server.log.shown.first)
            #expect(shown.actions.isEmpty)
            #expect(shown.body.contains("Approve: signet push approve "))
        }
    }

    @Test("An answer in the first second does not count, and a server that closes its notification shows it again")
    func earlyAnswerDoesNotCount() async throws {
        try await with { _, server, notifications, time in
            try await notifications.show(notice(), for: "a")
            let first = try #require(server.log.shown.first).number
            time.advance(by: .milliseconds(999))
            try server.press("approve", on: first)
            try server.dismiss(first)
            let isShownAgain = try await eventually {
                let isConfirmed = await notifications.isShown("a")
                return server.log.shown.count == 2 && isConfirmed
            }
            #expect(isShownAgain)
            let second = try #require(server.log.shown.last)
            #expect(second.number != first)
            // The first second begins again.
            time.advance(by: .seconds(1))
            try server.press("deny", on: second.number)
            let event = await next(of: notifications.events)
            #expect(event == .answered(id: "a", .deny))
        }
    }

    @Test("After an early answer, a notification that stays takes an answer later")
    func earlyAnswerLeavesNotification() async throws {
        try await with { _, server, notifications, time in
            try await notifications.show(notice(), for: "a")
            try await notifications.show(notice(issuer: "Other"), for: "b")
            let numbers = server.log.shown.map(\.number)
            try #require(numbers.count == 2)
            try server.press("approve", on: numbers[0])
            // The end of the other one shows that the early answer was received.
            try server.dismiss(numbers[1])
            let closed = await next(of: notifications.events)
            #expect(closed == .closed(id: "b", .dismissed))
            time.advance(by: .seconds(2))
            try server.press("approve", on: numbers[0])
            let answered = await next(of: notifications.events)
            #expect(answered == .answered(id: "a", .approve))
        }
    }

    @Test("An answer of another program does not count, also when it names the notification")
    func forgedAnswerDoesNotCount() async throws {
        try await with { bus, server, notifications, time in
            try await notifications.show(notice(), for: "a")
            let number = try #require(server.log.shown.first).number
            time.advance(by: .seconds(2))
            let other = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let names = try await other.call(.busCall("ListNames")).body.first?.strings ?? []
            for name in names where name.hasPrefix(":") {
                try other.send(ScriptedNotifications.action("approve", number, to: name))
            }
            try other.send(ScriptedNotifications.action("approve", number))
            // The bus has passed the signals on when it answers.
            _ = try await other.call(.busCall("GetId"))
            try server.press("deny", on: number)
            let event = await next(of: notifications.events)
            #expect(event == .answered(id: "a", .deny))
        }
    }

    @Test("Buttons that were not shown, unknown numbers and second answers have no effect")
    func ignoresOtherSignals() async throws {
        try await with { _, server, notifications, time in
            try await notifications.show(notice(), for: "a")
            try await notifications.show(notice(issuer: "Other"), for: "b")
            let numbers = server.log.shown.map(\.number)
            try #require(numbers.count == 2)
            time.advance(by: .seconds(2))
            try server.press("number-1", on: numbers[0])
            try server.press("default", on: numbers[0])
            try server.press("approve", on: 4711)
            try server.press("approve", on: 0)
            try server.press("approve", on: numbers[0])
            try server.press("deny", on: numbers[0])
            try server.press("deny", on: numbers[1])
            let first = await next(of: notifications.events)
            #expect(first == .answered(id: "a", .approve))
            let second = await next(of: notifications.events)
            #expect(second == .answered(id: "b", .deny))
        }
    }

    @Test("A notice with the same id takes the place of the earlier one")
    func replacesNotice() async throws {
        try await with { _, server, notifications, _ in
            try await notifications.show(notice(), for: "a")
            try await notifications.show(notice(.number(choices: []), issuer: "Other"), for: "a")
            let shown = server.log.shown
            try #require(shown.count == 2)
            #expect(shown[1].replaces == shown[0].number)
            #expect(shown[1].summary == "Login request: Other")
            #expect(shown[1].actions.isEmpty)
        }
    }

    /// A notification server that shows the first one late, after `body`, and then is asked to close it.
    private func closesLate(
        _ body: (DesktopNotifications, Task<Void, any Error>) async throws -> Void
    ) async throws {
        try await MessageBus.with { bus in
            let server = try await ScriptedService.start(bus, DesktopNotifications.busName) { call in
                switch call.member ?? "" {
                case "GetCapabilities": call.reply([.strings(["actions", "body"])])
                case "GetServerInformation": call.reply([.string("Late"), .string(""), .string("1"), .string("1.2")])
                case "Notify": nil
                default: call.reply()
                }
            }
            let notifications = try await start(bus, ManualTime())
            let notice = notice()
            let showing = Task { try await notifications.show(notice, for: "a") }
            let isAsked = try await eventually { !server.calls(of: "Notify").isEmpty }
            try #require(isAsked)
            try await body(notifications, showing)
            let call = try #require(server.calls(of: "Notify").first)
            try server.connection.send(call.reply([.uint32(9)]))
            let isClosed = try await eventually { server.calls(of: "CloseNotification").contains { $0.body == [.uint32(9)] } }
            #expect(isClosed)
            await notifications.stop()
            server.stop()
        }
    }

    @Test("A notification that its server shows only after all were closed is closed too, and nothing more is shown")
    func closesLateNotification() async throws {
        try await closesLate { notifications, _ in
            await notifications.stop()
            let code = await failureCode { try await notifications.show(notice(), for: "b") }
            #expect(code == .closed)
        }
    }

    @Test("A notification whose task is canceled before its server has shown it can still be closed")
    func closesNotificationOfCanceledTask() async throws {
        try await closesLate { notifications, showing in
            showing.cancel()
            await notifications.close("a")
        }
    }

    @Test("A notification is closed when its message expires, and when a call closes it")
    func closesNotifications() async throws {
        try await with { _, server, notifications, _ in
            try await notifications.show(notice(), for: "a")
            try await notifications.show(notice(issuer: "Other", timeToLive: 0), for: "b")
            let event = await next(of: notifications.events)
            #expect(event == .closed(id: "b", .expired))
            await notifications.close("a")
            await notifications.close("unknown")
            let numbers = server.log.shown.map(\.number)
            let areClosed = try await eventually { Set(server.log.closed) == Set(numbers) }
            #expect(areClosed)
        }
    }

    @Test(
        "The reason of a closed notification is reported",
        arguments: [
            (1, .expired), (2, .dismissed), (3, .closed), (4, .undefined), (99, .undefined),
        ] as [(UInt32, DesktopNotifications.ClosingReason)])
    func reportsClosingReason(number: UInt32, reason: DesktopNotifications.ClosingReason) async throws {
        try await with { _, server, notifications, _ in
            try await notifications.show(notice(), for: "a")
            let shown = try #require(server.log.shown.first)
            try server.dismiss(shown.number, reason: number)
            let event = await next(of: notifications.events)
            #expect(event == .closed(id: "a", reason))
        }
    }

    @Test("A server that starts later, or again, shows what is waiting, and the buttons of the earlier one no longer count")
    func followsServer() async throws {
        try await MessageBus.with { bus in
            let time = ManualTime()
            let notifications = try await start(bus, time)
            let none = await notifications.server
            #expect(none == nil)
            try await notifications.show(notice(), for: "a")

            let first = try await ScriptedNotifications.start(bus)
            let isShown = try await eventually { await notifications.isShown("a") }
            #expect(isShown)
            first.stop()
            let isGone = try await eventually { await notifications.server == nil }
            #expect(isGone)

            let second = try await ScriptedNotifications.start(bus, capabilities: ["body"])
            let isShownAgain = try await eventually { await notifications.isShown("a") }
            #expect(isShownAgain)
            let shown = try #require(second.log.shown.first)
            #expect(shown.replaces == 0)
            #expect(shown.actions.isEmpty)
            // This server showed no buttons, so none can be pressed.
            time.advance(by: .seconds(2))
            try second.press("approve", on: shown.number)
            try second.dismiss(shown.number)
            let event = await next(of: notifications.events)
            #expect(event == .closed(id: "a", .dismissed))
            await notifications.stop()
            second.stop()
        }
    }

    @Test("More notifications than a user can read are refused")
    func limitsNotifications() async throws {
        try await with { _, server, notifications, _ in
            for number in 0..<DesktopNotifications.maxShown { try await notifications.show(notice(), for: "\(number)") }
            let code = await failureCode { try await notifications.show(notice(), for: "one more") }
            #expect(code == .limit)
            try await notifications.show(notice(), for: "0")
            #expect(server.log.shown.count == DesktopNotifications.maxShown + 1)
        }
    }

    @Test("The end of the bus ends the events")
    func endOfBusEndsEvents() async throws {
        try await MessageBus.with { bus in
            let server = try await ScriptedNotifications.start(bus)
            let notifications = try await start(bus, ManualTime())
            try await notifications.show(notice(), for: "a")
            await bus.stop()
            // The bus may still report that the server has gone, which causes no event.
            let event = await next(of: notifications.events)
            #expect(event == nil)
            server.stop()
        }
    }
}
#endif
