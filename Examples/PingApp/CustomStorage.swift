import PingStorage

class CustomStorage<T: Codable>: Storage {
    private var data: T?

    func save(item: T) async throws {
        data = item
    }

    func get() async throws -> T? {
        return data
    }

    func delete() async throws {
        data = nil
    }
}

class CustomStorageDelegate<T: Codable>: StorageDelegate<T> {
    init(cacheable: Bool = false) {
        super.init(delegate: CustomStorage<T>(), cacheable: cacheable)
    }
}
