import SignetCore

/// Facts of stored rows, by the digests of their sealed bytes.
///
/// A list that is polled needs a fact of each of thousands of rows, and to decrypt and decode a row takes far longer than to read it
/// (``RowCache/newestFacts(_:limit:_:_:)``). Sealed bytes are never written twice, because each sealing has its own nonce. A row
/// with the same digest is therefore the same, also when another server of a shared state writes rows.
final class RowFacts<Fact: Sendable>: Sendable {
    struct Entry: Sendable {
        let digest: Int
        let fact: Fact
    }

    private let facts = Mutex<[RowKey: Entry]>([:])

    var entries: [RowKey: Entry] { facts.withLock { $0 } }

    /// Replaces the facts, so that there are never more of them than a list has rows.
    func replace(with entries: [RowKey: Entry]) { facts.withLock { $0 = entries } }

    /// Returns the digest of a row, with a key of this process.
    static func digest(of bytes: [UInt8]) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
