/// The moving factor of a one-time code.
public enum OathType: String, Sendable, Hashable, Codable, CaseIterable {
    /// The time (RFC 6238).
    case totp
    /// A counter (RFC 4226).
    case hotp

    /// Returns the type with this name, ignoring case.
    /// - Throws: ``OathError/invalidOathType(_:)``.
    public static func fromString(_ name: String) throws(OathError) -> OathType {
        guard let type = OathType(rawValue: name.lowercased()) else { throw .invalidOathType("neither totp nor hotp") }
        return type
    }
}
