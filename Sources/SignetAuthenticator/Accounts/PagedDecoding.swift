import Dispatch
import SignetCore
import SignetStorage
import Synchronization

/// Makes values of records, page by page, while the next page is read: to open one and to make a value of it takes several times
/// as long as to read it. The first page is decoded at once, so that a short list needs no other thread.
final class PagedDecoding<Value: Sendable>: Sendable {
    private struct Page {
        /// Given back by the thread that has read them, when all is made: where one thread gives back what another one still takes
        /// from, each waits for the other.
        let records: [StoredRecord]
        var values: [Value] = []
    }

    private let decode: @Sendable (StoredRecord) -> Value?
    private let pages = Mutex<[Page]>([])
    private let underWay = DispatchGroup()

    /// - Parameter decode: Makes one value; nil where there is none to be made.
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

    /// The values of every page, when all are made. Nothing of them stays here.
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
    /// Hands over every element, the last one first, without copying any: a mechanism is large.
    consuming func drain(_ body: (consuming Mechanism) -> Void) {
        var pages = self
        while var page = pages.popLast() {
            while let mechanism = page.popLast() { body(mechanism) }
        }
    }
}
