import Foundation
import SignetCore
import SignetStorage

/// The id_token signing keys in the stored state, as PEM.
///
/// The newest one, which signs, is last.
struct SigningKeys: Sendable {
    static let row = RowKey(.server, "signing-keys")
    /// The maximum number of stored keys.
    ///
    /// Tokens that were signed with older keys can no longer be verified.
    static let maxKeys = 8

    private let store: StateStore

    init(_ store: StateStore) { self.store = store }

    /// Returns all keys.
    /// - Throws: `StoreError`.
    func all() async throws -> [Secret] {
        try await store.queue.run { transaction in (try Self.keys(transaction), []) }
    }

    /// Adds a key, which signs from now on.
    /// - Parameters:
    ///   - key: The private key, as PEM.
    ///   - isFirst: True to add the key only when none is stored. If several servers generate a key at the same time, only the
    ///     first key is stored.
    /// - Returns: All stored keys, the newest one last. When the limit is reached, the oldest key is gone.
    /// - Throws: `StoreError`.
    func add(_ key: Secret, onlyAsFirst isFirst: Bool) async throws -> [Secret] {
        try await store.queue.run { transaction in
            let present = try Self.keys(transaction)
            guard !isFirst || present.isEmpty else { return (present, []) }
            let all = Array((present + [key]).suffix(Self.maxKeys))
            transaction.put(all, Self.row)
            return (all, [ClusterMessage.keys.text])
        }
    }

    private static func keys(_ transaction: RowCache) throws(StoreError) -> [Secret] {
        (try transaction.value(row) as RowCache.Present<[Secret]>?)?.value ?? []
    }
}
