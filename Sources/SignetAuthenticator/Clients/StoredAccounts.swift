#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Everything that an authenticator keeps, as one item of a `Storage` that an app brings.
///
/// What is in it is the SDK's: keep the item as it is, and keep it safe, for the secrets of all accounts are in it.
public struct StoredAccounts: Codable, Sendable, Hashable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private enum CodingKeys: String, CodingKey { case records }

    /// Reads the item again.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        bytes = Array(try members.decode(Data.self, forKey: .records))
    }

    /// Writes the item.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(Data(bytes), forKey: .records)
    }
}

extension StoredAccounts: CustomStringConvertible, CustomReflectable {
    /// A placeholder with the size; never the content.
    public var description: String { "<accounts in \(bytes.count) bytes>" }
    /// Nothing: `dump` shows no child.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
