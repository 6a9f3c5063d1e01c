import Foundation

/// A proof of identity, other than the password, that an attacker can guess.
///
/// The raw value is a part of the names of stored rows and must not change.
enum GuessableFactor: String, Sendable, CaseIterable {
    case securityAnswer = "security-answer"
    case oneTimeCode = "one-time-code"
    case recoveryCode = "recovery-code"
}

/// The wrong guesses for each user name, and the lockouts that follow from them.
///
/// Wrong passwords, and the wrong answers and codes of each ``GuessableFactor``, are counted separately. Unknown names are counted
/// too, so that a lockout doesn't reveal that an account exists. All servers of the same state share the counts.
struct LockoutStore {
    struct Failures: Codable, Sendable {
        /// The times of the wrong passwords that count toward a lockout.
        var moments: [Date]
        var lockedUntil: Date?
        /// The number of wrong guesses since the last correct one; nil for passwords.
        var inRow: Int?
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
        let recent = (try table[user.rowName]?.moments ?? []).filter { $0 > earliest && $0 <= now } + [now]
        let locks = recent.count >= rule.failures
        let end = now.addingTimeInterval(Double(locks ? rule.duration : rule.within))
        let failures = Failures(moments: locks ? [] : recent, lockedUntil: locks ? end : nil)
        table.insert(failures, for: user.rowName, until: end)
        return locks
    }

    /// Forgets the wrong passwords after a correct one.
    ///
    /// The wrong guesses of factors remain counted, because an attacker with the password could otherwise guess without end.
    mutating func clear(_ user: UserKey) throws { try table.remove(user.rowName) }

    // MARK: Answers and codes

    /// Returns true when the user is locked out after wrong answers or codes of a factor.
    func isLocked(_ factor: GuessableFactor, of user: UserKey) throws -> Bool { try isLocked(Self.name(factor, user)) }

    /// Records a wrong answer or code.
    ///
    /// Returns true when it locks the factor.
    mutating func fail(_ factor: GuessableFactor, of user: UserKey, _ rule: FactorLockout) throws -> Bool {
        guard rule.failures > 0 else { return false }
        let name = Self.name(factor, user)
        let inRow = (try table[name]?.inRow ?? 0) + 1
        let isFinal = inRow >= rule.total
        let locks = isFinal || inRow.isMultiple(of: rule.failures)
        let lockedUntil = isFinal ? Date.distantFuture : now.addingTimeInterval(Double(rule.duration))
        table.insert(
            Failures(moments: [], lockedUntil: locks ? lockedUntil : nil, inRow: inRow), for: name,
            until: isFinal ? nil : now.addingTimeInterval(max(Self.memory, Double(rule.duration))))
        return locks
    }

    /// Forgets the wrong answers or codes of a factor after a correct one.
    mutating func clear(_ factor: GuessableFactor, of user: UserKey) throws { try table.remove(Self.name(factor, user)) }

    /// Forgets all wrong guesses, when an administrator or a journey unlocks the user or an administrator sets a new password.
    mutating func clearAll(_ user: UserKey) throws {
        try clear(user)
        for factor in GuessableFactor.allCases { try clear(factor, of: user) }
    }

    private func isLocked(_ name: String) throws -> Bool { try table[name]?.lockedUntil.map { now < $0 } ?? false }

    /// Returns the name of the row, which differs from that of every user, because theirs begin with a digit.
    private static func name(_ factor: GuessableFactor, _ user: UserKey) -> String { "\(factor.rawValue) \(user.rowName)" }
}
