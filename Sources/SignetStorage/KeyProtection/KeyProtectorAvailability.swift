/// The availability of a key protector at this time.
///
/// The check needs no key and changes nothing.
public enum KeyProtectorAvailability: Sendable, Hashable {
    /// The key protector can be used.
    case usable
    /// The key protector cannot be used. The text gives the reason and the remedy, in one sentence.
    case unusable(String)

    /// True when the key protector can be used.
    public var isUsable: Bool { self == .usable }

    /// The reason why the key protector cannot be used; nil when it can.
    package var reason: String? { if case .unusable(let reason) = self { reason } else { nil } }

    /// Creates the availability that a check finds, which throws when the key protector cannot be used.
    init(_ check: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try check()
            self = .usable
        } catch {
            self = .unusable(error.reason)
        }
    }
}
