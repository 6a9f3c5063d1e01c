import HTTPTypes
import Hummingbird
import SignetCore

extension ServerTransaction {
    /// Returns the session of the first token that is valid in the realm, or that is an administrator's of the top-level realm,
    /// whose session is good in every realm, as in AM.
    ///
    /// It does not extend the idle time.
    func findSessionOrAdministrator(_ tokens: [String], in realm: RealmPath) throws -> PresentedSession? {
        if let found = try findSession(tokens, in: realm) { return found }
        guard let found = try findSession(tokens, in: .root), directory.isAdministrator(found.session.user) else { return nil }
        return found
    }

    /// Returns the administrator of a request for the configuration of a realm, and restarts the idle time of the session.
    /// - Parameters:
    ///   - tokens: The tokens of the request.
    ///   - realm: The realm.
    /// - Returns: The administrator.
    /// - Throws: ``APIError/accessDenied`` without a session; an error with status 403 for another user's.
    mutating func administrator(_ tokens: [String], of realm: RealmPath) throws -> UserKey {
        guard let found = try findSessionOrAdministrator(tokens, in: realm),
            let session = try sessions.use(found.token, in: found.session.user.realm)
        else { throw APIError.accessDenied }
        guard directory.isAdministrator(session.user) else {
            throw APIError(.forbidden, "The user has insufficient privileges")
        }
        return session.user
    }
}

extension RunningConfiguration {
    /// True when AM's configuration REST exists: the configuration has an administrator, and does not turn it off.
    var hasConfigurationREST: Bool { hasAdministrator && configuration.configurationREST != .off }
}

extension LoopbackPolicy {
    /// Returns true for a program that may use AM's configuration REST, if it has the session of an administrator.
    ///
    /// Pages in browsers are never admitted: they would send the cookie of an administrator that is logged in there.
    func admits(_ request: Request, to access: ConfigurationRESTAccess) -> Bool {
        switch access {
        case .off: false
        case .loopback: admitsProgram(request)
        case .network: request.header("origin") == nil && ["none", nil].contains(request.header("sec-fetch-site"))
        }
    }
}
