/// The push platform of a credential, which determines the protocol of its server.
///
/// The engine's protocol of the same name (`SignetAuthenticator.PushPlatform`) implements a platform for an `Authenticator`.
/// ``PushCredential/platformName`` names the platforms of ``PushConfiguration/customPushHandlers``.
public enum PushPlatform: String, CaseIterable, Codable, Sendable {
    /// The platform of ForgeRock AM, PingAM and OpenAM.
    case pingAM = "pingam"

    /// Returns the platform for the spellings `pingam`, `ping_am` and `ping-am`, ignoring case.
    /// - Throws: ``PushError/invalidPlatform(_:)`` for any other name.
    public static func fromString(_ name: String) throws(PushError) -> PushPlatform {
        guard ["pingam", "ping_am", "ping-am"].contains(name.lowercased()) else { throw .invalidPlatform(PushError.shown(name)) }
        return .pingAM
    }
}
