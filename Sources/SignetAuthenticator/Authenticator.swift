public import SignetCore
public import SignetNetwork
public import SignetStorage

/// The accounts of one person: enrol them, make their codes, answer their push messages.
///
/// Everything that must last is in its store, so several authenticators, tasks and processes may share one. Beside it an
/// authenticator, with its copies, knows only what servers have told this process: their clocks, and what they accepted and the
/// store did not take.
///
/// Throws `StoreError` when the store fails, `TransportError` when the network does, and ``AuthenticatorError`` for the rest.
public struct Authenticator: Sendable {
    private(set) var store: any AccountStore
    let transport: any HTTPTransport
    let clock: any WallClock
    let device: PushDevice
    private(set) var policies: AccountPolicies
    let retention: NotificationRetention
    let platforms: PushPlatforms
    let wire: PushTransport
    let unsettled = Unsettled()

    /// An authenticator.
    /// - Parameters:
    ///   - store: Where accounts are kept.
    ///   - transport: How servers are reached.
    ///   - device: How this device presents itself to servers. A token that ``updateDeviceToken(_:only:)`` has stored comes before
    ///     the one in it.
    ///   - clock: What time it is.
    ///   - policies: Which policies of issuers can be judged here.
    ///   - retention: Which push messages are kept.
    ///   - interceptors: Who sees each request of the push protocol before it is sent, in this order.
    ///   - platforms: Push platforms besides AM's.
    public init(
        store: any AccountStore, transport: any HTTPTransport, device: PushDevice, clock: any WallClock = SystemWallClock(),
        policies: AccountPolicies = .standard, retention: NotificationRetention = .standard,
        interceptors: [any RequestInterceptor] = [], platforms: [any PushPlatform] = []
    ) {
        self.store = store
        self.transport = transport
        self.device = device
        self.clock = clock
        self.policies = policies
        self.retention = retention
        self.platforms = PushPlatforms(platforms)
        wire = PushTransport(transport: transport, interceptors: interceptors, clocks: ServerClocks(clock))
    }

    /// This authenticator, with all that it knows of servers, over another view of its store, and for one call under other policies.
    package func over(_ store: any AccountStore, policies: AccountPolicies? = nil) -> Authenticator {
        var authenticator = self
        authenticator.store = store
        if let policies { authenticator.policies = policies }
        return authenticator
    }

    /// The records that ``accounts(sortedBy:)`` and ``notifications()`` leave out because they cannot be read. Nothing is
    /// changed by looking.
    public func damagedRecords() async throws(StoreError) -> [DamagedRecord] {
        try await store.read { (records: any AccountReader) throws(StoreError) in try records.damagedRecords() }
    }

    /// The clock of the server at an address, as its answers tell it. Expiry of push messages goes by it.
    public func clock(of server: Endpoint) -> ServerClock { wire.clocks.clock(of: server) }

    func mechanism(_ uid: String) async throws -> Mechanism {
        let found = try await store.read { (records: any AccountReader) throws(StoreError) in try records.mechanism(uid) }
        guard let found else { throw AuthenticatorError.unknownMechanism(uid) }
        return found
    }
}

/// The push platforms that an authenticator was given, and AM's.
struct PushPlatforms: Sendable {
    private let others: [any PushPlatform]
    private let standard = AccessManagerPlatform()

    init(_ others: [any PushPlatform]) {
        self.others = others
    }

    /// The platform that a mechanism names.
    func named(_ name: String?) throws(AuthenticatorError) -> any PushPlatform {
        let name = name ?? AccessManagerPlatform.name
        if let platform = others.last(where: { $0.name == name }) { return platform }
        guard name == AccessManagerPlatform.name else { throw .unknownPlatform(name) }
        return standard
    }

    /// The platform that a message is of, and the mechanism that it says it is for. What nobody else claims is AM's.
    func claim(_ delivery: PushDelivery) throws -> (platform: any PushPlatform, mechanismUID: String) {
        for platform in others {
            if let uid = try platform.claimedMechanismUID(of: delivery) { return (platform, uid) }
        }
        guard let uid = try standard.claimedMechanismUID(of: delivery) else { throw PushMessageError.form }
        return (standard, uid)
    }
}

/// An account and what it can do.
public struct EnrolledAccount: Sendable, Hashable {
    /// The account.
    public let account: Account
    /// Its mechanisms, the oldest first.
    public let mechanisms: [Mechanism]
    /// Why it may not be used now; nil when it may. It is found out when the account is looked at, and not stored.
    public let lock: AccountLock?

    package init(account: Account, mechanisms: [Mechanism], lock: AccountLock? = nil) {
        self.account = account
        self.mechanisms = mechanisms
        self.lock = lock
    }
}
