#if canImport(CGDBus) && canImport(Glibc)
/// An event of the user's session or of the machine, after which a vault may have to be locked.
package enum SessionLockEvent: Sendable, Hashable {
    /// The session is to be locked, is locked, or has ended.
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
/// It is looked for again when a session begins or ends, because a service of the user can start before the user logs in. A session
/// is locked when logind asks for it (`Lock`), and when the desktop says that it has locked the screen (`LockedHint`).
///
/// The object delays the machine's sleep, with an inhibitor lock of the mode `delay`, until its owner has locked the vault. The
/// lock is a file descriptor, so logind also sees the end of the process.
///
/// The object lives until ``stop()`` or the end of the connection.
package actor LoginSession {
    /// The events, in their order.
    package nonisolated let events: AsyncStream<SessionLockEvent>
    /// The object of the session; nil without a session, and no lock is then reported.
    package private(set) var sessionPath: String?

    private let connection: DBusConnection
    private let search: LoginSessionSearch
    private let continuation: AsyncStream<SessionLockEvent>.Continuation
    private var owner: String?
    private var inhibitor: DBusDescriptor?
    private var ownerReader: Task<Void, Never>?
    private var readers: [Task<Void, Never>] = []
    private var sessionReader: Task<Void, Never>?
    /// True for a session over the network, whose end does not mean that the user has left this machine.
    private var isRemote = false
    /// True after the end of a session was reported as its lock, until another session is there.
    private var isLockedByEnd = false
    private var isLooking = false
    private var mustLookAgain = false

    static let busName = "org.freedesktop.login1"
    static let managerPath = "/org/freedesktop/login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    static let sessionInterface = "org.freedesktop.login1.Session"
    static let userInterface = "org.freedesktop.login1.User"
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    private init(_ connection: DBusConnection, _ search: LoginSessionSearch) {
        self.connection = connection
        self.search = search
        let made = AsyncStream.makeStream(of: SessionLockEvent.self, bufferingPolicy: .bufferingNewest(64))
        events = made.stream
        continuation = made.continuation
    }

    /// Finds the session, and delays sleep from now on.
    ///
    /// A session that is locked already is the first event.
    /// - Parameters:
    ///   - connection: The system bus.
    ///   - sessionID: The id of the session, from `XDG_SESSION_ID`; nil to find it by the process.
    ///   - processID: The id of a process in the session.
    ///   - userID: The id of the user, whose session is taken for a process outside of all sessions.
    /// - Returns: The session, also for a user without one, and for one that may not delay sleep.
    /// - Throws: ``DBusError/Code/unavailable`` without logind; other errors of the bus.
    package static func start(
        _ connection: DBusConnection, sessionID: String?, processID: UInt32, userID: UInt32
    ) async throws(DBusError) -> LoginSession {
        let search = LoginSessionSearch(
            connection: connection, sessionID: sessionID, processID: processID, userID: userID)
        let session = LoginSession(connection, search)
        try await session.begin()
        return session
    }

    private func begin() async throws(DBusError) {
        let changes = try await connection.signals(matching: .owner(of: Self.busName))
        // The bus may start logind for this call.
        _ = await search.session()
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

    private func receiveOwner(_ change: DBusMessage) async {
        guard change.body.count == 3, let newOwner = change.body[2].string, newOwner != owner ?? "" else { return }
        detach()
        // logind keeps its sessions when it starts again.
        if !newOwner.isEmpty { try? await attach(newOwner) }
    }

    private func detach() {
        for reader in readers { reader.cancel() }
        readers = []
        sessionReader?.cancel()
        sessionReader = nil
        sessionPath = nil
        inhibitor = nil
        owner = nil
    }

    private func attach(_ owner: String) async throws(DBusError) {
        self.owner = owner
        // A stream each, so that sleep does not wait for the search for a session.
        for member in ["PrepareForSleep", "PrepareForShutdown", "SessionNew", "SessionRemoved"] {
            let rule = DBusMatch(sender: owner, path: Self.managerPath, interface: Self.managerInterface, member: member)
            let signals = try await connection.signals(matching: rule)
            readers.append(
                Task {
                    for await signal in signals { await self.receive(signal) }
                })
        }
        await look()
        await inhibit()
    }

    private func receive(_ signal: DBusMessage) async {
        // Of the signals about sleep and shutdown, the value is true before the event and false after it.
        let isBefore = signal.body.first?.boolean
        switch signal.member ?? "" {
        case "PrepareForSleep" where isBefore == true: continuation.yield(.sleep)
        case "PrepareForSleep" where isBefore == false:
            await inhibit()
            continuation.yield(.wake)
        case "PrepareForShutdown" where isBefore == true: continuation.yield(.shutdown)
        case "SessionNew": await look()
        case "SessionRemoved":
            if let sessionPath, signal.body.last?.objectPath == sessionPath { end() }
            await look()
        default: break
        }
    }

    // MARK: The session

    /// Notes that the session has ended.
    private func end() {
        sessionReader?.cancel()
        (sessionReader, sessionPath) = (nil, nil)
        guard !isRemote else { return }
        isLockedByEnd = true
        continuation.yield(.lock)
    }

    /// Looks for the session, and follows it from now on if it is another one.
    private func look() async {
        guard !isLooking else {
            mustLookAgain = true
            return
        }
        isLooking = true
        repeat {
            mustLookAgain = false
            let found = await search.session()
            if found != sessionPath { await follow(found) }
        } while mustLookAgain
        isLooking = false
    }

    private func follow(_ path: String?) async {
        guard let owner else { return }
        sessionReader?.cancel()
        (sessionReader, sessionPath) = (nil, path)
        // One rule for all signals of the session, whose order matters.
        guard let path, let signals = try? await connection.signals(matching: DBusMatch(sender: owner, path: path)) else {
            return
        }
        let properties = await search.properties(of: path)
        // Another session, or none, has taken its place meanwhile.
        guard sessionPath == path, self.owner == owner else { return }
        isRemote = properties["Remote"]?.boolean ?? false
        if properties["LockedHint"]?.boolean == true {
            continuation.yield(.lock)
        } else if isLockedByEnd, !isRemote {
            continuation.yield(.unlock)
        }
        if !isRemote { isLockedByEnd = false }
        sessionReader = Task {
            for await signal in signals { await self.receiveFromSession(signal, at: path) }
        }
    }

    private func receiveFromSession(_ signal: DBusMessage, at path: String) async {
        guard sessionPath == path else { return }
        switch (signal.interface ?? "", signal.member ?? "") {
        case (Self.sessionInterface, "Lock"): continuation.yield(.lock)
        case (Self.sessionInterface, "Unlock"): continuation.yield(.unlock)
        case (Self.propertiesInterface, "PropertiesChanged"):
            guard signal.body.count == 3, signal.body[0].string == Self.sessionInterface else { return }
            var isLocked = signal.body[1].options?["LockedHint"]?.boolean
            if signal.body[2].strings?.contains("LockedHint") ?? false {
                isLocked = await search.properties(of: path)["LockedHint"]?.boolean
            }
            if let isLocked, sessionPath == path { continuation.yield(isLocked ? .lock : .unlock) }
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
