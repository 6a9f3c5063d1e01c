/// The type of answer that a push message requires.
public enum PushType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A tap.
    case `default`
    /// The choice of the number that the login page shows.
    case challenge
    /// A tap, after the device has recognized the user.
    case biometric
}
