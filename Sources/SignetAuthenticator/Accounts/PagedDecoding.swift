import Dispatch
import SignetStorage
import Synchronization

/// Makes values of records, page by page, while the next page is read: to make one takes about as long as to read and open its
/// record. The first page is decoded at once, so that a short list needs no other thread.
final class PagedDecoding<Value: Sendable>: Sendable {
    private let decode: @Sendable (StoredRecord) -> Value?
    private let decoded = Mutex<[[Value]]>([])
    private let underWay = DispatchGroup()

    /// - Parameter decode: Makes one value; nil where there is none to be made.
    init(_ decode: @escaping @Sendable (StoredRecord) -> Value?) { self.decode = decode }

    func add(_ page: [StoredRecord]) {
        let number = decoded.withLock { pages in
            pages.append([])
            return pages.count - 1
        }
        let work: @Sendable () -> Void = { [self] in
            let values = page.compactMap(decode)
            decoded.withLock { $0[number] = values }
        }
        if number == 0 { work() } else { DispatchQueue.global(qos: .userInitiated).async(group: underWay, execute: work) }
    }

    /// The values of every page, in order, when all are made.
    func pages() -> [[Value]] {
        underWay.wait()
        return decoded.withLock { $0 }
    }
}
