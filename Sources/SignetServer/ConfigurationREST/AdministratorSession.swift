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
}
