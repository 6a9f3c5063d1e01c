import Foundation

/// All data of an authenticator, as one item of a `Storage` that the app implements.
///
/// The content is private to the SDK: store the item unchanged. Protect it, because it contains the secrets of all accounts.
public struct StoredAccounts: Codable, Sendable, Hashable {
    private let records: Data

    /// Creates an item from the encoded records.
    package init(bytes: [UInt8]) {
        records = Data(bytes)
    }

    /// The encoded records.
    package var bytes: [UInt8] { Array(records) }
}

extension StoredAccounts: CustomStringConvertible, CustomReflectable {
    /// A placeholder with the size, without the content.
    public var description: String { "<accounts in \(records.count) bytes>" }
    /// An empty mirror, so that `dump` does not show the content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
