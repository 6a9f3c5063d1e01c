import Foundation
import SignetCore
import SignetStorage

/// A signing key in the stored state.
struct StoredSigningKey: Codable, Sendable {
    let kind: SigningKey.Kind
    /// The private key: PEM for an RSA key, the raw bytes for another one.
    let secret: Secret
    /// The time at which another key replaced this one; nil for a key that signs.
    var retiredAt: Date?
}

/// The signing keys in the stored state.
///
/// The newest one of each kind, which signs, is last.
struct SigningKeys: Sendable {
    /// The RSA keys as PEM, which earlier versions read too.
    private static let rsaRow = RowKey(.server, "signing-keys")
    /// The keys of other kinds, and the times at which RSA keys were replaced.
    private static let otherRow = RowKey(.server, "other-signing-keys")
    /// The rows of the keys, which a reset keeps.
    static let rows: Set = [rsaRow, otherRow]
    /// The maximum number of stored keys of a kind.
    ///
    /// Tokens that were signed with older keys can no longer be verified.
    static let maxKeys = 8

    /// The content of ``otherRow``.
    private struct Others: Codable, Sendable {
        var keys: [StoredSigningKey] = []
        /// The times at which RSA keys were replaced, by the hash of their PEM.
        var retirements: [String: Date] = [:]
    }

    private let store: StateStore

    init(_ store: StateStore) { self.store = store }

    /// Returns all keys.
    /// - Throws: `StoreError`.
    func all() async throws -> [StoredSigningKey] {
        try await store.queue.run { transaction in (try Self.keys(transaction), []) }
    }

    /// Adds keys, which sign from now on.
    /// - Parameters:
    ///   - new: The private keys by kind, in the form of ``StoredSigningKey/secret``.
    ///   - isFirst: True to add a key only when none of its kind is stored. If several servers generate a key at the same time, only
    ///     the first key is stored.
    ///   - now: The time at which the present keys retire.
    ///   - overlap: The number of seconds after which a retired key is removed.
    /// - Returns: All stored keys. When the limit is reached, the oldest key is gone.
    /// - Throws: `StoreError`.
    func add(
        _ new: [SigningKey.Kind: Secret], onlyAsFirst isFirst: Bool, at now: Date, keepingFor overlap: Double
    ) async throws -> [StoredSigningKey] {
        try await store.queue.run { transaction in
            let present = try Self.keys(transaction)
            var all: [StoredSigningKey] = []
            for kind in SigningKey.Kind.allCases {
                var keys = present.filter { $0.kind == kind }
                if let secret = new[kind], !isFirst || keys.isEmpty {
                    for index in keys.indices where keys[index].retiredAt == nil { keys[index].retiredAt = now }
                    keys = keys.filter { $0.isUsable(at: now, for: overlap) }
                    keys.append(StoredSigningKey(kind: kind, secret: secret))
                }
                all += keys.suffix(Self.maxKeys)
            }
            guard all.count != present.count || !isFirst else { return (present, []) }
            Self.put(all, transaction)
            return (all, [ClusterMessage.keys.text])
        }
    }

    private static func keys(_ transaction: RowCache) throws(StoreError) -> [StoredSigningKey] {
        let rsa = (try transaction.value(rsaRow) as RowCache.Present<[Secret]>?)?.value ?? []
        let others = (try transaction.value(otherRow) as RowCache.Present<Others>?)?.value ?? Others()
        return rsa.map { StoredSigningKey(kind: .rsa, secret: $0, retiredAt: others.retirements[name(of: $0)]) } + others.keys
    }

    private static func put(_ all: [StoredSigningKey], _ transaction: RowCache) {
        let rsa = all.filter { $0.kind == .rsa }
        var others = Others(keys: all.filter { $0.kind != .rsa })
        for key in rsa { others.retirements[name(of: key.secret)] = key.retiredAt }
        transaction.put(rsa.map(\.secret), rsaRow)
        transaction.put(others, otherRow)
    }

    private static func name(of key: Secret) -> String { TokenHash(String(decoding: key.bytes, as: UTF8.self)).text }
}

extension StoredSigningKey {
    /// Returns true while tokens that the key has signed can be valid.
    /// - Parameters:
    ///   - now: The present time.
    ///   - overlap: The lifetime of the tokens, in seconds.
    /// - Returns: False for a key that was replaced so long ago.
    func isUsable(at now: Date, for overlap: Double) -> Bool { retiredAt.map { now < $0.addingTimeInterval(overlap) } ?? true }
}
