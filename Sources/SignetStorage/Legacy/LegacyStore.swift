public import Foundation

/// A read-only view of what another SDK stored for the same app.
///
/// On Apple's systems it is the keychain (`LegacyKeychain`). Elsewhere it is an exported archive (``LegacyArchive``). Nothing of
/// this package changes or removes what is in it.
public protocol LegacyStore: Sendable {
    /// Returns all items of a service, which is a namespace in the keychain.
    ///
    /// - Parameters:
    ///   - service: The name of the service, for example `com.pingidentity.oath`.
    ///   - key: The key that the SDK sealed the items with; nil for a service whose items are not sealed.
    /// - Returns: The items in the order of their names; empty for a service without items.
    /// - Throws: ``StoreError`` when the store cannot be read. A single item that does not open is not an error: its
    ///   ``LegacyItem/content`` is nil.
    func items(of service: String, sealedBy key: LegacyKey?) throws(StoreError) -> [LegacyItem]
}

/// An item that another SDK stored.
///
/// It contains secrets, and its description does not show them.
public struct LegacyItem: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The name of the item within its service: the account of a keychain item.
    public let name: String
    /// The bytes as the SDK wrote them, after they were opened; nil when they are sealed and do not open with the SDK's key.
    public let content: Data?

    /// Creates an item.
    /// - Parameters:
    ///   - name: The name within the service.
    ///   - content: The opened bytes; nil when they do not open.
    public init(name: String, content: Data?) {
        self.name = name
        self.content = content
    }

    /// The size, without name and content.
    public var description: String { "<item of \(content.map { "\($0.count) bytes" } ?? "sealed bytes")>" }
    /// An empty mirror, so that `dump` does not show the content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The tag of a key in the Secure Enclave with which another SDK sealed its items, and the keychain access group of the key.
///
/// Items that are sealed by the key may be in any group of the app.
public struct LegacyKey: Sendable, Hashable {
    /// The application tag of the key.
    public let tag: String
    /// The access group of the key; nil for the app's own.
    public let accessGroup: String?

    /// Creates the name of a key.
    /// - Parameters:
    ///   - tag: The application tag.
    ///   - accessGroup: The access group; nil for the app's own.
    public init(tag: String, accessGroup: String? = nil) {
        self.tag = tag
        self.accessGroup = accessGroup
    }

    /// The key of the ForgeRock SDK's authenticator.
    public static let forgeRockAuthenticator = LegacyKey(tag: "com.forgerock.ios.authenticator.securedKey.identifier")
    /// Returns the key of the ForgeRock SDK's sessions.
    /// - Parameter accessGroup: The keychain access group in the app's configuration; nil when it has none.
    /// - Returns: The key.
    public static func forgeRockSession(accessGroup: String? = nil) -> LegacyKey {
        LegacyKey(tag: "com.forgerock.ios.securedKey.identifier", accessGroup: accessGroup)
    }
    /// The key of Ping's `SecuredKeyEncryptor`.
    public static let ping = LegacyKey(tag: SecuredKey.defaultTag)
}
