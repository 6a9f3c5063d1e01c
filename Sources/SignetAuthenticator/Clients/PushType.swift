/// How a notification wants to be answered, by the name that the Ping SDKs give it; `PushKind` is the same with the numbers.
public enum PushType: String, Sendable, Hashable, Codable, CaseIterable {
    /// By a tap.
    case `default`
    /// By picking a number.
    case challenge
    /// By a tap, after the person was recognised.
    case biometric

    /// The type with this name, in any case.
    /// - Throws: ``PushError/invalidPushType(_:)``.
    public static func fromString(_ name: String) throws(PushError) -> PushType {
        guard let type = PushType(rawValue: name.lowercased()) else {
            throw .invalidPushType("not default, challenge or biometric")
        }
        return type
    }
}
