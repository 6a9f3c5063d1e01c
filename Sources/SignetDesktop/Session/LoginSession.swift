#if canImport(CGDBus) && canImport(Glibc)
/// An event of the user's session or of the machine, after which a vault may have to be locked.
package enum SessionLockEvent: Sendable, Hashable {
    /// The session is to be locked.
    case lock
    /// The session was unlocked.
    case unlock
    /// The machine is about to sleep. It waits for ``LoginSession/readyToSleep()``, by default five seconds at most.
    case sleep
    /// The machine woke up.
    case wake
    /// The machine is about to shut down.
    case shutdown
}

/// The user's session at logind (`org.freedesktop.login1`), on the system bus.
///
/// The object delays the machine's sleep, with an inhibitor lock of the mode `delay`, until its owner has locked the vault. The
/// lock is a file descriptor, so logind also sees the end of the process.
///
/// The object lives until ``stop()`` or the end of the connection.
package actor LoginSession {
    /// The events, in their order.
    package nonisolated let events: AsyncStream<SessionLockEvent>
    /// The object of the session; nil when the process belongs to none, and a session then reports no events.
    package private(set) var sessionPath: String?

    private let connection: DBusConnection
    private let continuation: AsyncStream<SessionLockEvent>.Continuation
    private var owner: String?
    private var inhibitor: DBusDescriptor?
    private var ownerReader: Task<Void, Never>?
    private var readers: [Task<Void, Never>] = []

    static let busName = "org.freedesktop.login1"
    static let managerPath = "/org/freedesktop/login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    static let sessionInterface = "org.freedesktop.login1.Session"

    private init(_ connection: DBusConnection) {
        self.connection = connection
        let made = AsyncStream.makeStream(of: SessionLockEvent.self, bufferingPolicy: .bufferingNewest(64))
        events = made.stream
        continuation = made.continuation
    }

    /// Finds the session, and delays sleep from now on.
    /// - Parameters:
    ///   - connection: The system bus.
    ///   - sessionID: The id of the session, from `XDG_SESSION_ID`; nil to find it by the process.
    ///   - processID: The id of a process in the session.
    /// - Returns: The session, also for a process without one, and for one that may not delay sleep.
    /// - Throws: ``DBusError/Code/unavailable`` without logind; other errors of the bus.
    package static func start(
        _ connection: DBusConnection, sessionID: String?, processID: UInt32
    ) async throws(DBusError) -> LoginSession {
        let session = LoginSession(connection)
        try await session.begin(sessionID, processID)
        return session
    }

    private func begin(_ sessionID: String?, _ processID: UInt32) async throws(DBusError) {
        let changes = try await connection.signals(matching: .owner(of: Self.busName))
        // The bus may start logind for this call.
        sessionPath = await session(sessionID, processID)
        guard let owner = try await connection.owner(of: Self.busName) else {
            throw DBusError(.unavailable, "logind is not on the system bus, so the vault is not locked with the session")
        }
        try await attach(owner)
        ownerReader = Task {
            for await change in changes { await self.receiveOwner(change) }
            self.finish()
        }
    }

    /// Lets the machine sleep, after the owner of this object has locked the vault.
    package func readyToSleep() { inhibitor = nil }

    /// True while the machine's sleep waits for ``readyToSleep()``.
    package var delaysSleep: Bool { inhibitor != nil }

    /// Ends the stream of events, and delays no sleep.
    package func stop() { finish() }

    private func finish() {
        ownerReader?.cancel()
        ownerReader = nil
        detach()
        continuation.finish()
    }

    // MARK: logind

    /// Returns the object of the session; nil when the process belongs to none.
    private func session(_ sessionID: String?, _ processID: UInt32) async -> String? {
        // A user's service belongs to no session. For it, `auto` is the session of the user's display.
        var calls: [(String, DBusValue)] = []
        if let sessionID { calls.append(("GetSession", .string(sessionID))) }
        calls.append(("GetSessionByPID", .uint32(processID)))
        calls.append(("GetSession", .string("auto")))
        for (member, argument) in calls {
            let call = DBusMessage.call(Self.busName, Self.managerPath, Self.managerInterface, member, [argument])
            if let path = (try? await connection.call(call))?.body.first?.objectPath { return path }
        }
        return nil
    }

    private func receiveOwner(_ change: DBusMessage) async {
        guard change.body.count == 3, let newOwner = change.body[2].string, newOwner != owner ?? "" else { return }
        detach()
        // logind keeps its sessions when it starts again.
        if !newOwner.isEmpty { try? await attach(newOwner) }
    }

    private func detach() {
        for reader in readers { reader.cancel() }
        readers = []
        inhibitor = nil
        owner = nil
    }

    private func attach(_ owner: String) async throws(DBusError) {
        var rules = ["PrepareForSleep", "PrepareForShutdown"].map {
            DBusMatch(sender: owner, path: Self.managerPath, interface: Self.managerInterface, member: $0)
        }
        // One rule for lock and unlock, whose order matters.
        if let sessionPath {
            rules.append(DBusMatch(sender: owner, path: sessionPath, interface: Self.sessionInterface))
        }
        self.owner = owner
        for rule in rules {
            let signals = try await connection.signals(matching: rule)
            readers.append(
                Task {
                    for await signal in signals { await self.receive(signal) }
                })
        }
        await inhibit()
    }

    private func receive(_ signal: DBusMessage) async {
        // Of the two other signals, the value is true before the event and false after it.
        let isBefore = signal.body.first?.boolean
        switch signal.member ?? "" {
        case "Lock": continuation.yield(.lock)
        case "Unlock": continuation.yield(.unlock)
        case "PrepareForSleep" where isBefore == true: continuation.yield(.sleep)
        case "PrepareForSleep" where isBefore == false:
            await inhibit()
            continuation.yield(.wake)
        case "PrepareForShutdown" where isBefore == true: continuation.yield(.shutdown)
        default: break
        }
    }

    /// Takes the lock that delays sleep; without the permission for it, the machine does not wait.
    private func inhibit() async {
        guard inhibitor == nil, let owner else { return }
        let arguments: [DBusValue] = [
            .string("sleep"), .string("Signet"), .string("Locks the vault before sleep"), .string("delay"),
        ]
        let call = DBusMessage.call(owner, Self.managerPath, Self.managerInterface, "Inhibit", arguments)
        guard let reply = try? await connection.call(call), let index = reply.body.first?.handle,
            reply.descriptors.indices.contains(Int(index)), self.owner == owner
        else { return }
        inhibitor = reply.descriptors[Int(index)]
    }
}
#endif
