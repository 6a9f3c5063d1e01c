import PingStorage

actor CustomStorage<T: Codable & Sendable>: Storage {
    private var data: T?
    /// The number of reads of the item.
    private(set) var reads = 0

    func save(item: T) async throws {
        data = item
    }

    func get() async throws -> T? {
        reads += 1
        return data
    }

    func delete() async throws {
        data = nil
    }
}

class CustomStorageDelegate<T: Codable & Sendable>: StorageDelegate<T> {
    init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}
