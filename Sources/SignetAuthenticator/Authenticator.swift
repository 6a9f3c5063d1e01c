public import SignetCore
public import SignetNetwork
public import SignetStorage

/// An authenticator for the accounts of one user: it enrolls accounts, generates their codes and answers their push messages.
///
/// All lasting state is in the store, so several authenticators, tasks and processes may share one store. In memory, an
/// authenticator and its copies share only what servers have told this process: the servers' clocks, and the registrations and
/// answers that a server has accepted and the store has not saved yet.
///
/// Its methods throw `StoreError` when the store fails, `TransportError` when the network fails, and ``AuthenticatorError`` for
/// other failures.
public struct Authenticator: Sendable {
    /// The store of the accounts.
    package private(set) var store: any AccountStore
    /// The clock of this machine.
    package let clock: any WallClock
    let device: PushDevice
    /// The policies of issuers that can be evaluated on this device.
    package private(set) var policies: AccountPolicies
    /// The rule for the push messages to keep.
    package let retention: NotificationRetention
    let platforms: PushPlatforms
    let pipeline: RequestPipeline
    let clocks: ServerClocks
    let pendingWrites = PendingWrites()

    var pushTransport: PushTransport { PushTransport(pipeline: pipeline) }

    /// Creates an authenticator.
    /// - Parameters:
    ///   - store: The store of the accounts.
    ///   - transport: The HTTP transport for requests to servers.
    ///   - device: The device data that are sent to servers. A token that ``updateDeviceToken(_:only:)`` has stored takes
    ///     precedence over the token in this value.
    ///   - clock: The clock of this machine.
    ///   - policies: The policies of issuers that can be evaluated on this device.
    ///   - retention: The rule for the push messages to keep.
    ///   - interceptors: The interceptors that see each request of the push protocol before it is sent, in this order.
    ///   - platforms: Push platforms in addition to AM's and privacyIDEA's.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        store: any AccountStore, transport: any HTTPTransport, device: PushDevice, clock: any WallClock = SystemWallClock(),
        policies: AccountPolicies = .default, retention: NotificationRetention = .default,
        interceptors: [any RequestInterceptor] = [], platforms: [any PushPlatform] = [],
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.store = store
        self.device = device
        self.clock = clock
        self.policies = policies
        self.retention = retention
        self.platforms = PushPlatforms(platforms)
        clocks = ServerClocks(clock)
        pipeline = RequestPipeline(transport, interceptors: interceptors, clocks: clocks, requestLogger: requestLogger)
    }

    /// Returns a copy that uses another view of the store and, if given, other policies for one call.
    ///
    /// The copy shares the clocks and the unsaved answers and registrations of this authenticator.
    package func over(_ store: any AccountStore, policies: AccountPolicies? = nil) -> Authenticator {
        var authenticator = self
        authenticator.store = store
        if let policies { authenticator.policies = policies }
        return authenticator
    }

    /// Returns the records that ``accounts(sortedBy:)`` and ``notifications()`` leave out because they cannot be read.
    ///
    /// The call doesn't change the store.
    public func damagedRecords() async throws(StoreError) -> [DamagedRecord] {
        try await store.fetch(.damagedRecords())
    }

    /// Removes the mechanisms whose records are missing: those that an account's index names and ``damagedRecords()`` reports as
    /// missing.
    ///
    /// Call it after the user has accepted the records that are there; their accounts and other mechanisms stay.
    /// - Returns: The number of such mechanisms.
    /// - Throws: The errors of the store. Nothing is changed then.
    public func removeMissingMechanisms() async throws(StoreError) -> Int {
        try await store.perform(.removeMissingMechanisms())
    }

    /// Returns the clock of the server at an address, derived from the server's responses.
    ///
    /// The expiry of push messages is computed with it.
    public func clock(of server: Endpoint) -> ServerClock { clocks.clock(of: server) }

    func mechanism(_ uid: String) async throws -> Mechanism {
        guard let found = try await store.fetch(.mechanism(uid)) else { throw AuthenticatorError.unknownMechanism(uid) }
        return found
    }
}

/// The push platforms of an authenticator: AM's, privacyIDEA's and those that the app has added.
struct PushPlatforms: Sendable {
    private let others: [any PushPlatform]
    private let accessManager = AccessManagerPlatform()
    private let privacyIDEA = PrivacyIDEAPlatform()

    init(_ others: [any PushPlatform]) {
        self.others = others
    }

    /// Returns the platform with this name; nil stands for AM's.
    /// - Throws: ``AuthenticatorError/Code/unknownPlatform``.
    func named(_ name: String?) throws(AuthenticatorError) -> any PushPlatform {
        let name = name ?? AccessManagerPlatform.name
        if let platform = others.last(where: { $0.name == name }) { return platform }
        if name == PrivacyIDEAPlatform.name { return privacyIDEA }
        guard name == AccessManagerPlatform.name else { throw .unknownPlatform(name) }
        return accessManager
    }

    /// Finds the platform of a message, and reads the mechanism that the message names, unverified.
    ///
    /// A message that no other platform claims is read as one of AM's.
    /// - Throws: `PushMessageError` when AM's platform cannot read the message either.
    func claim(_ delivery: PushDelivery) throws -> IncomingMessage {
        let named: [any PushPlatform] = others + [privacyIDEA]
        for platform in named {
            guard let uid = try platform.claimedMechanismUID(of: delivery) else { continue }
            return IncomingMessage(mechanismUID: uid, platform: platform.mark) { try platform.open(delivery, for: $0) }
        }
        let message = try SealedPushMessage(delivery.message)
        return IncomingMessage(mechanismUID: try message.claimedMechanismUID(), platform: accessManager.mark) { mechanism in
            guard let push = mechanism.push else { throw AuthenticatorError.noPush }
            return try message.open(with: push.secret)
        }
    }
}

/// An account with its mechanisms and its current lock.
public struct EnrolledAccount: Sendable, Hashable {
    /// The account.
    public let account: Account
    /// Its mechanisms, the oldest first.
    public let mechanisms: [Mechanism]
    /// The lock that prevents the use of the account; nil when the account is not locked.
    ///
    /// It is computed when the account is read, and never stored.
    public let lock: AccountLock?

    package init(account: Account, mechanisms: [Mechanism], lock: AccountLock? = nil) {
        self.account = account
        self.mechanisms = mechanisms
        self.lock = lock
    }
}
