public import Foundation
import SignetCore
public import SignetStorage

/// A memory of received logout tokens in a `RecordStore`, for processes that share the store, and for a service that keeps it
/// across restarts.
///
/// It has one record for each issuer, of the kind `RecordKind.item`. The record contains digests of the tokens' IDs and the times
/// until which they are kept. A new token replaces those that have expired. When the rest reaches the capacity, no token is
/// accepted until one expires. A record with another content is moved to `RecordKind.quarantined`, and a new one replaces it.
///
/// Each token writes the record of its issuer twice, with about 60 bytes for each remembered token. Choose the capacity for the
/// number of logouts within the validity of a token, which is a few minutes.
public struct RecordLogoutTokenMemory: LogoutTokenMemory {
    /// The maximum number of tokens of one issuer by default.
    public static let defaultCapacity = 1_000

    private let store: any RecordStore
    private let capacity: Int

    /// Creates a memory in a store.
    /// - Parameters:
    ///   - store: The store. The processes of the service must use the same one.
    ///   - capacity: The maximum number of tokens of one issuer.
    public init(_ store: any RecordStore, capacity: Int = defaultCapacity) {
        self.store = store
        self.capacity = capacity
    }

    /// Remembers a token in one transaction; see ``LogoutTokenMemory/begin(_:issuer:until:now:)``.
    ///
    /// Two processes that receive the same token at the same time may both begin with it.
    /// - Throws: `StoreError`; `LogoutTokenError` with the code `memoryFull`.
    public func begin(_ id: String, issuer: String, until end: Date, now: Date) async throws -> Bool {
        let (key, digest) = (Self.key(of: issuer), LogoutTokenDigest.text(of: id, issuer: issuer))
        // The rounded time is never earlier than `end`.
        let (last, present) = (Self.seconds(end, .up), Self.seconds(now, .down))
        let outcome = try await Blocking.run { [store, capacity] () throws(StoreError) -> LogoutTokenOutcome in
            try store.write { (records: any RecordWriter) throws(StoreError) -> LogoutTokenOutcome in
                var tokens = try Self.tokens(key, in: records)
                tokens.removeExpired(at: present)
                guard tokens.ended[digest] == nil else { return .ended }
                let known = tokens.begun[digest]
                guard known != nil || tokens.count < capacity else { return .full }
                tokens.begun[digest] = max(known ?? last, last)
                try records.put(tokens.bytes, key)
                return .begun
            }
        }
        return try outcome.isBegun()
    }

    /// Remembers in one transaction that the sessions of a token have ended.
    /// - Throws: `StoreError`.
    public func finish(_ id: String, issuer: String) async throws {
        let (key, digest) = (Self.key(of: issuer), LogoutTokenDigest.text(of: id, issuer: issuer))
        try await Blocking.run { [store] () throws(StoreError) -> Void in
            try store.write { (records: any RecordWriter) throws(StoreError) -> Void in
                var tokens = try Self.tokens(key, in: records)
                guard let end = tokens.begun.removeValue(forKey: digest) else { return }
                tokens.ended[digest] = end
                try records.put(tokens.bytes, key)
            }
        }
    }

    /// Returns the key of an issuer's record.
    ///
    /// It has several parts, so it differs from the key of each item of a `KeychainStorage`.
    private static func key(of issuer: String) -> RecordKey {
        RecordKey(.item, "signet", "logout tokens", LogoutTokenDigest.text(ofIssuer: issuer))
    }

    private static func seconds(_ date: Date, _ rule: FloatingPointRoundingRule) -> Int64 {
        Int64(exactly: date.timeIntervalSince1970.rounded(rule)) ?? .max
    }

    /// Returns the remembered tokens.
    private static func tokens(_ key: RecordKey, in records: any RecordWriter) throws(StoreError) -> RememberedTokens {
        guard let bytes = try records.record(key) else { return RememberedTokens() }
        if let tokens = RememberedTokens(bytes) { return tokens }
        try records.setAside(key)
        return RememberedTokens()
    }
}

/// The digests of the tokens of one issuer, with the seconds since 1970 until which they are kept.
private struct RememberedTokens {
    /// The tokens whose sessions the app has begun to end.
    var begun: [String: Int64] = [:]
    /// The tokens whose sessions have ended.
    var ended: [String: Int64] = [:]

    init() {}

    /// Reads the content of a record; nil when it is another content.
    init?(_ bytes: [UInt8]) {
        guard let members = (try? JSON.value(of: bytes))?.object, let begun = Self.times(members["begun"]),
            let ended = Self.times(members["ended"])
        else { return nil }
        (self.begun, self.ended) = (begun, ended)
    }

    private static func times(_ value: JSONValue?) -> [String: Int64]? {
        guard let members = value?.object else { return nil }
        let times = members.compactMapValues(\.lenientInteger)
        return times.count == members.count ? times : nil
    }

    var count: Int { begun.count + ended.count }

    mutating func removeExpired(at now: Int64) {
        begun = begun.filter { $0.value >= now }
        ended = ended.filter { $0.value >= now }
    }

    var bytes: [UInt8] {
        let content: JSONValue = .object([
            "begun": .object(begun.mapValues { JSONValue.integer($0) }),
            "ended": .object(ended.mapValues { JSONValue.integer($0) }),
        ])
        return JSON.encode(content)
    }
}
