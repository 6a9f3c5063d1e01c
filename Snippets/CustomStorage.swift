// A storage of one's own: any class or actor with three methods, with a cache in front.
import Foundation
import Storage

// snippet.show
/// One item in a file, as JSON.
public class FileStorage<T: Codable>: Storage {
    private let file: URL

    /// Creates a storage in a file, which need not exist.
    public init(file: URL) {
        self.file = file
    }

    /// Writes the item in place of an earlier one.
    public func save(item: T) async throws {
        try JSONEncoder().encode(item).write(to: file, options: .atomic)
    }

    /// Returns the item, or nil when there is none.
    public func get() async throws -> T? {
        do {
            return try JSONDecoder().decode(T.self, from: Data(contentsOf: file))
        } catch CocoaError.fileReadNoSuchFile {
            return nil  // Proved absence. Whatever else goes wrong is an error.
        }
    }

    /// Removes the item if there is one.
    public func delete() async throws {
        do {
            try FileManager.default.removeItem(at: file)
        } catch CocoaError.fileNoSuchFile {
            // Deleting an absent item succeeds.
        }
    }
}

/// The same with calls one after another, and a cache.
public class CachedFileStorage<T: Codable>: StorageDelegate<T> {
    /// Creates a storage in a file.
    ///
    /// With `cacheable`, reads are answered from memory.
    public init(file: URL, cacheable: Bool = true) {
        super.init(delegate: FileStorage<T>(file: file), cacheable: cacheable)
    }
}
// snippet.hide

struct Settings: Codable {
    var theme: String
}

func keepSettings(in file: URL) async throws -> String? {
    // snippet.show
    let storage = CachedFileStorage<Settings>(file: file)
    try await storage.save(item: Settings(theme: "dark"))
    let settings = try await storage.get()
    // snippet.hide
    return settings?.theme
}
