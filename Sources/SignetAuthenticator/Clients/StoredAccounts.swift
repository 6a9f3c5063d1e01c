#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All data of an authenticator, as one item of a `Storage` that the app implements.
///
/// The content is private to the SDK: store the item unchanged. Protect it, because it contains the secrets of all accounts.
public struct StoredAccounts: Codable, Sendable, Hashable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private enum CodingKeys: String, CodingKey { case records }

    /// Decodes the item.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        bytes = Array(try members.decode(Data.self, forKey: .records))
    }

    /// Encodes the item.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(Data(bytes), forKey: .records)
    }
}

extension StoredAccounts: CustomStringConvertible, CustomReflectable {
    /// A placeholder with the size, without the content.
    public var description: String { "<accounts in \(bytes.count) bytes>" }
    /// An empty mirror, so that `dump` does not show the content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
