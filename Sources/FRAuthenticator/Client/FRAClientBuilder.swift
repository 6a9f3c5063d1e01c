import SignetAuthenticator
import SignetCore
public import SignetNetwork
import SignetStorage

/// The Android form of starting: a client of its own, besides ``FRAClient/shared`` and any other.
///
///     let client = try FRAClientBuilder().withStorage(MyStorageClient()).start()
///
/// A builder may be asked to do anything but ``start()`` in any order, and makes one client.
public final class FRAClientBuilder {
    private var storage: ClientBox?
    private var evaluator: PolicyBox?
    private var policies: [HandedOver] = []
    private var keepsDefaultPolicies = true
    private var presence: (any FRAUserPresence)?
    private var settings: LegacySettings

    /// A builder of a client with the user's own vault and the usual policies.
    public init() {
        settings = LegacySettings(platform: .android)
    }

    package init(_ settings: LegacySettings) {
        self.settings = settings
    }

    /// Has the client keep everything in the app's own storage client, which is handed over.
    public func withStorage(_ storage: sending any StorageClient) -> FRAClientBuilder {
        self.storage = ClientBox(storage)
        return self
    }

    /// Has the client reach servers in another way: through a proxy, or with pinned certificates.
    public func withTransport(_ transport: any HTTPTransport) -> FRAClientBuilder {
        settings.transport = transport
        return self
    }

    /// Shows each request of the push protocol to `interceptor` before it is sent.
    public func withInterceptor(_ interceptor: any RequestInterceptor) -> FRAClientBuilder {
        settings.interceptors.append(interceptor)
        return self
    }

    /// Gives the client what recognises the person.
    public func withUserPresence(_ presence: any FRAUserPresence) -> FRAClientBuilder {
        self.presence = presence
        return self
    }

    /// Has the client judge one more policy, after the usual ones. The policy is handed over.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` for one without a name.
    public func withPolicy(_ policy: sending any FRAPolicy) throws -> FRAClientBuilder {
        let policy = HandedOver(policy)
        guard !policy.name.isEmpty else { throw FRAError.invalidPolicyRegisteredWithPolicyEvaluator("it has no name") }
        policies.append(policy)
        return self
    }

    /// Has the client judge none of the usual policies: only those of ``withPolicy(_:)``.
    public func withoutDefaultPolicies() -> FRAClientBuilder {
        keepsDefaultPolicies = false
        return self
    }

    /// Has the client judge accounts by another evaluator, which is handed over; ``withPolicy(_:)`` counts for nothing then.
    public func withPolicyEvaluator(_ evaluator: sending FRAPolicyEvaluator) -> FRAClientBuilder {
        self.evaluator = PolicyBox(evaluator)
        return self
    }

    /// Makes the client, with the storage client that was given, or else with the user's own vault; see ``FRAClient/start()``.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the vault cannot be opened.
    public func start() throws -> FRAClient {
        do {
            let backing = try LegacyEngine.Backing(storage, vault: settings.vault)
            return FRAClient(
                LegacyEngine(
                    backing: backing, policies: try evaluator ?? registered(), presence: presence, settings: settings))
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    private func registered() throws -> PolicyBox {
        let evaluator = FRAPolicyEvaluator()
        try evaluator.registerPolicies(policies: policies.map(\.asPolicy), shouldOverride: !keepsDefaultPolicies)
        return PolicyBox(evaluator)
    }
}
