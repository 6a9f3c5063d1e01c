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

    /// Returns the number of seconds until the next token, 1 or more; nil when there is one now.
    func wait(_ limit: RateLimit, at now: Date) -> Int? {
        var bucket = self
        return bucket.take(limit, at: now)
    }

    /// Puts a token back that was taken.
    mutating func giveBack(_ limit: RateLimit) { tokens = min(Double(limit.burst), tokens + 1) }

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

    /// Returns the number of seconds until a subject's next token, like ``TokenBucket/wait(_:at:)``.
    func wait(_ subject: Subject, _ limit: RateLimit, at now: Date) -> Int? {
        buckets[subject].flatMap { now < $0.fullAt ? $0.bucket.wait(limit, at: now) : nil }
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

/// The token buckets for attempts to guess each user's secrets, and for wrong user codes of devices.
///
/// All servers of the same state share them.
struct AttemptLimiter {
    private var buckets: Table<String, TokenBucket>
    private let now: Date

    init(_ transaction: RowCache) {
        buckets = Table(.guesses, transaction)
        now = transaction.now
    }

    /// Takes a token, like ``TokenBucket/take(_:at:)``.
    mutating func take(_ user: UserKey, _ limit: RateLimit) throws -> Int? { try take(user.rowName, limit) }

    /// Takes a token for a wrong user code that a user has entered.
    ///
    /// The caller has checked ``waitForUserCode(_:_:)``.
    mutating func takeUserCode(_ user: UserKey, _ limit: RateLimit) throws {
        _ = try take(Self.userCodes(user), limit)
    }

    /// Returns the number of seconds until the user may enter another user code; nil when the user may enter one now.
    func waitForUserCode(_ user: UserKey, _ limit: RateLimit) throws -> Int? {
        try buckets[Self.userCodes(user)]?.wait(limit, at: now)
    }

    private mutating func take(_ name: String, _ limit: RateLimit) throws -> Int? {
        var bucket = try buckets[name] ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { return wait }
        buckets.insert(bucket, for: name, until: bucket.isFull(limit))
        return nil
    }

    /// Returns the name of the row, which differs from that of every user, because theirs begin with a digit.
    private static func userCodes(_ user: UserKey) -> String { "user-code \(user.rowName)" }
}
