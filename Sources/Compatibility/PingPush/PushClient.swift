import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTransfer

/// A client for push notifications with the API of the Ping SDK.
///
/// It is a thin layer over `Authenticator`, which implements the rules.
///
///     let client = try await PushClient.createClient { config in config.storage = CustomStorage() }
///     try await client.setDeviceToken(token)
///     let credential = try await client.addCredentialFromUri(uri)
///     if let notification = try await client.processNotification(messageData: data) {
///         try await client.approveNotification(notification.id)
///     }
///
/// The methods throw ``PushError``; after ``close()`` each throws ``PushError/notInitialized``.
public final class PushClient: Sendable {
    let authenticator: Authenticator
    let handlers: [HandlerPlatform]
    let credentials: ClientCredentials
    let log: ClientLog
    private let endpointPolicy: EndpointPolicy
    /// The rule for the secrets of the credentials that the client returns: those of an app's storage are the app's own.
    private let secretCoding: SecretCoding
    /// The transport for a configuration without one.
    private let ownTransport = DefaultTransport.make()
    private let isClosed = Mutex(false)

    /// Creates a client with this configuration.
    ///
    /// The client owns the configuration's storage from then on.
    /// - Throws: ``PushError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public init(configuration: sending PushConfiguration) async throws(PushError) {
        let log = ClientLog(logger: LoggerLines(logger: configuration.logger))
        let handlers = configuration.handlers(log)
        let policies = configuration.accountPolicies ?? configuration.policyEvaluator?.accountPolicies ?? .default
        let (clock, device) = (configuration.clock, configuration.device)
        let (retention, interceptors) = (configuration.notificationCleanupConfig.retention, configuration.interceptors)
        let (isCaching, given) = (configuration.enableCredentialCache, configuration.transport)
        let endpointPolicy = EndpointPolicy.allowingPlainHTTP(to: configuration.plainHTTPHosts)
        let usesPushStorage = configuration.storage as (any PushStorage)? != nil
        let limit: Duration
        let store: any AccountStore
        do throws(StoreError) {
            limit = try configuration.limit()
            if let (source, keychain) = configuration.takeover {
                _ = try await LegacyAccounts.takeOver(from: source, into: keychain, now: clock.now)
            }
            store = try await PushConfiguration.accountStore(of: configuration)
        } catch {
            log.failed("createClient", nil, error)
            throw .initializationFailed(error.description, error)
        }
        self.log = log
        self.handlers = handlers
        self.endpointPolicy = endpointPolicy
        secretCoding = usesPushStorage ? .included : .excluded
        var platforms: [any SignetAuthenticator.PushPlatform] = handlers
        if usesPushStorage, !handlers.contains(where: { $0.name == AccessManagerPlatform.name }) {
            platforms.append(StoragePlatform(policy: endpointPolicy))
        }
        let transport: any HTTPTransport = given ?? ownTransport
        authenticator = Authenticator(
            store: store, transport: TimedTransport(transport: transport, limit: limit), device: device, clock: clock,
            policies: policies, retention: retention, interceptors: interceptors + [SDKIdentification.ping], platforms: platforms)
        credentials = ClientCredentials(authenticator, kinds: [.push], isCaching: isCaching)
    }

    /// Creates a client with the configuration that `configure` sets up.
    /// - Throws: ``PushError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public static func createClient(configure: (PushConfiguration) -> Void = { _ in }) async throws(PushError) -> PushClient {
        try await PushClient(configuration: PushConfiguration.build(configure))
    }

    /// Creates a client with this configuration.
    ///
    /// The client owns the configuration's storage from then on.
    /// - Throws: ``PushError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public static func createClient(configuration: sending PushConfiguration) async throws(PushError) -> PushClient {
        try await PushClient(configuration: configuration)
    }

    // MARK: Credentials

    /// Registers the push credential of a `pushauth` or `mfauth` URI with its server and stores it.
    ///
    /// An existing account keeps its data.
    /// - Throws: Before a request is sent: ``PushError/deviceTokenNotSet``, ``PushError/storageFailure(_:_:)`` with
    ///   ``PushStorageError/duplicateCredential(_:)``, ``PushError/policyViolation(_:)``, or ``PushError/invalidUri(_:)``. Afterwards:
    ///   ``PushError/registrationFailed(_:)``, ``PushError/networkFailure(_:_:)`` and ``PushError/storageFailure(_:_:)``. In all
    ///   cases nothing is stored, and the same URI can be tried again.
    @discardableResult
    public func addCredentialFromUri(_ uri: String) async throws -> PushCredential {
        try await run("addCredentialFromUri", nil) {
            guard !uri.trimmingWhitespace().isEmpty else { throw PushError.invalidUri("the URI is empty") }
            var enrollment = try EnrollmentURI.parse(uri, policy: endpointPolicy)
            try enrollment.requireCodesOfOtherSDKs()
            guard enrollment.push != nil else { throw PushError.invalidUri("the URI offers no push") }
            guard try await authenticator.deviceToken() != nil else { throw PushError.deviceTokenNotSet }
            enrollment.oath = nil
            do {
                return try returned(await credentials.enroll(enrollment, .push))
            } catch let error as AuthenticatorError
                where [.refusedByServer, .serverMisbehaved, .notSupported].contains(error.code)
            {
                throw PushError.registrationFailed(error.description)
            }
        }
    }

    /// Stores a credential: a new one, or a new version of the stored one with the same id.
    ///
    /// No request is sent. The account's lock changes only if the app has locked or unlocked the value.
    /// - Returns: The stored credential.
    /// - Throws: ``PushError/storageFailure(_:_:)`` with ``PushStorageError/duplicateCredential(_:)``,
    ///   ``PushError/invalidParameterValue(_:)``.
    @discardableResult
    public func saveCredential(_ credential: PushCredential) async throws -> PushCredential {
        let policy = endpointPolicy
        return try await run("saveCredential", credential.id) {
            try returned(
                await credentials.save(credential.id, credential.details) { stored in
                    try credential.mechanism(over: stored, policy)
                })
        }
    }

    /// Returns all credentials, oldest first, with their current locks.
    public func getCredentials() async throws -> [PushCredential] {
        try await run("getCredentials", nil) { try await credentials.all().map(returned) }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func getCredential(credentialId: String) async throws -> PushCredential? {
        try await run("getCredential", credentialId) {
            try await credentials.one(credentialId).map(returned)
        }
    }

    /// Removes a credential with its notifications, and its account if it has no other credential.
    /// - Returns: True when the credential existed.
    @discardableResult
    public func deleteCredential(credentialId: String) async throws -> Bool {
        try await run("deleteCredential", credentialId) { try await credentials.remove(credentialId) }
    }

    private func returned(_ enrolled: EnrolledMechanism) throws -> PushCredential {
        var credential = try PushCredential(enrolled)
        credential.secretCoding = secretCoding
        return credential
    }

    // MARK: Device token

    /// Stores the device token and tells it to the servers.
    ///
    /// Servers that could not be told are told again by the next call, even a call with the same token.
    /// - Parameters:
    ///   - deviceToken: The device token. White space around it is ignored.
    ///   - credentialId: The only credential whose server is told now; the others are told by the next call without this
    ///     parameter. When no credential has this id, the call returns false and stores nothing.
    /// - Returns: True when every server that was to be told knows the token now.
    /// - Throws: ``PushError/invalidParameterValue(_:)`` for a blank token; ``PushError/storageFailure(_:_:)``;
    ///   ``PushError/notInitialized`` after ``close()``.
    @discardableResult
    public func setDeviceToken(_ deviceToken: String, credentialId: String? = nil) async throws -> Bool {
        try await run("setDeviceToken", credentialId) {
            let deviceToken = deviceToken.trimmingWhitespace()
            guard !deviceToken.isEmpty else { throw PushError.invalidParameterValue("the device token is blank") }
            if let credentialId, try await !credentials.contains(credentialId) { return false }
            let updates = try await authenticator.updateDeviceToken(deviceToken, only: credentialId)
            var isKnown = true
            for update in updates {
                switch update.outcome {
                case .done, .unchanged: continue
                case .notSupported(let error), .refused(let error):
                    log.failed("setDeviceToken", update.mechanism.uid, error)
                case .retryable(let error): log.failed("setDeviceToken", update.mechanism.uid, error)
                }
                isKnown = false
            }
            return isKnown
        }
    }

    /// Returns the device token; nil when it has not been set.
    public func getDeviceToken() async throws -> String? {
        try await run("getDeviceToken", nil) { try await authenticator.deviceToken()?.token }
    }

    // MARK: Closing

    /// Removes the notifications that are not kept, empties the cache, and closes the connections.
    ///
    /// Afterwards every method throws ``PushError/notInitialized``. A second call has no effect.
    public func close() async {
        let wasOpen = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard wasOpen else { return }
        do {
            _ = try await retain(nil)
        } catch {
            // A surplus notification is removed when the next notification arrives.
            log.failed("close", nil, error)
        }
        credentials.forget()
        await DefaultTransport.close(ownTransport)
        log.write(.debug, "close", nil, "done")
    }

    /// Removes the surplus notifications of one credential, or of all credentials when the id is nil.
    /// - Returns: The number of removed notifications.
    func retain(_ credentialId: String?) async throws(StoreError) -> Int {
        try await authenticator.store.perform(
            .removeSurplusNotifications(of: credentialId, authenticator.retention, now: authenticator.clock.now))
    }

    /// Runs a call, logs its result, and converts errors to the types of this API.
    func run<R>(_ call: String, _ id: String?, _ body: () async throws -> R) async throws -> R {
        guard !isClosed.withLock({ $0 }) else { throw PushError.notInitialized }
        return try await log.running(call, id, translating: { PushError.translating($0, id: id) }, body)
    }
}
