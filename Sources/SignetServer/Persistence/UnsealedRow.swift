import SignetCore

/// The value of a row in memory that is not encoded and sealed yet.
///
/// Most rows of a login are replaced or removed by its next request, and nothing reads their bytes before. A store in memory seals
/// those that stay (``MemoryRows``).
final class UnsealedRow: Sendable {
    private enum Content: Sendable {
        case value(any RowValue)
        case sealed([UInt8])
        /// The row was replaced or removed.
        case dropped
    }

    private let content: Mutex<Content>
    private let coder: RowCoder
    private let key: RowKey

    init(_ value: any RowValue, _ coder: RowCoder, _ key: RowKey) {
        content = Mutex(.value(value))
        (self.coder, self.key) = (coder, key)
    }

    /// The bytes of the row, which are made when they are first needed; empty for a value without a form in JSON, and after
    /// ``drop()``.
    var bytes: [UInt8] {
        content.withLock { content in
            switch content {
            case .sealed(let bytes): return bytes
            case .dropped: return []
            case .value(let value):
                let bytes = (try? coder.bytes(of: value, for: key)) ?? []
                content = .sealed(bytes)
                return bytes
            }
        }
    }

    /// True while the value is kept.
    var isUnsealed: Bool {
        content.withLock { if case .value = $0 { true } else { false } }
    }

    /// Releases the value of a row that was replaced or removed.
    func drop() { content.withLock { $0 = .dropped } }

    /// Seals the value, unless its row was dropped.
    func seal() { _ = bytes }
}
