/// Whether a custodian could be asked for a key here and now.
public enum CustodianAvailability: Sendable, Hashable {
    /// It could.
    case usable
    /// It could not; the text says why, and what would help.
    case unusable(String)
}
