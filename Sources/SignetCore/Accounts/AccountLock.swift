/// The lock of an account.
///
/// A locked account gives no codes, answers no push messages and cannot be renamed.
public enum AccountLock: Sendable, Hashable {
    /// The account was locked manually, with the name of this policy. It stays locked until it is unlocked manually.
    case manual(policy: String)
    /// The device does not currently meet this policy of the issuer. The lock ends as soon as the device meets it.
    case byPolicy(String)

    /// The name of the policy.
    public var policy: String {
        switch self {
        case .manual(let policy), .byPolicy(let policy): policy
        }
    }
}
