import SignetCore
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys that id_tokens are signed with, as they are kept with the state: PEM, the newest one, which signs, last.
struct SigningKeys: Sendable {
    static let row = RowKey(kind: TransactionQueue.serverKind, name: "signing-keys")
    /// The most that are kept: what was signed with one before is no longer known.
    static let most = 8

    private let house: StateStore

    init(_ house: StateStore) { self.house = house }

    /// All of them.
    /// - Throws: `StoreError`.
    func all() async throws -> [Secret] {
        try await house.open().engine.run { transaction in (Self.keys(transaction), []) }
    }

    /// Adds one, which signs from now on; returns all.
    /// - Parameter isFirst: whether it is only added where there is none: of servers that make one at the same time one does.
    /// - Throws: `StoreError`.
    func add(_ key: Secret, onlyAsFirst isFirst: Bool) async throws -> [Secret] {
        try await house.open().engine.run { transaction in
            let present = Self.keys(transaction)
            guard !isFirst || present.isEmpty else { return (present, []) }
            let all = Array((present + [key]).suffix(Self.most))
            transaction.put(all, Self.row)
            return (all, [ClusterMessage.keys.text])
        }
    }

    private static func keys(_ transaction: RowCache) -> [Secret] {
        (transaction.value(row, at: .distantPast) as (value: [Secret], expiresAt: Int64)?)?.value ?? []
    }
}
