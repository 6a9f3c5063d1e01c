public import SignetCore
public import SignetNetwork
public import SignetStorage

/// The accounts of one person: enrol them, make their codes, answer their push messages.
///
/// A value without state of its own: everything is in its store, so several authenticators, tasks and processes may share one.
///
/// Throws `StoreError` when the store fails, `TransportError` when the network does, and ``AuthenticatorError`` for the rest.
public struct Authenticator: Sendable {
    let store: any AccountStore
    let transport: any HTTPTransport
    let clock: any WallClock
    let device: PushDevice

    /// An authenticator.
    /// - Parameters:
    ///   - store: Where accounts are kept.
    ///   - transport: How servers are reached.
    ///   - device: How this device presents itself to servers.
    ///   - clock: What time it is.
    public init(
        store: any AccountStore, transport: any HTTPTransport, device: PushDevice, clock: any WallClock = SystemWallClock()
    ) {
        self.store = store
        self.transport = transport
        self.device = device
        self.clock = clock
    }

    /// Every account with its mechanisms, the oldest first. Nothing is changed by looking.
    public func accounts() async throws(StoreError) -> [EnrolledAccount] {
        try await store.read { (records: any AccountReader) throws(StoreError) in
            let mechanisms = try records.mechanisms()
            return try records.accounts().map { account in
                EnrolledAccount(account: account, mechanisms: mechanisms.filter { $0.account == account.id })
            }
        }
    }

    /// The records that ``accounts()`` and ``notifications()`` leave out because they cannot be read. Nothing is changed by
    /// looking.
    public func damagedRecords() async throws(StoreError) -> [DamagedRecord] {
        try await store.read { (records: any AccountReader) throws(StoreError) in try records.damagedRecords() }
    }

    /// The code of a mechanism, now. An HOTP counter is used up, durably, before its code is returned: a code may be skipped
    /// when something fails, and is never given twice.
    public func code(for mechanismUID: String) async throws -> OneTimeCode {
        try await Self.settings(for: mechanismUID, in: store).code(at: clock.now)
    }

    /// The settings to make the next code from, with the counter reserved if there is one.
    private static func settings(for uid: String, in store: any AccountStore) async throws -> OATHSettings {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.mechanism(uid) }
        guard let found else { throw AuthenticatorError.unknownMechanism(uid) }
        guard let settings = found.oath else { throw AuthenticatorError(.wrongKind, "this mechanism makes no codes") }
        guard case .counter = settings.factor else { return settings }
        return try await store.write { (records: any AccountWriter) throws(StoreError) in try reserveCounter(uid, in: records) }
            .get()
    }

    private static func reserveCounter(
        _ uid: String, in records: any AccountWriter
    ) throws(StoreError) -> Result<OATHSettings, AuthenticatorError> {
        guard var mechanism = try records.mechanism(uid), var settings = mechanism.oath else {
            return .failure(.unknownMechanism(uid))
        }
        guard let reserved = settings.reserveCounter() else {
            return .failure(AuthenticatorError(.counterExhausted, "the counter has reached its end; enrol the account again"))
        }
        mechanism.kind = .oath(settings)
        try records.save(mechanism)
        return .success(reserved)
    }
}

/// An account and what it can do.
public struct EnrolledAccount: Sendable, Hashable {
    /// The account.
    public let account: Account
    /// Its mechanisms, the oldest first.
    public let mechanisms: [Mechanism]
}

extension AuthenticatorError {
    static func unknownMechanism(_ uid: String) -> AuthenticatorError {
        AuthenticatorError(.unknownMechanism, "no mechanism has the id \(uid)")
    }

    static func unknownNotification(_ id: String) -> AuthenticatorError {
        AuthenticatorError(.unknownNotification, "no notification has the id \(id)")
    }
}
