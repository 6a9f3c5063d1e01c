#if canImport(CGDBus) && canImport(Glibc)
import Foundation
package import SignetCore

/// Push messages as notifications of the desktop (Desktop Notifications Specification 1.2, `org.freedesktop.Notifications`).
///
/// An answer counts only when all of this is true: its signal comes from the unique bus name that owned
/// `org.freedesktop.Notifications` when the notification was shown; the notification has been on the screen for a second, so that
/// a click or a key that was meant for another window approves nothing; and the answer is one of those that were shown. A
/// notification has one answer at most.
///
/// Without a notification server nothing is shown. When one starts, or starts again, it shows what is still waiting.
///
/// The object lives until ``stop()`` or the end of the connection.
package actor DesktopNotifications {
    /// An event of a notification.
    package enum Event: Sendable, Hashable {
        /// The user answered; the notification is closed.
        case answered(id: String, PushNotice.Answer)
        /// The notification was closed without an answer.
        ///
        /// A dismissed notification does not deny: the message can still be answered elsewhere.
        case closed(id: String, ClosingReason)
    }

    /// The reason for which a notification was closed.
    package enum ClosingReason: UInt32, Sendable, Hashable {
        /// Its time was over.
        case expired = 1
        /// The user dismissed it.
        case dismissed = 2
        /// A call closed it.
        case closed = 3
        /// The server gives no reason.
        case undefined = 4
    }

    /// A program that shows notifications.
    package struct Server: Sendable, Hashable {
        /// Its unique bus name.
        package let owner: String
        /// Its name and version, in one line.
        package let name: String
        /// Its capabilities.
        package let capabilities: NotificationCapabilities
    }

    private struct Shown {
        let notice: PushNotice
        /// The number of this presentation; a later one has another number.
        var presentation = 0
        /// The server's number of the notification; 0 while it has none.
        var number: UInt32 = 0
        /// The time at which the server confirmed that it shows the notification.
        var shownAt: ContinuousClock.Instant?
        /// The time of an answer that came too early.
        var earlyAnswerAt: ContinuousClock.Instant?
        /// Closes the notification when the message expires.
        var expiry: Task<Void, Never>?
    }

    /// The events, in their order.
    package nonisolated let events: AsyncStream<Event>
    /// The program that shows notifications; nil without one.
    package private(set) var server: Server?

    private let connection: DBusConnection
    private let clock: any WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let continuation: AsyncStream<Event>.Continuation
    private var shown: [String: Shown] = [:]
    private var lastPresentation = 0
    /// True after ``stop()``: nothing is shown any more.
    private var isStopped = false
    private var readers: [Task<Void, Never>] = []
    private var signalReader: Task<Void, Never>?

    /// The maximum number of notifications at a time.
    package static let maxShown = 16
    /// The time on the screen before which an answer does not count.
    package static let guardTime = Duration.seconds(1)

    static let busName = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    private init(_ connection: DBusConnection, _ clock: any WallClock, _ now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.connection = connection
        self.clock = clock
        self.now = now
        let made = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        events = made.stream
        continuation = made.continuation
    }

    /// Looks for the notification server, and waits for others.
    /// - Parameters:
    ///   - connection: The session bus.
    ///   - clock: The clock of the messages' expiry.
    ///   - now: The time by which the first second on the screen is measured.
    /// - Returns: The notifications, with a server or without one.
    /// - Throws: ``DBusError`` when the bus itself fails.
    package static func start(
        _ connection: DBusConnection, clock: any WallClock = SystemWallClock(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) async throws(DBusError) -> DesktopNotifications {
        let notifications = DesktopNotifications(connection, clock, now)
        try await notifications.begin()
        return notifications
    }

    private func begin() async throws(DBusError) {
        let changes = try await connection.signals(matching: .owner(of: Self.busName))
        // The bus starts a server for this call when it knows one.
        _ = try? await connection.call(.call(Self.busName, Self.path, Self.busName, "GetServerInformation"))
        if let owner = try await connection.owner(of: Self.busName) { await attach(owner) }
        readers.append(
            Task {
                for await change in changes { await self.receiveOwner(change) }
                self.finish()
            })
    }

    /// Closes all notifications and ends the stream of events.
    package func stop() async {
        isStopped = true
        for id in Array(shown.keys) { await close(id) }
        finish()
    }

    private func finish() {
        for reader in readers { reader.cancel() }
        readers = []
        signalReader?.cancel()
        signalReader = nil
        for entry in shown.values { entry.expiry?.cancel() }
        shown = [:]
        server = nil
        continuation.finish()
    }

    // MARK: Showing

    /// Shows a notice, in the place of the one that has the same id.
    ///
    /// It is closed when its message expires.
    /// - Parameters:
    ///   - notice: The notice.
    ///   - id: The id of the message.
    /// - Throws: ``DBusError``; ``DBusError/Code/limit`` when there are already ``maxShown`` others; ``DBusError/Code/closed`` after
    ///   ``stop()``.
    package func show(_ notice: PushNotice, for id: String) async throws(DBusError) {
        guard !isStopped else { throw .closed }
        guard shown[id] != nil || shown.count < Self.maxShown else {
            throw DBusError(.limit, "there are already \(Self.maxShown) notifications")
        }
        let before = shown[id]
        before?.expiry?.cancel()
        var entry = Shown(notice: notice)
        entry.number = before?.number ?? 0
        entry.expiry = expiry(of: notice, id)
        shown[id] = entry
        try await present(id)
    }

    /// Closes the notification of a message, for example because another device answered it.
    ///
    /// An unknown id is ignored.
    package func close(_ id: String) async {
        guard let entry = shown.removeValue(forKey: id) else { return }
        entry.expiry?.cancel()
        await closeAtServer(entry.number)
    }

    /// Returns true when the server has confirmed that it shows the notification of a message.
    package func isShown(_ id: String) -> Bool { shown[id]?.shownAt != nil }

    private func present(_ id: String) async throws(DBusError) {
        guard let server, let entry = shown[id] else { return }
        lastPresentation += 1
        let presentation = lastPresentation
        shown[id]?.presentation = presentation
        shown[id]?.shownAt = nil
        shown[id]?.earlyAnswerAt = nil
        let values = arguments(entry.notice, replacing: entry.number, at: server.capabilities)
        let reply = try await answer(to: .call(server.owner, Self.path, Self.busName, "Notify", values))
        guard let number = reply.body.first?.uint32, number != 0 else {
            throw DBusError(.invalidReply, "the notification server gave no number for a notification")
        }
        guard self.server?.owner == server.owner else {
            // All notifications were closed while the server answered.
            if isStopped { await closeAtServer(number, server.owner) }
            return
        }
        guard shown[id]?.presentation == presentation else {
            // The notice was closed or replaced while the server answered.
            if !shown.values.contains(where: { $0.number == number }) { await closeAtServer(number) }
            return
        }
        shown[id]?.number = number
        shown[id]?.shownAt = now()
    }

    /// Returns the arguments of `Notify`.
    private func arguments(
        _ notice: PushNotice, replacing number: UInt32, at capabilities: NotificationCapabilities
    ) -> [DBusValue] {
        // A server that has lost this process closes the notification itself.
        let seconds = min(max(notice.expiresAt.timeIntervalSince(clock.now), 1), 86_400)
        let hints: [String: DBusValue] = [
            // Critical notifications stay on the screen until they are closed.
            "urgency": .byte(2), "category": .string("x-signet.login"),
            "sound-name": .string("message-new-instant"), "transient": .boolean(false),
            // The server does not close it for an answer that comes too early.
            "resident": .boolean(true),
        ]
        return [
            .string("Signet"), .uint32(number), .string("dialog-password"), .string(notice.summary(at: capabilities)),
            .string(notice.body(at: capabilities)),
            .strings(notice.answers(at: capabilities).flatMap { [$0.key, $0.label] }), .options(hints),
            .int32(Int32(seconds * 1000)),
        ]
    }

    private func expiry(of notice: PushNotice, _ id: String) -> Task<Void, Never> {
        let remaining = Duration.seconds(max(notice.expiresAt.timeIntervalSince(clock.now), 0))
        return Task {
            guard (try? await Task.sleep(for: remaining)) != nil else { return }
            await self.expire(id, notice)
        }
    }

    private func expire(_ id: String, _ notice: PushNotice) async {
        // Another notice with this id has a task of its own.
        guard let entry = shown[id], entry.notice == notice else { return }
        shown[id] = nil
        continuation.yield(.closed(id: id, .expired))
        await closeAtServer(entry.number)
    }

    private func closeAtServer(_ number: UInt32, _ owner: String? = nil) async {
        guard number != 0, let owner = owner ?? server?.owner else { return }
        let call = DBusMessage.call(owner, Self.path, Self.busName, "CloseNotification", [.uint32(number)])
        // Some servers answer with an error for a notification that is already gone.
        _ = try? await answer(to: call)
    }

    /// Calls the server in a task of its own, so that a caller that is canceled meanwhile leaves no notification on the screen.
    private func answer(to call: DBusMessage) async throws(DBusError) -> DBusMessage {
        let connection = connection
        let calling = Task { () async -> Result<DBusMessage, DBusError> in
            do throws(DBusError) { return .success(try await connection.call(call)) } catch { return .failure(error) }
        }
        return try await calling.value.get()
    }

    // MARK: The server

    private func receiveOwner(_ change: DBusMessage) async {
        guard change.body.count == 3, let owner = change.body[2].string, owner != server?.owner ?? "" else { return }
        signalReader?.cancel()
        signalReader = nil
        server = nil
        // The numbers are those of the server that has gone.
        for id in Array(shown.keys) {
            shown[id]?.number = 0
            shown[id]?.shownAt = nil
            shown[id]?.earlyAnswerAt = nil
            shown[id]?.presentation = 0
        }
        if !owner.isEmpty { await attach(owner) }
    }

    /// Uses a server, and shows all notices there.
    ///
    /// A program that does not answer as a notification server is not used.
    private func attach(_ owner: String) async {
        do throws(DBusError) {
            let rule = DBusMatch(sender: owner, path: Self.path, interface: Self.busName)
            let signals = try await connection.signals(matching: rule)
            let abilities = try await connection.call(.call(owner, Self.path, Self.busName, "GetCapabilities"))
            let information = try await connection.call(.call(owner, Self.path, Self.busName, "GetServerInformation"))
            guard let names = abilities.body.first?.strings else { return }
            // Name, vendor, version, and the version of the specification.
            let texts = information.body.map { NoticeText.line($0.string ?? "", limit: 60) }
            let name = texts.count < 3 ? texts.first ?? "" : "\(texts[0]) \(texts[2])"
            server = Server(owner: owner, name: name, capabilities: NotificationCapabilities(names))
            signalReader = Task {
                for await signal in signals { await self.receive(signal) }
            }
        } catch {
            return
        }
        for id in Array(shown.keys) { try? await present(id) }
    }

    private func receive(_ signal: DBusMessage) async {
        guard let server, signal.sender == server.owner, signal.body.count == 2, let number = signal.body[0].uint32,
            number != 0, let found = shown.first(where: { $0.value.number == number })
        else { return }
        let (id, entry) = (found.key, found.value)
        switch signal.member ?? "" {
        case "ActionInvoked":
            let answers = entry.notice.answers(at: server.capabilities)
            guard let answer = answers.first(where: { $0.key == signal.body[1].string }) else { return }
            guard let shownAt = entry.shownAt, shownAt.duration(to: now()) >= Self.guardTime else {
                shown[id]?.earlyAnswerAt = now()
                return
            }
            shown[id] = nil
            entry.expiry?.cancel()
            continuation.yield(.answered(id: id, answer))
            await closeAtServer(number)
        case "NotificationClosed":
            if let early = entry.earlyAnswerAt, early.duration(to: now()) < Self.guardTime {
                // Some servers close a notification with its first answer, which did not count: the user gets another one.
                shown[id]?.number = 0
                try? await present(id)
                return
            }
            shown[id] = nil
            entry.expiry?.cancel()
            let reason = signal.body[1].uint32.flatMap { ClosingReason(rawValue: $0) }
            continuation.yield(.closed(id: id, reason ?? .undefined))
        default: break
        }
    }
}
#endif
