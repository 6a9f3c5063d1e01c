/// The kind of answer that a notification asks for, by its name in the Ping SDKs.
///
/// `PushKind` is the same distinction with the numbers to pick from.
public enum PushType: String, Sendable, Hashable, Codable, CaseIterable {
    /// The user taps a button.
    case `default`
    /// The user picks a number.
    case challenge
    /// The user taps a button after the device has recognized the user.
    case biometric

    /// Returns the type with this name, ignoring case.
    /// - Throws: ``PushError/invalidPushType(_:)``.
    public static func fromString(_ name: String) throws(PushError) -> PushType {
        guard let type = PushType(rawValue: name.lowercased()) else {
            throw .invalidPushType(PushError.shown(name))
        }
        return type
    }
}
