#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A bucket of tokens that fills up by and by, and that every request takes one from.
struct TokenBucket: Codable, Sendable {
    private var tokens: Double
    private var filledAt: Date

    /// A full one.
    init(_ limit: RateLimit, at now: Date) { (tokens, filledAt) = (Double(limit.burst), now) }

    /// Takes a token. Nil when there was one; otherwise after how many seconds there will be, 1 or more.
    mutating func take(_ limit: RateLimit, at now: Date) -> Int? {
        // A clock that was moved backwards takes nothing away.
        let elapsed = max(0, now.timeIntervalSince(filledAt))
        tokens = min(Double(limit.burst), tokens + elapsed * limit.perSecond)
        filledAt = now
        guard tokens >= 1 else { return max(1, Int(((1 - tokens) / limit.perSecond).rounded(.up))) }
        tokens -= 1
        return nil
    }

    /// When it is full again if nobody takes anything: from then on it can be forgotten.
    func isFull(_ limit: RateLimit) -> Date {
        filledAt.addingTimeInterval((Double(limit.burst) - tokens) / limit.perSecond)
    }
}

extension RateLimit {
    fileprivate var perSecond: Double { Double(perMinute) / 60 }
}

/// How often each of many has asked this server.
struct RateLimiter<Subject: Hashable & Sendable>: Sendable {
    private var buckets: ExpiringTable<Subject, TokenBucket>

    /// - Parameter capacity: How many are kept in mind; those that would be forgotten first make room for more.
    init(capacity: Int = 20_000) { buckets = ExpiringTable(capacity: capacity) }

    /// How many are kept in mind.
    var count: Int { buckets.count }

    /// Takes a token, as ``TokenBucket/take(_:at:)``.
    mutating func take(_ subject: Subject, _ limit: RateLimit, at now: Date) -> Int? {
        var bucket = buckets.value(for: subject, at: now) ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { return wait }
        buckets.insert(bucket, for: subject, until: bucket.isFull(limit), at: now)
        return nil
    }
}

/// How often somebody has guessed at each person's secrets, at whichever server of the same state.
struct AttemptLimiter {
    private var buckets: Table<UserKey, TokenBucket>

    init(_ transaction: RowCache) { buckets = Table(.guesses, transaction) }

    /// Takes a token, as ``TokenBucket/take(_:at:)``.
    mutating func take(_ user: UserKey, _ limit: RateLimit, at now: Date) -> Int? {
        var bucket = buckets.value(for: user, at: now) ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { return wait }
        buckets.insert(bucket, for: user, until: bucket.isFull(limit))
        return nil
    }
}

/// Whose wrong passwords were seen, and who is locked out because of them. Names that nobody has are counted like others: that an
/// account is locked must not say that it is there.
struct LockoutStore {
    struct Failures: Codable, Sendable {
        var moments: [Date]
        var lockedUntil: Date?
    }

    private var people: Table<UserKey, Failures>

    init(_ transaction: RowCache) { people = Table(.lockout, transaction) }

    /// Whether somebody is locked out.
    func isLocked(_ user: UserKey, at now: Date) -> Bool {
        people.value(for: user, at: now)?.lockedUntil.map { now < $0 } ?? false
    }

    /// Notes a wrong password. True when it locks the account.
    mutating func fail(_ user: UserKey, _ rule: Lockout, at now: Date) -> Bool {
        guard rule.failures > 0 else { return false }
        let earliest = now.addingTimeInterval(-Double(rule.within))
        let recent = (people.value(for: user, at: now)?.moments ?? []).filter { $0 > earliest && $0 <= now } + [now]
        let locks = recent.count >= rule.failures
        let end = now.addingTimeInterval(Double(locks ? rule.duration : rule.within))
        let failures = Failures(moments: locks ? [] : recent, lockedUntil: locks ? end : nil)
        people.insert(failures, for: user, until: end)
        return locks
    }

    /// Forgets what was wrong: the right password was seen, or somebody unlocked the account.
    mutating func clear(_ user: UserKey, at now: Date) { _ = people.remove(user, at: now) }
}
