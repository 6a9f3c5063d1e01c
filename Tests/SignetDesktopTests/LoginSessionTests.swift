#if os(Linux)
import Foundation
import Glibc
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

private let missing = MessageBus.missingPrograms

/// A logind that a test plays.
private final class ScriptedLogind: Sendable {
    static let session = "/org/freedesktop/login1/session/_31"

    let service: ScriptedService
    /// The reading end of a pipe whose other end is the inhibitor lock.
    private let lock: DBusDescriptor

    private init(_ service: ScriptedService, _ lock: DBusDescriptor) {
        self.service = service
        self.lock = lock
    }

    /// Starts it.
    /// - Parameters:
    ///   - bus: The bus.
    ///   - lookups: The methods and arguments that find the session; all others fail.
    /// - Returns: The logind.
    /// - Throws: ``DBusError``.
    static func start(_ bus: MessageBus, _ lookups: [String: DBusValue]) async throws -> ScriptedLogind {
        var ends: [Int32] = [-1, -1]
        let isMade = pipe(&ends) == 0
        try #require(isMade)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let lock = DBusDescriptor(owning: ends[0])
        // The service has its end until the first lock is taken.
        let writing = Mutex<DBusDescriptor?>(DBusDescriptor(owning: ends[1]))
        let service = try await ScriptedService.start(bus, LoginSession.busName) { call in
            switch call.member ?? "" {
            case "Inhibit":
                let end = writing.withLock { writing -> DBusDescriptor? in
                    defer { writing = nil }
                    return writing
                }
                guard let end else { return call.failure("org.freedesktop.DBus.Error.AccessDenied", "taken") }
                return call.reply([.handle(0)], descriptors: [end])
            case let member where lookups[member] == call.body.first && !call.body.isEmpty:
                return call.reply([.objectPath(ScriptedLogind.session)])
            default: return call.failure("org.freedesktop.login1.NoSuchSession", "no session")
            }
        }
        return ScriptedLogind(service, lock)
    }

    /// True when no process holds the inhibitor lock any more.
    var isReleased: Bool {
        var byte: UInt8 = 0
        return read(lock.number, &byte, 1) == 0
    }

    func sendSession(_ member: String) throws {
        try service.connection.send(.signal(Self.session, LoginSession.sessionInterface, member))
    }

    func sendManager(_ member: String, _ isBefore: Bool) throws {
        try service.connection.send(
            .signal(LoginSession.managerPath, LoginSession.managerInterface, member, [.boolean(isBefore)]))
    }
}

@Suite("The user's session at logind", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct LoginSessionTests {
    private func start(_ bus: MessageBus, sessionID: String? = "1") async throws -> LoginSession {
        let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
        return try await LoginSession.start(connection, sessionID: sessionID, processID: 4711)
    }

    @Test("Lock, unlock, sleep and shutdown are events, in their order")
    func reportsSessionEvents() async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, ["GetSession": .string("1")])
            let session = try await start(bus)
            let path = await session.sessionPath
            #expect(path == ScriptedLogind.session)
            try logind.sendSession("Lock")
            try logind.sendSession("Unlock")
            let events = [await next(of: session.events), await next(of: session.events)]
            #expect(events == [.lock, .unlock])
            for (member, isBefore, event) in [
                ("PrepareForSleep", true, SessionLockEvent.sleep), ("PrepareForSleep", false, .wake),
                ("PrepareForShutdown", true, .shutdown),
            ] {
                try logind.sendManager(member, isBefore)
                let reported = await next(of: session.events)
                #expect(reported == event)
            }
            await session.stop()
            let end = await next(of: session.events)
            #expect(end == nil)
            logind.service.stop()
        }
    }

    @Test("Sleep waits until the owner is ready, by a lock of the mode delay")
    func delaysSleep() async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, ["GetSession": .string("1")])
            let session = try await start(bus)
            let delays = await session.delaysSleep
            #expect(delays)
            let call = try #require(logind.service.calls(of: "Inhibit").first)
            #expect(call.body.first == .string("sleep"))
            #expect(call.body.last == .string("delay"))
            try logind.sendManager("PrepareForSleep", true)
            let event = await next(of: session.events)
            #expect(event == .sleep)
            #expect(!logind.isReleased)
            await session.readyToSleep()
            let isReleased = try await eventually { logind.isReleased }
            #expect(isReleased)
            // The lock is taken again when the machine wakes up, before the event.
            try logind.sendManager("PrepareForSleep", false)
            let wake = await next(of: session.events)
            #expect(wake == .wake)
            #expect(logind.service.calls(of: "Inhibit").count == 2)
            // This logind gives no second lock, which causes no error.
            let delaysAgain = await session.delaysSleep
            #expect(!delaysAgain)
            await session.stop()
            logind.service.stop()
        }
    }

    @Test(
        "The session is found by its id, by the process, or as that of the user's display",
        arguments: [
            (["GetSession": .string("7")], "7"), (["GetSessionByPID": .uint32(4711)], "7"),
            (["GetSessionByPID": .uint32(4711)], nil), (["GetSession": .string("auto")], nil),
            (["GetSession": .string("auto")], "7"),
        ] as [([String: DBusValue], String?)])
    func findsSession(lookups: [String: DBusValue], sessionID: String?) async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, lookups)
            let session = try await start(bus, sessionID: sessionID)
            let path = await session.sessionPath
            #expect(path == ScriptedLogind.session)
            await session.stop()
            logind.service.stop()
        }
    }

    @Test("A process without a session still learns of sleep, and nothing of the lock of another session")
    func reportsSleepWithoutSession() async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, [:])
            let session = try await start(bus)
            let path = await session.sessionPath
            #expect(path == nil)
            try logind.sendSession("Lock")
            try logind.sendManager("PrepareForSleep", true)
            let event = await next(of: session.events)
            #expect(event == .sleep)
            await session.stop()
            logind.service.stop()
        }
    }

    @Test("A logind that starts again is followed")
    func followsLogind() async throws {
        try await MessageBus.with { bus in
            let first = try await ScriptedLogind.start(bus, ["GetSession": .string("1")])
            let session = try await start(bus)
            first.service.stop()
            let isGone = try await eventually { await !session.delaysSleep }
            #expect(isGone)
            let second = try await ScriptedLogind.start(bus, ["GetSession": .string("1")])
            let isBack = try await eventually { await session.delaysSleep }
            #expect(isBack)
            try second.sendSession("Lock")
            let event = await next(of: session.events)
            #expect(event == .lock)
            await session.stop()
            second.service.stop()
        }
    }

    @Test("Without logind the session is not available")
    func reportsMissingLogind() async throws {
        try await MessageBus.with { bus in
            let code = await failureCode { _ = try await start(bus) }
            #expect(code == .unavailable)
        }
    }
}
#endif
