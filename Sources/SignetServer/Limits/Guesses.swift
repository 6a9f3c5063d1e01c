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
        // The cases of a name without a user are one name, as those of a user are.
        let counted = try directory.contains(user) ? user : user.folded
        if rule.failures > 0, try lockouts.isLocked(counted) {
            count(.refused(.lockedOut))
            return .refused(.lockedOut)
        }
        if let refusal = try guess(of: counted) { return .refused(refusal) }
        guard try directory.accepts(password, of: user) else {
            if try lockouts.fail(counted, rule) { count(.lockedOut) }
            failuresLeft = try lockouts.failuresLeft(counted, rule)
            return .wrong
        }
        try lockouts.clear(counted)
        // Check here, and not only at the end of the journey, because the nodes after this one register devices and send
        // messages.
        return try directory[user]?.isLocked == true ? .refused(.lockedOut) : .right
    }

    /// The result of a check of an answer or a code.
    enum FactorResult {
        case right
        case wrong
        /// The answer or code was not checked.
        case refused(APIError)
    }

    /// Checks an answer or a code, and counts the wrong ones (NIST SP 800-63B section 5.2.2).
    /// - Parameters:
    ///   - attempts: The kind of answer or code, and the user that it should identify.
    ///   - isRight: Compares the answer or code. It does not run during a lockout.
    /// - Returns: The result. A wrong answer or code was counted, which is a change to commit.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func check(
        _ attempts: FactorAttempts, _ isRight: (inout ServerTransaction) throws -> Bool
    ) throws -> FactorResult {
        let rule = time.configuration.factorLockoutRule
        if rule.failures > 0, try lockouts.isLocked(attempts) {
            count(.refused(.lockedOut))
            return .refused(.lockedOut)
        }
        if let refusal = try guess(of: attempts.user) { return .refused(refusal) }
        guard try isRight(&self) else {
            if try lockouts.fail(attempts, rule) { count(.lockedOut) }
            return .wrong
        }
        if rule.failures > 0 { try lockouts.clear(attempts) }
        return .right
    }

    /// Counts an attempt to prove the user's identity with a password, a code or an answer.
    ///
    /// Returns an error when there were too many attempts; the caller must not check this one then.
    mutating func guess(of user: UserKey) throws -> APIError? {
        guard let limit = time.configuration.rateLimits.perUser,
            let seconds = try guesses.take(user, limit)
        else { return nil }
        count(.refused(.tooManyGuesses))
        return .tooMany(waiting: seconds)
    }
}

extension ServerTransaction {
    /// Returns true when no message may be sent to the user now, and logs that.
    ///
    /// The user must not get one message after another until the user approves one.
    mutating func isPaused(_ channel: MessagePacing.Channel, _ user: UserKey) throws -> Bool {
        guard time.configuration.messageLimits != .none, try pacing.isPaused(channel, user) else { return false }
        withhold(channel, user)
        return true
    }

    /// Returns true when no email may be sent to the recipient now, and logs that.
    mutating func isPaused(_ recipient: EmailRecipient) throws -> Bool {
        guard time.configuration.messageLimits != .none, try pacing.isPaused(recipient) else { return false }
        withhold(.email, recipient.user)
        return true
    }

    private mutating func withhold(_ channel: MessagePacing.Channel, _ user: UserKey) {
        count(.refused(.tooManyMessages))
        effects.append(.withheld(channel, user))
    }
}

extension APIError {
    /// The client sends too many requests.
    static func tooMany(waiting seconds: Int) -> APIError {
        APIError(.tooManyRequests, "Too many requests. Try again later.", headers: [.retryAfter: String(seconds)])
    }
}
