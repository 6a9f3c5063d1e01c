/// Digests of the parts of a user's configuration entry.
///
/// A digest changes when its part changes.
struct EntryFingerprints: Codable, Sendable {
    let password: String
    let claims: String
    let isLocked: String
    let answers: String
}
