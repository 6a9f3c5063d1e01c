import HTTPTypes
import SignetCore

extension ServerTransaction {
    /// What a password is worth.
    enum PasswordVerdict {
        case right
        case wrong
        /// It was not looked at, or does not help.
        case refused(APIError)
    }

    /// Looks at a password, and counts the wrong ones. The names of people who are not there are treated alike.
    mutating func judge(_ password: Secret, of user: UserKey, _ moment: RequestTime) -> PasswordVerdict {
        let rule = moment.configuration.lockoutRule
        if rule.failures > 0, lockouts.isLocked(user, at: moment.now) {
            note(.refused(.lockedOut))
            return .refused(.lockedOut)
        }
        if let refusal = guess(of: user, moment) { return .refused(refusal) }
        guard directory.accepts(password, of: user) else {
            if lockouts.fail(user, rule, at: moment.now) { note(.lockedOut) }
            return .wrong
        }
        lockouts.clear(user, at: moment.now)
        // Here, and not only at the journey's end: the nodes after this one register devices and send messages.
        return directory[user]?.isLocked == true ? .refused(.lockedOut) : .right
    }

    /// Notes a guess at something that the person knows or has: a password, a code, an answer. Not nil when there were too many,
    /// and this one must not be looked at.
    mutating func guess(of user: UserKey?, _ moment: RequestTime) -> APIError? {
        guard let user, let limit = moment.configuration.rateLimits.person,
            let seconds = guesses.take(user, limit, at: moment.now)
        else { return nil }
        note(.refused(.tooManyGuesses))
        return .tooMany(waiting: seconds)
    }
}

extension APIError {
    /// Somebody asks too often.
    static func tooMany(waiting seconds: Int) -> APIError {
        APIError(.tooManyRequests, "Too many requests. Try again later.", headers: [.retryAfter: String(seconds)])
    }
}
