import Foundation
import SignetCore
import SignetDesktop
import TestSupport

/// The agent with twenty push accounts at a server: what it takes while no message comes, and how soon a message is a notification.
enum AgentPushRows {
    private static let idleMemory = "signet agent with 20 push streams, idle memory"
    private static let idleTime = "signet agent with 20 push streams, idle processor time"
    private static let delay = "from a login at the server to the notification of its push message"
    private static let accounts = 20
    /// The time in which the agent opens its streams, and the time for which it is idle then.
    private static let (settling, idling) = (Duration.seconds(10), Duration.seconds(30))

    static func measure(signet: String) async throws -> [Row] {
        guard MessageBus.missingPrograms.isEmpty else {
            return [idleMemory, idleTime, delay].map { .skipped($0, because: "there is no dbus-daemon") }
        }
        return try await MessageBus.with { bus in try await measure(signet, bus) }
    }

    private static func measure(_ signet: String, _ bus: MessageBus) async throws -> [Row] {
        let vault = try SampleVault(signet: signet)
        defer { vault.remove() }
        let configuration = vault.directory + "/server.yaml"
        try vault.write([Self.configuration], to: configuration)
        let server = try MeasuredServer(signet, ["--config", configuration])
        return try await LoadClient.with { client in
            let login = DevServerLogin(server: LoadedServer(server, client))
            for number in 0..<accounts { try await enroll("user\(number)", login, vault) }
            let notifications = try await SilentNotifications.start(bus)
            defer { notifications.stop() }
            // Without a system bus the agent looks for one once a minute.
            let agent = try await SampleAgent(
                vault, [],
                ["DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(vault.directory)/none"])
            defer { agent.stop() }
            let idle = try await idle(agent)
            // A message for each account shows that all streams are open.
            let delays = try await delays(login, notifications)
            try server.stop()
            return [
                Row(idleMemory, of: "signet agent", idle.mebibytes, atMost: 40, "MiB"),
                Row(idleTime, of: "signet agent", idle.percent, atMost: 0.1, "%"),
                Row(delay, of: "signet agent", delays.median, atMost: 200, "ms"),
            ]
        }
    }

    /// Journeys without a password, whose check would take most of a login's time.
    private static var configuration: String {
        """
        server: {pushTimeout: 3600}
        users:
        \((0..<accounts).map { "  - {name: user\($0), password: correct horse}" }.joined(separator: "\n"))
        journeys:
          PushRegistration:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: register}}
              register:
                type: PushRegistrationNode
                generateRecoveryCodes: false
                outcomes: {successOutcome: success, default: failure}
          PushLogin:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: send}}
              send: {type: PushAuthenticationSenderNode, outcomes: {SENT: wait, NOT_REGISTERED: failure}}
              wait: {type: PushWaitNode, outcomes: {DONE: verify}}
              verify:
                type: PushResultVerifierNode
                outcomes: {TRUE: success, FALSE: failure, EXPIRED: failure, WAITING: wait}
        """
    }

    /// Enrolls a user's push account in the vault.
    private static func enroll(_ user: String, _ login: DevServerLogin, _ vault: SampleVault) async throws {
        let step = try JSON.decode(JourneyStep.self, from: JSON.encode(try await login.run("PushRegistration", as: user)))
        guard let uri = step.hiddenValue("mfaDeviceRegistration") else { throw BenchError("the journey offers no registration") }
        let file = vault.directory + "/invitation"
        try vault.write([uri], to: file)
        try vault.start(["enroll", "-"], input: .file(file)).wait()
    }

    private static func idle(_ agent: SampleAgent) async throws -> (mebibytes: Double, percent: Double) {
        try await Task.sleep(for: settling)
        let (begin, before) = (ContinuousClock.now, try ProcessUsage.processorTime(of: agent.identifier))
        try await Task.sleep(for: idling)
        let used = try ProcessUsage.processorTime(of: agent.identifier) - before
        let share = used / (ContinuousClock.now - begin)
        return (try ProcessUsage.residentMebibytes(of: agent.identifier), share * 100)
    }

    /// Measures for each account the time from the beginning of a login to its notification, in milliseconds.
    ///
    /// The server sends the message in between, so the time since then is shorter.
    private static func delays(_ login: DevServerLogin, _ notifications: SilentNotifications) async throws -> [Double] {
        var times: [Double] = []
        for number in 0..<accounts {
            let begin = ContinuousClock.now
            guard try await login.run("PushLogin", as: "user\(number)")["authId"] != nil else {
                throw BenchError("a login does not wait for its push message")
            }
            times.append((try await notifications.dismissed(number) - begin) / .milliseconds(1))
        }
        return times
    }
}

/// A notification service that shows nothing: it notes when a notification arrives, and dismisses it, as a user does.
private struct SilentNotifications {
    private let service: ScriptedService
    private let arrivals: Mutex<[ContinuousClock.Instant]>

    private static let name = "org.freedesktop.Notifications"

    /// Starts the service on a bus.
    static func start(_ bus: MessageBus) async throws -> SilentNotifications {
        let arrivals = Mutex<[ContinuousClock.Instant]>([])
        let service = try await ScriptedService.start(bus, name) { call in
            let arrival = ContinuousClock.now
            switch call.member ?? "" {
            case "GetCapabilities": return call.reply([.strings(["actions", "body"])])
            case "GetServerInformation": return call.reply(["signet-bench", "Signet", "1.0", "1.2"].map { .string($0) })
            case "Notify":
                let number = arrivals.withLock { arrivals in
                    arrivals.append(arrival)
                    return UInt32(arrivals.count)
                }
                return call.reply([.uint32(number)])
            case "CloseNotification": return call.reply()
            default: return call.unknownMethod
            }
        }
        return SilentNotifications(service: service, arrivals: arrivals)
    }

    /// Ends the service.
    func stop() { service.stop() }

    /// Returns the time at which a notification arrived, and dismisses it.
    /// - Parameter number: The number of notifications before it.
    /// - Returns: The time.
    /// - Throws: ``BenchError`` when it does not arrive in half a minute.
    func dismissed(_ number: Int) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if let arrival = arrivals.withLock({ $0.count > number ? $0[number] : nil }) {
                // The agent must have its reply first. The reason 2 means that the user has dismissed the notification.
                try await Task.sleep(for: .milliseconds(50))
                let values: [DBusValue] = [.uint32(UInt32(number + 1)), .uint32(2)]
                try service.connection.send(
                    .signal("/org/freedesktop/Notifications", Self.name, "NotificationClosed", values))
                return arrival
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw BenchError("a push message was not shown")
    }
}
