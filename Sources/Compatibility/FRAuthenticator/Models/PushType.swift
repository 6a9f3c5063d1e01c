/// The type of answer that a push message requires.
public enum PushType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A tap.
    case `default`
    /// The choice of the number that the login page shows.
    case challenge
    /// A tap, after the device has recognized the user.
    case biometric

    // The names of the ForgeRock SDK for Android.

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The same as ``default``.
    public static let DEFAULT = PushType.default
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The same as ``challenge``.
    public static let CHALLENGE = PushType.challenge
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The same as ``biometric``.
    public static let BIOMETRIC = PushType.biometric
}
