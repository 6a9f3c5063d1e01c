/// The name of a push platform, as credentials carry it. The platform itself is a ``PushHandler``, or a ``PushPlatform`` of the
/// engine.
public struct PushPlatformName: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    /// The name.
    public let rawValue: String

    /// A platform by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A platform by its name.
    public init(stringLiteral name: String) {
        rawValue = name
    }

    /// ForgeRock AM, PingAM and OpenAM, built in.
    public static let pingAM = PushPlatformName(rawValue: AccessManagerPlatform.name)

    /// The platform that the SDKs spell `pingam`, `ping_am` or `ping-am`, in any case.
    /// - Throws: ``PushError/invalidPlatform(_:)`` for any other name; make those with ``init(rawValue:)``.
    public static func fromString(_ name: String) throws(PushError) -> PushPlatformName {
        guard ["pingam", "ping_am", "ping-am"].contains(name.lowercased()) else { throw .invalidPlatform("not pingam") }
        return .pingAM
    }
}
