import HTTPTypes
import SignetCore

extension ServerTransaction {
    /// The result of a password check.
    enum PasswordResult {
        case right
        case wrong
        /// The password was not checked, or the account is locked although the password is correct.
        case refused(APIError)
    }

    /// Checks a password, and counts the wrong ones.
    ///
    /// Unknown user names are treated like known ones.
    mutating func check(_ password: Secret, of user: UserKey) throws -> PasswordResult {
        let rule = time.configuration.lockoutRule
        if rule.failures > 0, try lockouts.isLocked(user) {
            count(.refused(.lockedOut))
            return .refused(.lockedOut)
        }
        if let refusal = try guess(of: user) { return .refused(refusal) }
        guard try directory.accepts(password, of: user) else {
            if try lockouts.fail(user, rule) { count(.lockedOut) }
            return .wrong
        }
        try lockouts.clear(user)
        // Check here, and not only at the end of the journey, because the nodes after this one register devices and send
        // messages.
        return try directory[user]?.isLocked == true ? .refused(.lockedOut) : .right
    }

    /// Counts an attempt to prove the user's identity with a password, a code or an answer.
    ///
    /// Returns an error when there were too many attempts; the caller must not check this one then.
    mutating func guess(of user: UserKey?) throws -> APIError? {
        guard let user, let limit = time.configuration.rateLimits.perUser,
            let seconds = try guesses.take(user, limit)
        else { return nil }
        count(.refused(.tooManyGuesses))
        return .tooMany(waiting: seconds)
    }
}

extension APIError {
    /// The client sends too many requests.
    static func tooMany(waiting seconds: Int) -> APIError {
        APIError(.tooManyRequests, "Too many requests. Try again later.", headers: [.retryAfter: String(seconds)])
    }
}
