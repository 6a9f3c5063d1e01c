import SignetCore
import SignetStorage

/// The names that were written, each once, in order.
final class NameList: Sendable {
    private let names = Mutex<[RecordKey]>([])

    var all: [RecordKey] { names.withLock { $0 } }

    func add(_ name: RecordKey) {
        names.withLock { if !$0.contains(name) { $0.append(name) } }
    }
}
