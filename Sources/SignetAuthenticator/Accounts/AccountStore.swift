public import SignetCore
public import SignetStorage

/// Where an authenticator keeps its accounts, mechanisms and notifications.
///
/// Who implements it says what "all or nothing" means: everything that `body` changes is there when ``write(_:)`` returns,
/// and nothing when it throws.
public protocol AccountStore: Sendable {
    /// Reads a consistent state.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) async throws(StoreError) -> R
    /// Reads and changes, alone.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) async throws(StoreError) -> R
}

/// A store that answers at once. A synchronous method satisfies the asynchronous requirement, so one engine serves both
/// families of the API without blocking anybody.
public protocol ImmediateAccountStore: AccountStore {
    /// Reads a consistent state.
    func read<R: Sendable>(_ body: @Sendable (any AccountReader) throws(StoreError) -> R) throws(StoreError) -> R
    /// Reads and changes, alone.
    func write<R: Sendable>(_ body: @Sendable (any AccountWriter) throws(StoreError) -> R) throws(StoreError) -> R
}

/// What can be looked up. Each method answers nil, or an empty list, only when it is certain that there is nothing.
public protocol AccountReader {
    /// The account with this identity.
    func account(_ id: AccountID) throws(StoreError) -> Account?
    /// Every account, the oldest first.
    func accounts() throws(StoreError) -> [Account]
    /// The mechanism with this id.
    func mechanism(_ uid: String) throws(StoreError) -> Mechanism?
    /// Every mechanism, the oldest first, and those of one moment by their kinds' names.
    func mechanisms() throws(StoreError) -> [Mechanism]
    /// The notification with this id, which `PushNotification.id(mechanismUID:messageID:)` makes.
    func notification(id: String) throws(StoreError) -> PushNotification?
    /// Every notification, the newest first.
    func notifications() throws(StoreError) -> [PushNotification]
    /// The records that the lists leave out because they cannot be read. They stay as they are.
    func damagedRecords() throws(StoreError) -> [DamagedRecord]
}

/// What can be changed.
public protocol AccountWriter: AccountReader {
    /// Writes, or replaces, an account.
    func save(_ account: Account) throws(StoreError)
    /// Writes, or replaces, a mechanism.
    func save(_ mechanism: Mechanism) throws(StoreError)
    /// Writes, or replaces, a notification.
    func save(_ notification: PushNotification) throws(StoreError)
}

extension AccountReader {
    /// None, for a store whose lists leave nothing out.
    public func damagedRecords() throws(StoreError) -> [DamagedRecord] { [] }

    /// The mechanisms of one account, the oldest first.
    public func mechanisms(of account: AccountID) throws(StoreError) -> [Mechanism] {
        try mechanisms().filter { $0.account == account }
    }
}
