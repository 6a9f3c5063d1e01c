package import Foundation
package import SignetStorage

extension LegacyArchive {
    /// Reads the exported items of an app that used the ForgeRock SDK for iOS and Ping's modules.
    ///
    /// A script wrote them from the published layout.
    /// - Throws: The error of a file that cannot be read.
    package static func fixture() throws -> LegacyArchive {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try LegacyArchive(try Data(contentsOf: tests.appending(path: "SignetTransferTests/Fixtures/keychain.plist")))
    }
}

/// The items of another store with changed content.
package struct ChangedLegacyStore: LegacyStore {
    private let store: any LegacyStore
    private let change: @Sendable (_ service: String, _ item: LegacyItem) -> Data?

    /// Creates a store in front of another one.
    /// - Parameters:
    ///   - store: The other store.
    ///   - change: Returns the content of an item of a service; nil for an item that does not open.
    package init(_ store: any LegacyStore, change: @escaping @Sendable (_ service: String, _ item: LegacyItem) -> Data?) {
        (self.store, self.change) = (store, change)
    }

    package func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem] {
        try store.items(of: service, sealedBy: key).map { LegacyItem(name: $0.name, content: change(service, $0)) }
    }
}
