import Foundation

/// A token bucket: it refills over time, and every request takes one token.
struct TokenBucket: Codable, Sendable {
    private var tokens: Double
    private var filledAt: Date

    /// Creates a full bucket.
    init(_ limit: RateLimit, at now: Date) { (tokens, filledAt) = (Double(limit.burst), now) }

    /// Takes a token.
    ///
    /// Returns nil on success, or the number of seconds until the next token, 1 or more.
    mutating func take(_ limit: RateLimit, at now: Date) -> Int? {
        // A clock that was moved backwards removes no tokens.
        let elapsed = max(0, now.timeIntervalSince(filledAt))
        tokens = min(Double(limit.burst), tokens + elapsed * limit.perSecond)
        filledAt = now
        guard tokens >= 1 else { return max(1, Int(((1 - tokens) / limit.perSecond).rounded(.up))) }
        tokens -= 1
        return nil
    }

    /// Returns the time at which the bucket is full again if no more tokens are taken.
    ///
    /// It can be forgotten then.
    func isFull(_ limit: RateLimit) -> Date {
        filledAt.addingTimeInterval((Double(limit.burst) - tokens) / limit.perSecond)
    }
}

extension RateLimit {
    fileprivate var perSecond: Double { Double(perMinute) / 60 }
}

/// The token buckets of the subjects of one process, for example network addresses.
struct RateLimiter<Subject: Hashable & Sendable>: Sendable {
    private var buckets: [Subject: (bucket: TokenBucket, fullAt: Date)] = [:]
    private let capacity: Int
    private var nextSweep: Int

    /// Creates a limiter.
    /// - Parameter capacity: The maximum number of buckets. When it is reached, the tenth of the buckets that would be full first is
    ///   removed.
    init(capacity: Int = 20_000) {
        self.capacity = capacity
        nextSweep = min(capacity, Self.firstSweep)
    }

    private static var firstSweep: Int { 64 }

    /// The number of stored buckets, including full ones that are not removed yet.
    var count: Int { buckets.count }

    /// Takes a token, like ``TokenBucket/take(_:at:)``.
    mutating func take(_ subject: Subject, _ limit: RateLimit, at now: Date) -> Int? {
        let known = buckets[subject].flatMap { now < $0.fullAt ? $0.bucket : nil }
        var bucket = known ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { return wait }
        if buckets[subject] == nil, buckets.count >= nextSweep { makeRoom(at: now) }
        buckets[subject] = (bucket, bucket.isFull(limit))
        return nil
    }

    private mutating func makeRoom(at now: Date) {
        buckets = buckets.filter { now < $0.value.fullAt }
        if buckets.count >= capacity {
            let oldest = buckets.sorted { $0.value.fullAt < $1.value.fullAt }.prefix(max(1, capacity / 10))
            for (subject, _) in oldest { buckets[subject] = nil }
        }
        nextSweep = min(capacity, max(Self.firstSweep, buckets.count * 2))
    }
}

/// The token buckets for attempts to guess each user's secrets.
///
/// All servers of the same state share them.
struct AttemptLimiter {
    private var buckets: Table<UserKey, TokenBucket>
    private let now: Date

    init(_ transaction: RowCache) {
        buckets = Table(.guesses, transaction)
        now = transaction.now
    }

    /// Takes a token, like ``TokenBucket/take(_:at:)``.
    mutating func take(_ user: UserKey, _ limit: RateLimit) throws -> Int? {
        var bucket = try buckets[user] ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { return wait }
        buckets.insert(bucket, for: user, until: bucket.isFull(limit))
        return nil
    }
}

/// The wrong passwords for each user name, and the lockouts that follow from them.
///
/// Unknown names are counted too, so that a lockout doesn't reveal that an account exists.
struct LockoutStore {
    struct Failures: Codable, Sendable {
        var moments: [Date]
        var lockedUntil: Date?
    }

    private var table: Table<UserKey, Failures>
    private let now: Date

    init(_ transaction: RowCache) {
        table = Table(.lockout, transaction)
        now = transaction.now
    }

    /// Returns true when the user is locked out.
    func isLocked(_ user: UserKey) throws -> Bool {
        try table[user]?.lockedUntil.map { now < $0 } ?? false
    }

    /// Records a wrong password.
    ///
    /// Returns true when it locks the account.
    mutating func fail(_ user: UserKey, _ rule: Lockout) throws -> Bool {
        guard rule.failures > 0 else { return false }
        let earliest = now.addingTimeInterval(-Double(rule.within))
        let recent = (try table[user]?.moments ?? []).filter { $0 > earliest && $0 <= now } + [now]
        let locks = recent.count >= rule.failures
        let end = now.addingTimeInterval(Double(locks ? rule.duration : rule.within))
        let failures = Failures(moments: locks ? [] : recent, lockedUntil: locks ? end : nil)
        table.insert(failures, for: user, until: end)
        return locks
    }

    /// Forgets the wrong passwords after a correct password or when the account is unlocked.
    mutating func clear(_ user: UserKey) throws { try table.remove(user) }
}
