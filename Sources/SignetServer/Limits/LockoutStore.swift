import Foundation

/// A proof of identity, other than the password, that an attacker can guess.
///
/// The raw value is a part of the names of stored rows and must not change.
enum GuessableFactor: String, Sendable, CaseIterable {
    case securityAnswer = "security-answer"
    case oneTimeCode = "one-time-code"
    case recoveryCode = "recovery-code"
}

/// The attempts to prove an identity with one factor that are counted together.
///
/// Attempts by the name alone are counted apart from those after the user was identified by a password or an email. Otherwise an
/// attacker with only the name could lock the factor for the user.
struct FactorAttempts: Sendable, Hashable {
    let factor: GuessableFactor
    let user: UserKey
    /// True after the journey has identified the user.
    let isIdentified: Bool

    /// The name of the row, which differs from that of every user, because theirs begin with a digit.
    fileprivate var rowName: String { "\(factor.rawValue)\(isIdentified ? "" : "-by-name") \(user.rowName)" }
}

extension JourneyState {
    /// Returns the attempts to which one in this journey belongs.
    func attempts(_ factor: GuessableFactor, of user: UserKey) -> FactorAttempts {
        FactorAttempts(factor: factor, user: user, isIdentified: identified?.user == user)
    }
}

/// The wrong guesses for each user name, and the lockouts that follow from them.
///
/// Wrong passwords, and the wrong answers and codes of each ``FactorAttempts``, are counted separately. Unknown names are counted
/// too, so that a lockout doesn't reveal that an account exists. All servers of the same state share the counts.
struct LockoutStore {
    struct Failures: Codable, Sendable {
        /// The times of the wrong passwords that count toward a lockout.
        var times: [Date]
        var lockedUntil: Date?
        /// The number of wrong guesses since the last correct one; nil for passwords.
        var inRow: Int?

        /// The names in stored rows.
        private enum CodingKeys: String, CodingKey {
            case lockedUntil, inRow
            case times = "moments"
        }
    }

    /// The time for which wrong guesses of a factor are remembered, in seconds: a year.
    private static let memory = 365 * 86_400.0

    private var table: Table<String, Failures>
    private let now: Date

    init(_ transaction: RowCache) {
        table = Table(.lockout, transaction)
        now = transaction.now
    }

    // MARK: Passwords

    /// Returns true when the user is locked out after wrong passwords.
    func isLocked(_ user: UserKey) throws -> Bool { try isLocked(user.rowName) }

    /// Records a wrong password.
    ///
    /// Returns true when it locks the account.
    mutating func fail(_ user: UserKey, _ rule: Lockout) throws -> Bool {
        guard rule.failures > 0 else { return false }
        let earliest = now.addingTimeInterval(-Double(rule.within))
        let recent = (try table[user.rowName]?.times ?? []).filter { $0 > earliest && $0 <= now } + [now]
        let locks = recent.count >= rule.failures
        let end = now.addingTimeInterval(Double(locks ? rule.duration : rule.within))
        let failures = Failures(times: locks ? [] : recent, lockedUntil: locks ? end : nil)
        table.insert(failures, for: user.rowName, until: end)
        return locks
    }

    /// Returns the number of further wrong passwords that lock the account, when the rule wants a warning of it now.
    ///
    /// It is nil while the account is locked.
    func failuresLeft(_ user: UserKey, _ rule: Lockout) throws -> Int? {
        guard rule.warnAfter > 0, let failures = try table[user.rowName], failures.lockedUntil == nil,
            failures.times.count >= rule.warnAfter
        else { return nil }
        return rule.failures - failures.times.count
    }

    /// Forgets the wrong passwords after a correct one.
    ///
    /// The wrong guesses of factors remain counted, because an attacker with the password could otherwise guess without end.
    mutating func clear(_ user: UserKey) throws { try table.remove(user.rowName) }

    // MARK: Answers and codes

    /// Returns true when the user is locked out after wrong answers or codes of these attempts.
    func isLocked(_ attempts: FactorAttempts) throws -> Bool { try isLocked(attempts.rowName) }

    /// Returns true when the user is locked out after wrong answers or codes of a factor, in any journey.
    func isLocked(_ factor: GuessableFactor, of user: UserKey) throws -> Bool {
        try Self.attempts(factor, user).contains { try isLocked($0) }
    }

    /// Records a wrong answer or code.
    ///
    /// Returns true when it locks the attempts.
    mutating func fail(_ attempts: FactorAttempts, _ rule: FactorLockout) throws -> Bool {
        guard rule.failures > 0 else { return false }
        let name = attempts.rowName
        let inRow = (try table[name]?.inRow ?? 0) + 1
        let isFinal = inRow >= rule.total
        let locks = isFinal || inRow.isMultiple(of: rule.failures)
        let lockedUntil = isFinal ? Date.distantFuture : now.addingTimeInterval(Double(rule.duration))
        table.insert(
            Failures(times: [], lockedUntil: locks ? lockedUntil : nil, inRow: inRow), for: name,
            until: isFinal ? nil : now.addingTimeInterval(max(Self.memory, Double(rule.duration))))
        return locks
    }

    /// Forgets the wrong answers or codes after a correct one.
    ///
    /// An identified user also ends the lockout that attempts by the name alone have caused.
    mutating func clear(_ attempts: FactorAttempts) throws {
        for other in Self.attempts(attempts.factor, attempts.user) where attempts.isIdentified || other == attempts {
            try table.remove(other.rowName)
        }
    }

    /// Forgets all wrong guesses, when an administrator or a journey unlocks the user or an administrator sets a new password.
    mutating func clearAll(_ user: UserKey) throws {
        try clear(user)
        for factor in GuessableFactor.allCases {
            for attempts in Self.attempts(factor, user) { try table.remove(attempts.rowName) }
        }
    }

    private func isLocked(_ name: String) throws -> Bool { try table[name]?.lockedUntil.map { now < $0 } ?? false }

    private static func attempts(_ factor: GuessableFactor, _ user: UserKey) -> [FactorAttempts] {
        [true, false].map { FactorAttempts(factor: factor, user: user, isIdentified: $0) }
    }
}
