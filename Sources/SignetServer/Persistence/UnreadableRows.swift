import Logging
import SignetCore
import SignetStorage

/// The rows that were requested and could not be read, because a later version wrote them or because they were changed or
/// damaged.
///
/// Each is logged once, and listed at `/admin` until it is overwritten or removed. The server never removes a row only because it
/// cannot be read.
final class UnreadableRows: Sendable {
    struct Entry: Sendable {
        let key: RowKey
        let error: StoreError
    }

    /// The maximum number of rows that are remembered.
    static let size = 1000

    private let rows = Mutex<[RowKey: StoreError]>([:])
    private let logger: Logger?

    /// Creates an empty list.
    /// - Parameter logger: The logger that receives a message for each row.
    init(logger: Logger? = nil) { self.logger = logger }

    /// The rows, sorted by kind and name.
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

    /// Removes rows from the list that were overwritten or removed.
    func forget(_ keys: some Sequence<RowKey>) {
        rows.withLock { rows in
            guard !rows.isEmpty else { return }
            for key in keys { rows[key] = nil }
        }
    }

    func forgetAll() { rows.withLock { $0 = [:] } }
}
