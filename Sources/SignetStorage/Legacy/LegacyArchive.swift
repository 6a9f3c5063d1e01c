public import Foundation

/// The items of an app's keychain, exported to a file: a binary property list (docs/reference/keychain-archive.md).
///
/// The list is an array of dictionaries with the members of keychain items: `svce` (service), `acct` (account) and `v_Data` (the
/// opened bytes); all others are ignored. The array may be the member `items` of a dictionary.
///
/// The file contains the secrets in plain text. Remove it after the import.
public struct LegacyArchive: LegacyStore {
    /// The maximum number of items.
    static let maxItems = 100_000

    private let items: [String: [LegacyItem]]

    /// Reads an archive.
    /// - Parameter bytes: The whole file.
    /// - Throws: ``StoreError/Code/corrupt`` when the bytes are not such a property list, or an item lacks a member or occurs
    ///   twice. Nothing of a damaged file is used.
    public init(_ bytes: Data) throws(StoreError) {
        do throws(ArchiveError) {
            try self.init(list: try BinaryPropertyList.value(of: Array(bytes)))
        } catch {
            throw StoreError(.corrupt, "read the exported keychain items", error.description)
        }
    }

    /// Returns true when a property list is an archive of keychain items.
    package static func isOne(_ list: PropertyListValue) -> Bool {
        entries(list)?.first?.dictionary?["svce"] != nil
    }

    private static func entries(_ list: PropertyListValue) -> [PropertyListValue]? {
        list.array ?? list.dictionary?["items"]?.array
    }

    package init(list: PropertyListValue) throws(ArchiveError) {
        guard let entries = Self.entries(list) else { throw ArchiveError("file", "it is not a list of keychain items") }
        guard entries.count <= Self.maxItems else { throw ArchiveError("file", "more than \(Self.maxItems) items") }
        var items: [String: [String: LegacyItem]] = [:]
        for (index, entry) in entries.enumerated() {
            guard let members = entry.dictionary, let service = members["svce"]?.string, let name = members["acct"]?.string,
                let content = members["v_Data"]?.data
            else { throw ArchiveError("item \(index + 1)", "svce, acct or v_Data is missing or of another type") }
            let item = LegacyItem(name: name, content: content)
            guard items[service, default: [:]].updateValue(item, forKey: name) == nil else {
                throw ArchiveError("item \(index + 1)", "it is in the list twice")
            }
        }
        self.items = items.mapValues { $0.values.sorted { $0.name < $1.name } }
    }

    /// The names of all services in the archive.
    package var services: Set<String> { Set(items.keys) }

    /// Returns the items of a service.
    ///
    /// The key is not used, because the archive has the opened bytes.
    public func items(of service: String, sealedBy key: LegacyKey?) -> [LegacyItem] { items[service] ?? [] }
}
