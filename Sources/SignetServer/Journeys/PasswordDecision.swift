import SignetCore

extension JourneyState {
    /// Compares the collected password with that of the user, and removes it from the journey.
    ///
    /// A correct password identifies the user.
    /// - Parameter tx: The state of the server.
    /// - Returns: The result. A journey without a name or a password has a wrong one.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func checkPassword(_ tx: inout ServerTransaction) throws -> ServerTransaction.PasswordResult {
        defer { password = nil }
        guard let user, let password else {
            tx.explain(user == nil ? "the journey has no user name" : "the journey has no password")
            return .wrong
        }
        let result = try tx.check(password, of: user)
        switch result {
        case .right: identified = try tx.identified(user)
        case .wrong:
            let exists = try tx.directory.contains(user)
            tx.explain(exists ? "the password is wrong" : "there is no such user")
        case .refused(let refusal): tx.explain(refusal.reason ?? refusal.message)
        }
        return result
    }

    /// Returns the outcome of a node that compares the password and has an outcome for a locked account.
    ///
    /// Those are AM's Identity Store Decision and LDAP Decision. Their outcomes `CANCELLED` and `EXPIRED` are for passwords that
    /// must be changed, which the users of this server do not have.
    mutating func passwordOutcome(_ tx: inout ServerTransaction) throws -> NodeResult {
        switch try checkPassword(&tx) {
        case .right: .transition(.approved)
        case .wrong: .transition(.denied)
        case .refused(.lockedOut): .transition(.locked)
        case .refused(let refusal): .refuse(refusal)
        }
    }
}
