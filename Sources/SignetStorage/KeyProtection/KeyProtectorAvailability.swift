/// Whether a key protector can be asked for a key here and now. Finding out needs no key and changes nothing.
public enum KeyProtectorAvailability: Sendable, Hashable {
    /// It can be asked.
    case usable
    /// It cannot, and this is why: one sentence that names the way on.
    case unusable(String)

    /// Whether it can be asked.
    public var isUsable: Bool { self == .usable }
}
