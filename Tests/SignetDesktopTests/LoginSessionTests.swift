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
    static let user = "/org/freedesktop/login1/user/_1000"

    /// The answers of a logind, which a test changes.
    struct Answers: Sendable {
        /// The methods and arguments that find the session.
        var lookups: [String: DBusValue] = [:]
        /// The properties of sessions by their objects; those of other sessions cannot be read.
        var properties: [String: [String: DBusValue]] = [:]
        /// The session of the user's display; nil for a user that logind does not know.
        var display: String?
        /// All sessions: the ID of the user, the seat, and the object.
        var sessions: [(user: UInt32, seat: String, path: String)] = []

        /// Returns the value of a reply; nil for an error.
        func value(for call: DBusMessage) -> DBusValue? {
            switch (call.member ?? "", call.body.first) {
            case ("GetAll", .string(LoginSession.sessionInterface)?):
                return properties[call.path ?? ""].map { .options($0) }
            case ("GetUser", .uint32(1000)?): return display == nil ? nil : .objectPath(ScriptedLogind.user)
            case ("Get", .string(LoginSession.userInterface)?):
                return display.map { .variant(.structure([.string("1"), .objectPath($0)])) }
            case ("ListSessions", nil):
                let entries = sessions.map { session in
                    DBusValue.structure([
                        .string("1"), .uint32(session.user), .string("mira"), .string(session.seat), .objectPath(session.path),
                    ])
                }
                return .array(of: "(susso)", entries)
            case (let member, let argument?) where lookups[member] == argument: return .objectPath(ScriptedLogind.session)
            default: return nil
            }
        }
    }

    let service: ScriptedService
    private let answers: SharedAnswers
    /// The reading end of a pipe whose other end is the inhibitor lock.
    private let lock: DBusDescriptor

    private final class SharedAnswers: Sendable {
        let value: Mutex<Answers>
        init(_ answers: Answers) { value = Mutex(answers) }
    }

    private init(_ service: ScriptedService, _ answers: SharedAnswers, _ lock: DBusDescriptor) {
        self.service = service
        self.answers = answers
        self.lock = lock
    }

    /// Starts it.
    /// - Parameters:
    ///   - bus: The bus.
    ///   - lookups: The methods and arguments that find the session.
    ///   - change: Changes the other answers.
    /// - Returns: The logind.
    /// - Throws: ``DBusError``.
    static func start(
        _ bus: MessageBus, _ lookups: [String: DBusValue], _ change: (inout Answers) -> Void = { _ in }
    ) async throws -> ScriptedLogind {
        var ends: [Int32] = [-1, -1]
        let isMade = pipe(&ends) == 0
        try #require(isMade)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let lock = DBusDescriptor(owning: ends[0])
        // The service has its end until the first lock is taken.
        let writing = Mutex<DBusDescriptor?>(DBusDescriptor(owning: ends[1]))
        var first = Answers(lookups: lookups)
        change(&first)
        let answers = SharedAnswers(first)
        let service = try await ScriptedService.start(bus, LoginSession.busName) { call in
            guard call.member == "Inhibit" else {
                let value = answers.value.withLock { $0.value(for: call) }
                return value.map { call.reply([$0]) } ?? call.failure("org.freedesktop.login1.NoSuchSession", "no session")
            }
            let end = writing.withLock { writing -> DBusDescriptor? in
                defer { writing = nil }
                return writing
            }
            guard let end else { return call.failure("org.freedesktop.DBus.Error.AccessDenied", "taken") }
            return call.reply([.handle(0)], descriptors: [end])
        }
        return ScriptedLogind(service, answers, lock)
    }

    /// Changes the answers.
    func change(_ change: (inout Answers) -> Void) { answers.value.withLock { change(&$0) } }

    /// Reports that a session began or ended.
    func sendSessionSignal(_ member: String, _ path: String = ScriptedLogind.session) throws {
        try service.connection.send(
            .signal(LoginSession.managerPath, LoginSession.managerInterface, member, [.string("1"), .objectPath(path)]))
    }

    /// Reports that the desktop has locked or unlocked the screen, with the value or without it.
    func sendLockedHint(_ isLocked: Bool, withValue: Bool = true) throws {
        change { $0.properties[Self.session, default: [:]]["LockedHint"] = .boolean(isLocked) }
        let values: [String: DBusValue] = withValue ? ["LockedHint": .boolean(isLocked)] : [:]
        try service.connection.send(
            .signal(
                Self.session, LoginSession.propertiesInterface, "PropertiesChanged",
                [.string(LoginSession.sessionInterface), .options(values), .strings(withValue ? [] : ["LockedHint"])]))
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
        return try await LoginSession.start(connection, sessionID: sessionID, processID: 4711, userID: 1000)
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

    /// Waits until a session is followed, or none.
    private func follows(_ path: String?, _ session: LoginSession) async throws -> Bool {
        try await eventually { await session.sessionPath == path }
    }

    @Test("A service of the user follows the session of the display, or else one at a seat, and none of another class")
    func findsSessionOfUser() async throws {
        try await MessageBus.with { bus in
            let other = "/org/freedesktop/login1/session/c1"
            // The process of a service is in a session of the class `manager` in some versions of systemd.
            let logind = try await ScriptedLogind.start(bus, ["GetSessionByPID": .uint32(4711)]) { answers in
                answers.properties[ScriptedLogind.session] = ["Class": .string("manager")]
                answers.display = other
            }
            let first = try await start(bus, sessionID: nil)
            let display = await first.sessionPath
            #expect(display == other)
            await first.stop()
            logind.change { answers in
                answers.display = "/"
                answers.properties["/a"] = ["Class": .string("greeter")]
                answers.sessions = [(1000, "", "/ssh"), (999, "seat0", "/b"), (1000, "seat0", "/a"), (1000, "seat0", other)]
            }
            let second = try await start(bus, sessionID: nil)
            let listed = await second.sessionPath
            #expect(listed == other)
            await second.stop()
            logind.service.stop()
        }
    }

    @Test(
        "A session that the desktop has locked before is the first event, and LockedHint is followed", arguments: [true, false])
    func readsLockedHint(withValue: Bool) async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, ["GetSession": .string("1")]) { answers in
                answers.properties[ScriptedLogind.session] = ["LockedHint": .boolean(true)]
            }
            let session = try await start(bus)
            let first = await next(of: session.events)
            #expect(first == .lock)
            for isLocked in [false, true, false] {
                try logind.sendLockedHint(isLocked, withValue: withValue)
                let event = await next(of: session.events)
                #expect(event == (isLocked ? .lock : .unlock))
            }
            await session.stop()
            logind.service.stop()
        }
    }

    @Test("A session that begins later is followed, its end is a lock, and the next session unlocks")
    func followsLaterSessions() async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, [:])
            let session = try await start(bus)
            let none = await session.sessionPath
            #expect(none == nil)
            logind.change { $0.display = ScriptedLogind.session }
            try logind.sendSessionSignal("SessionNew")
            let isFound = try await follows(ScriptedLogind.session, session)
            #expect(isFound)

            logind.change { $0.display = nil }
            try logind.sendSessionSignal("SessionRemoved")
            let end = await next(of: session.events)
            #expect(end == .lock)
            let isGone = try await follows(nil, session)
            #expect(isGone)

            logind.change { $0.display = ScriptedLogind.session }
            try logind.sendSessionSignal("SessionNew")
            let beginning = await next(of: session.events)
            #expect(beginning == .unlock)
            await session.stop()
            logind.service.stop()
        }
    }

    @Test("The end of a session over the network, or of another session, does not lock")
    func ignoresEndOfRemoteSession() async throws {
        try await MessageBus.with { bus in
            let logind = try await ScriptedLogind.start(bus, ["GetSession": .string("1")]) { answers in
                answers.properties[ScriptedLogind.session] = ["Remote": .boolean(true)]
            }
            let session = try await start(bus)
            try logind.sendSessionSignal("SessionRemoved", "/other")
            logind.change { $0.lookups = [:] }
            try logind.sendSessionSignal("SessionRemoved")
            let isGone = try await follows(nil, session)
            #expect(isGone)
            try logind.sendManager("PrepareForSleep", true)
            let event = await next(of: session.events)
            #expect(event == .sleep)
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
