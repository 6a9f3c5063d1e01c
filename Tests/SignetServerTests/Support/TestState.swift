import Foundation
import SignetCore
import SignetStorage

@testable import SignetServer

extension RowCache {
    /// Runs a transaction on an empty state without other users.
    static func exclusive(_ rows: any RowReader = MemoryRows()) -> RowCache {
        RowCache(rows, RowCoder(Secret.random(byteCount: 32)), PasswordMemory(), isExclusive: true)
    }
}

extension ServerTransaction {
    /// Runs a rule on an empty state, which is discarded afterwards.
    init(users: [User], clients: [RegisteredClient] = [], trees: [JourneyTree], time: RequestTime = .sample()) {
        self.init(
            TransactionConstants(
                users: users, clients: ClientRegistry(clients), trees: trees.byName, key: Secret.random(byteCount: 32)),
            .exclusive(),
            time)
    }
}

/// Rows and the rules that run on them one after the other.
struct TestRows {
    let store: any RowStore
    let coder: RowCoder

    init(_ store: any RowStore = MemoryRows(), key: Secret = Secret.random(byteCount: 32)) {
        self.store = store
        coder = RowCoder(key)
    }

    /// Runs a rule and writes its changes.
    @discardableResult
    func transact<R>(at now: Date, _ body: (RowCache) throws -> R) throws -> R {
        let result: Result<R, any Error> = try store.transact { reader throws(StoreError) in
            let transaction = RowCache(reader, coder, PasswordMemory(), isExclusive: true)
            transaction.now = now
            let result = Result { try body(transaction) }
            guard case .success = result else { return (result, RowChanges()) }
            var changes = RowChanges()
            changes.rows = try transaction.changes()
            changes.now = now.rowTime
            return (result, changes)
        }
        return try result.get()
    }

    /// The number of rows of a kind, including expired ones that are not swept yet.
    func count(_ kind: RowKind) throws -> Int {
        try store.transact { reader throws(StoreError) in (try reader.count(kind.rawValue, at: .min, limit: .max), RowChanges()) }
    }
}
