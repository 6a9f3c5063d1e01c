#if canImport(CGDBus) && canImport(Glibc)
/// The search for the session of a process or, for a process outside of all sessions, of its user.
///
/// A service of the user belongs to no session, or to one of the class `manager`, which no user locks. For it, the session is that of
/// the user's display, or else one at a seat of this machine.
struct LoginSessionSearch: Sendable {
    let connection: DBusConnection
    /// The id of the session, from `XDG_SESSION_ID`; nil when the process has none.
    let sessionID: String?
    /// The id of the process.
    let processID: UInt32
    /// The id of its user.
    let userID: UInt32

    /// Returns the object of the session; nil when the user has no session at present.
    func session() async -> String? {
        var calls: [(String, DBusValue)] = []
        if let sessionID { calls.append(("GetSession", .string(sessionID))) }
        calls.append(("GetSessionByPID", .uint32(processID)))
        calls.append(("GetSession", .string("auto")))
        for (member, argument) in calls {
            if let path = await ask(member, [argument])?.objectPath, await isOfUser(path) { return path }
        }
        if let path = await displaySession(), await isOfUser(path) { return path }
        return await listedSession()
    }

    /// Returns the properties of a session; none when they cannot be read.
    func properties(of path: String) async -> [String: DBusValue] {
        let call = DBusMessage.call(
            LoginSession.busName, path, LoginSession.propertiesInterface, "GetAll", [.string(LoginSession.sessionInterface)])
        return (try? await connection.call(call))?.body.first?.options ?? [:]
    }

    /// Returns false for a session of another class than those of users, such as `manager`, `greeter` and `background`.
    private func isOfUser(_ path: String) async -> Bool {
        await properties(of: path)["Class"]?.string?.hasPrefix("user") ?? true
    }

    /// Returns the session of the user's display; nil when the user has none.
    private func displaySession() async -> String? {
        guard let user = await ask("GetUser", [.uint32(userID)])?.objectPath else { return nil }
        let arguments: [DBusValue] = [.string(LoginSession.userInterface), .string("Display")]
        let call = DBusMessage.call(LoginSession.busName, user, LoginSession.propertiesInterface, "Get", arguments)
        guard case .variant(let value)? = (try? await connection.call(call))?.body.first else { return nil }
        // A user without a display has the path `/`.
        return value.fields?.last?.objectPath.flatMap { $0 == "/" ? nil : $0 }
    }

    /// Returns a session of the user from the list of all sessions, preferably one at a seat.
    private func listedSession() async -> String? {
        // The ID of the session, the ID and the name of its user, its seat, and its object.
        guard case .array(of: "(susso)", let sessions)? = await ask("ListSessions", []) else { return nil }
        let own = sessions.compactMap(\.fields).filter { $0.count == 5 && $0[1].uint32 == userID }
        let atSeat = own.filter { $0[3].string?.isEmpty == false }
        for fields in atSeat + own {
            if let path = fields[4].objectPath, await isOfUser(path) { return path }
        }
        return nil
    }

    private func ask(_ member: String, _ arguments: [DBusValue]) async -> DBusValue? {
        let call = DBusMessage.call(
            LoginSession.busName, LoginSession.managerPath, LoginSession.managerInterface, member, arguments)
        return (try? await connection.call(call))?.body.first
    }
}
#endif
