/// The lock of an account as a credential shows it.
package struct CredentialLock: Sendable, Hashable {
    /// The name of the policy that locks the account, if there is one.
    package var policy: String?
    /// True when the account is locked.
    package var isLocked: Bool
    /// True when the app has set this lock state.
    ///
    /// False when the state was only read: then saving the credential leaves the account's lock unchanged.
    package var isWanted: Bool

    /// Creates a lock.
    package init(policy: String?, isLocked: Bool, isWanted: Bool) {
        self.policy = policy
        self.isLocked = isLocked
        self.isWanted = isWanted
    }

    /// The state of an account that was read as not locked.
    package static let none = CredentialLock(policy: nil, isLocked: false, isWanted: false)

    /// Returns the lock that an app passes to an initializer.
    ///
    /// Only a locked state counts as set by the app.
    package static func given(_ policy: String?, isLocked: Bool) -> CredentialLock {
        CredentialLock(policy: isLocked ? policy : nil, isLocked: isLocked, isWanted: isLocked)
    }

    /// Returns a lock state that was read.
    static func found(_ policy: String?) -> CredentialLock {
        CredentialLock(policy: policy, isLocked: policy != nil, isWanted: false)
    }
}
