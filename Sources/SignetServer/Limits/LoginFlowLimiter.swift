import Foundation

/// The cap on the login flows of one network address that have not ended (``ServerLimits/loginFlows``).
///
/// Every client can start flows, and each one occupies the server's state until it expires. The counts are part of the state, so the
/// cap applies in every store and to all servers that share it. It also applies on a loopback address.
struct LoginFlowLimiter {
    private var buckets: Table<String, TokenBucket>
    private let limit: RateLimit?
    private let now: Date

    init(_ transaction: RowCache, _ limit: RateLimit?) {
        buckets = Table(.guesses, transaction)
        self.limit = limit
        now = transaction.now
    }

    /// Counts a flow that an address starts.
    /// - Throws: An error with status 429 when the address has reached the cap.
    mutating func take(_ address: String) throws {
        guard let limit else { return }
        var bucket = try buckets[name(address)] ?? TokenBucket(limit, at: now)
        if let wait = bucket.take(limit, at: now) { throw APIError.tooMany(waiting: wait) }
        buckets.insert(bucket, for: name(address), until: bucket.isFull(limit))
    }

    /// Ends the counting of a flow that has ended.
    mutating func giveBack(_ address: String) throws {
        guard let limit, var bucket = try buckets[name(address)] else { return }
        bucket.giveBack(limit)
        buckets.insert(bucket, for: name(address), until: bucket.isFull(limit))
    }

    /// Returns the name of the row, which differs from the names of users' rows (``UserKey/rowName``).
    private func name(_ address: String) -> String { Self.prefix + address }

    private static let prefix = "login flows of "

    /// True for the key of a row that counts flows.
    static func isCount(_ key: RowKey) -> Bool { key.kind == RowKind.guesses.rawValue && key.name.hasPrefix(prefix) }
}
