/// The lock of an account, as a credential shows it.
struct CredentialLock: Sendable, Hashable {
    /// The name of the policy, if somebody named one.
    var policy: String?
    /// Whether there is one.
    var isLocked: Bool
    /// Whether that is what the app wants: otherwise it is what was found, and to save the credential changes no lock.
    var isWanted: Bool

    /// None was found.
    static let none = CredentialLock(policy: nil, isLocked: false, isWanted: false)

    /// As the app gives it.
    static func given(_ policy: String?, isLocked: Bool) -> CredentialLock {
        CredentialLock(policy: isLocked ? policy : nil, isLocked: isLocked, isWanted: isLocked)
    }

    /// As it was found.
    static func found(_ policy: String?) -> CredentialLock {
        CredentialLock(policy: policy, isLocked: policy != nil, isWanted: false)
    }
}
