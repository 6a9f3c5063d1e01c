import Foundation

/// The cap on the login flows of one network address that no user has finished.
///
/// Every client can start flows, and each one occupies the server's state until it expires. The counts are part of the state, so the
/// cap applies in every store and to all servers that share it. It also applies on a loopback address.
struct LoginFlowLimiter {
    /// The number of flows at once, and the number per minute after that.
    ///
    /// The rate is that of the expiry of flows without an answer.
    static let limit = RateLimit(perMinute: 100, burst: 1000)

    private var buckets: Table<String, TokenBucket>
    private let now: Date

    init(_ transaction: RowCache) {
        buckets = Table(.guesses, transaction)
        now = transaction.now
    }

    /// Counts a flow that an address starts.
    /// - Throws: An error with status 429 when the address has reached the cap.
    mutating func take(_ address: String) throws {
        var bucket = try buckets[name(address)] ?? TokenBucket(Self.limit, at: now)
        if let wait = bucket.take(Self.limit, at: now) { throw APIError.tooMany(waiting: wait) }
        save(bucket, address)
    }

    /// Ends the counting of a flow in which the user has logged in.
    mutating func giveBack(_ address: String) throws {
        guard var bucket = try buckets[name(address)] else { return }
        bucket.giveBack(Self.limit)
        save(bucket, address)
    }

    private mutating func save(_ bucket: TokenBucket, _ address: String) {
        buckets.insert(bucket, for: name(address), until: bucket.isFull(Self.limit))
    }

    /// Returns the name of the row, which differs from the names of users' rows (``UserKey/rowName``).
    private func name(_ address: String) -> String { "login flows of \(address)" }
}
