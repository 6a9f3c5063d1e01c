/// Why an account may not be used: no codes, no answers to push messages, no other names.
public enum AccountLock: Sendable, Hashable {
    /// Somebody locked it, and named this policy. It stays locked until somebody unlocks it.
    case byHand(policy: String)
    /// The device does not meet this policy of the issuer's now. It ends by itself when the device does.
    case byPolicy(String)

    /// The name of the policy.
    public var policy: String {
        switch self {
        case .byHand(let policy), .byPolicy(let policy): policy
        }
    }
}
