import Dispatch
import SignetCore
import SignetStorage

/// A decoder that converts records to values page by page, in parallel with the reading of the next page.
///
/// Opening and decoding a record takes several times as long as reading it. The first page is decoded synchronously, so that a
/// short list needs no other thread.
final class PagedDecoding<Value: Sendable>: Sendable {
    private struct Page {
        /// The records, which the reading thread releases after all pages are decoded.
        ///
        /// If one thread released them while another one still allocated, the two would contend for the allocator.
        let records: [StoredRecord]
        var values: [Value] = []
    }

    private let decode: @Sendable (StoredRecord) -> Value?
    private let pages = Mutex<[Page]>([])
    private let underWay = DispatchGroup()

    /// - Parameter decode: Converts a record to a value; returns nil for a record that cannot be decoded.
    init(_ decode: @escaping @Sendable (StoredRecord) -> Value?) { self.decode = decode }

    func add(_ records: [StoredRecord]) {
        let number = pages.withLock { pages in
            pages.append(Page(records: records))
            return pages.count - 1
        }
        let work: @Sendable () -> Void = { [self] in
            let values = records.compactMap(decode)
            pages.withLock { $0[number].values = values }
        }
        if number == 0 { work() } else { DispatchQueue.global(qos: .userInitiated).async(group: underWay, execute: work) }
    }

    /// Waits until all pages are decoded, and returns their values.
    ///
    /// The decoder keeps nothing of them.
    func takePages() -> [[Value]] {
        underWay.wait()
        let pages = pages.withLock { pages in
            defer { pages = [] }
            return pages
        }
        return pages.map(\.values)
    }
}

extension [[Mechanism]] {
    /// Passes every element to `body`, last element first, without copying: a mechanism is large.
    consuming func drain(_ body: (consuming Mechanism) -> Void) {
        var pages = self
        while var page = pages.popLast() {
            while let mechanism = page.popLast() { body(mechanism) }
        }
    }
}
