/// How a push message wants to be answered.
public enum PushType: String, Sendable, Hashable, CaseIterable, Codable {
    /// By a tap.
    case `default`
    /// By picking the number that the login page shows.
    case challenge
    /// By a tap, after the device has recognised the person.
    case biometric
}
