import SignetCore

/// The maximum numbers of rows by kind in a database, and the time to enforce them.
///
/// Counting the rows at each write would be slow. They are counted after a tenth of the maximum was written, and at the first write of
/// the process. A kind has therefore at most about a tenth more rows than its maximum.
final class RowCapacities: Sendable {
    private let capacities: [String: Int]
    /// The number of rows by kind that were written since the last count.
    private let written = Mutex<[String: Int]>([:])

    init(_ capacities: [String: Int]) { self.capacities = capacities }

    /// Counts rows that are written.
    /// - Parameters:
    ///   - kind: The kind of the rows.
    ///   - count: The number of the rows.
    /// - Returns: The maximum of the kind when its rows have to be counted now; nil otherwise.
    func capacity(of kind: String, afterWriting count: Int) -> Int? {
        guard let capacity = capacities[kind] else { return nil }
        let isDue = written.withLock { written in
            let sum = written[kind].map { $0 + count } ?? capacity
            let isDue = sum >= capacity / 10
            written[kind] = isDue ? 0 : sum
            return isDue
        }
        return isDue ? capacity : nil
    }
}
