import SignetAuthenticator

/// The name of a push platform, as credentials carry it.
///
/// A ``PushHandler`` implements the platform for a ``PushClient``, and a `PushPlatform` for an `Authenticator`.
public struct PushPlatformName: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    /// The name.
    public let rawValue: String

    /// Creates the name of a platform.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the name of a platform.
    public init(stringLiteral name: String) {
        rawValue = name
    }

    /// The built-in platform of ForgeRock AM, PingAM and OpenAM.
    public static let pingAM = PushPlatformName(rawValue: AccessManagerPlatform.name)

    /// Returns the platform for the SDK spellings `pingam`, `ping_am` and `ping-am`, ignoring case.
    /// - Throws: ``PushError/invalidPlatform(_:)`` for any other name; create other names with ``init(rawValue:)``.
    public static func fromString(_ name: String) throws(PushError) -> PushPlatformName {
        guard ["pingam", "ping_am", "ping-am"].contains(name.lowercased()) else { throw .invalidPlatform("not pingam") }
        return .pingAM
    }
}
