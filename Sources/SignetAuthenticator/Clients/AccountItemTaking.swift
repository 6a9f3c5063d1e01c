public import SignetStorage

/// A configuration that accepts a storage which keeps all accounts as one item.
///
/// The protocol exists so that the property `storage` of a configuration can be overloaded.
public protocol AccountItemTaking: AnyObject {
    /// The storage.
    var accountItem: (any Storage<StoredAccounts>)? { get set }
}

extension AccountItemTaking {
    /// The storage of the accounts, as a storage of one item.
    public var storage: (any Storage<StoredAccounts>)? {
        get { accountItem }
        set { accountItem = newValue }
    }
}
