import SignetCore

/// JSON documents by key, with their size.
struct DocumentTable<Key: Hashable & Sendable>: Sendable {
    private var documents: [Key: JSONValue] = [:]
    /// The size of all documents together, as JSON in bytes.
    private(set) var size = 0

    var count: Int { documents.count }
    var all: [Key: JSONValue] { documents }

    subscript(key: Key) -> JSONValue? {
        get { documents[key] }
        set {
            size += Self.size(newValue) - Self.size(documents[key])
            documents[key] = newValue
        }
    }

    private static func size(_ document: JSONValue?) -> Int { document.map { JSON.encode($0).count } ?? 0 }
}
