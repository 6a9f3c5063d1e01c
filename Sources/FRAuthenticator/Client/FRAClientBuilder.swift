import SignetAuthenticator
import SignetCore
public import SignetNetwork
import SignetStorage

extension FRAClient {
    /// Under the name that it has in Java.
    public typealias FRAClientBuilder = FRAuthenticator.FRAClientBuilder
}

/// The Android form of starting: a client of its own, besides ``FRAClient/shared`` and any other.
///
///     let client = try await FRAClientBuilder().withStorage(MyStorageClient()).start()
///
/// A builder may be asked to do anything but `start()` in any order, and makes one client.
public final class FRAClientBuilder {
    private var storage: ClientBox?
    private var evaluator: PolicyBox?
    /// The policies in the place of the usual ones; nil for the usual ones.
    private var replacing: HandedOver?
    private var policies: [HandedOver] = []
    private var presence: (any FRAUserPresence)?
    private var settings: LegacySettings

    /// A builder of a client with the user's own vault and the usual policies.
    public init() {
        settings = LegacySettings(platform: .android)
    }

    package init(_ settings: LegacySettings) {
        self.settings = settings
    }

    /// Is taken so that programs for Android go on: the context of an app, which nothing here needs.
    public func withContext<Context>(_ context: Context) -> FRAClientBuilder { self }

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
        policies.append(try Self.named([policy]))
        return self
    }

    /// Has the client judge these policies instead of the usual ones, in their order, and then those of ``withPolicy(_:)``. The
    /// policies are handed over.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` for one without a name; none is taken then.
    public func withPolicies(_ policies: sending [any FRAPolicy]) throws -> FRAClientBuilder {
        replacing = try Self.named(policies)
        return self
    }

    private static func named(_ policies: sending [any FRAPolicy]) throws -> HandedOver {
        let policies = HandedOver(policies)
        guard policies.names.allSatisfy({ !$0.isEmpty }) else {
            throw FRAError.invalidPolicyRegisteredWithPolicyEvaluator("it has no name")
        }
        return policies
    }

    /// Has the client judge none of the usual policies: only those of ``withPolicies(_:)`` and ``withPolicy(_:)``.
    public func withoutDefaultPolicies() -> FRAClientBuilder {
        replacing = replacing ?? HandedOver([])
        return self
    }

    /// Has the client judge accounts by another evaluator, which is handed over; ``withPolicy(_:)`` and ``withPolicies(_:)`` count
    /// for nothing then.
    public func withPolicyEvaluator(_ evaluator: sending FRAPolicyEvaluator) -> FRAClientBuilder {
        self.evaluator = PolicyBox(evaluator)
        return self
    }

    /// Makes the client, with the storage client that was given, or else with the user's own vault; see `FRAClient.start()`.
    /// Opening a vault holds the thread up, so in a task the awaited form is the one.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the vault cannot be opened.
    @available(*, noasync, message: "opening a vault holds the thread up: await start()")
    public func start() throws -> FRAClient {
        do {
            return try client(over: LegacyEngine.Backing(storage, vault: settings.vault))
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// The same, awaited.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the vault cannot be opened.
    public func start() async throws -> FRAClient {
        do {
            return try client(over: await LegacyEngine.Backing.opened(storage, vault: settings.vault))
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    private func client(over backing: LegacyEngine.Backing) throws -> FRAClient {
        FRAClient(
            LegacyEngine(backing: backing, policies: try evaluator ?? registered(), presence: presence, settings: settings))
    }

    private func registered() throws -> PolicyBox {
        let evaluator = FRAPolicyEvaluator()
        let given = [replacing].compactMap { $0 } + policies
        try evaluator.registerPolicies(policies: given.flatMap(\.asPolicies), shouldOverride: replacing != nil)
        return PolicyBox(evaluator)
    }
}
