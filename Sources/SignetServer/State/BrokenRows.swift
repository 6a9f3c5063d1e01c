import Logging
import SignetCore
import SignetStorage
import Synchronization

/// The rows that somebody asked for and that cannot be read: written by a later version, changed by somebody, or damaged. Each is logged
/// once, and listed at `/admin` until it is written anew or removed. None is removed because it cannot be read.
final class BrokenRows: Sendable {
    struct Entry: Sendable {
        let key: RowKey
        let error: StoreError
    }

    /// The most that are remembered.
    static let size = 1000

    private let rows = Mutex<[RowKey: StoreError]>([:])
    private let logger: Logger?

    /// - Parameter logger: Is told of each.
    init(logger: Logger? = nil) { self.logger = logger }

    /// By kind and name.
    var entries: [Entry] {
        rows.withLock { $0 }.map { Entry(key: $0.key, error: $0.value) }
            .sorted { ($0.key.kind, $0.key.name) < ($1.key.kind, $1.key.name) }
    }

    func report(_ key: RowKey, _ error: StoreError) {
        let isNew = rows.withLock { rows in
            guard rows[key] == nil, rows.count < Self.size else { return false }
            rows[key] = error
            return true
        }
        guard isNew else { return }
        logger?.error(
            "a row of the state cannot be read",
            metadata: ["kind": "\(key.kind)", "name": "\(key.name)", "error": "\(error)"])
    }

    /// Rows were written anew, or removed.
    func forget(_ keys: [RowKey]) {
        rows.withLock { rows in
            guard !rows.isEmpty else { return }
            for key in keys { rows[key] = nil }
        }
    }

    func forgetAll() { rows.withLock { $0 = [:] } }
}
