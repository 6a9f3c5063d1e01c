#if os(Linux)
import SignetCore
import TestSupport

@testable import SignetDesktop

/// A notification server that shows nothing, and whose user is the test.
final class ScriptedNotifications: Sendable {
    /// A call of `Notify`.
    struct Shown: Sendable {
        let number: UInt32
        let replaces: UInt32
        let summary: String
        let body: String
        let actions: [String]
        let hints: [String: DBusValue]
        let timeout: Int32
    }

    /// The requests to the server.
    final class Log: Sendable {
        private struct State {
            var last: UInt32 = 0
            var shown: [Shown] = []
            var closed: [UInt32] = []
        }

        private let state = Mutex(State())

        var shown: [Shown] { state.withLock { $0.shown } }
        var closed: [UInt32] { state.withLock { $0.closed } }

        fileprivate func show(_ body: [DBusValue]) -> UInt32 {
            state.withLock { state in
                let replaces = body[1].uint32 ?? 0
                if replaces == 0 { state.last += 1 }
                let number = replaces == 0 ? state.last : replaces
                state.shown.append(
                    Shown(
                        number: number, replaces: replaces, summary: body[3].string ?? "", body: body[4].string ?? "",
                        actions: body[5].strings ?? [], hints: body[6].options ?? [:], timeout: body[7].int32 ?? -1))
                return number
            }
        }

        fileprivate func close(_ number: UInt32) { state.withLock { $0.closed.append(number) } }
    }

    let log: Log
    private let service: ScriptedService

    private init(_ log: Log, _ service: ScriptedService) {
        self.log = log
        self.service = service
    }

    /// Starts a server with these capabilities.
    static func start(
        _ bus: MessageBus, capabilities: [String] = ["actions", "body", "body-markup"]
    ) async throws -> ScriptedNotifications {
        let log = Log()
        let service = try await ScriptedService.start(bus, DesktopNotifications.busName) { call in
            switch call.member ?? "" {
            case "GetCapabilities": return call.reply([.strings(capabilities)])
            case "GetServerInformation":
                return call.reply([.string("Scripted"), .string("Signet"), .string("1.0"), .string("1.2")])
            case "Notify" where call.body.count == 8: return call.reply([.uint32(log.show(call.body))])
            case "CloseNotification":
                log.close(call.body.first?.uint32 ?? 0)
                return call.reply()
            default: return call.unknownMethod
            }
        }
        return ScriptedNotifications(log, service)
    }

    /// Presses the button with a key.
    func press(_ key: String, on number: UInt32) throws {
        try service.connection.send(Self.action(key, number))
    }

    /// Closes a notification for a reason of the specification.
    func dismiss(_ number: UInt32, reason: UInt32 = 2) throws {
        try service.connection.send(
            .signal(
                DesktopNotifications.path, DesktopNotifications.busName, "NotificationClosed",
                [.uint32(number), .uint32(reason)]))
    }

    func stop() { service.stop() }

    /// The signal for a pressed button.
    static func action(_ key: String, _ number: UInt32, to destination: String? = nil) -> DBusMessage {
        .signal(
            DesktopNotifications.path, DesktopNotifications.busName, "ActionInvoked", [.uint32(number), .string(key)],
            to: destination)
    }
}
#endif
