import SignetAuthenticator
import SignetCore
public import SignetNetwork
import SignetStorage

extension FRAClient {
    /// The builder, with its nested name from Java.
    public typealias FRAClientBuilder = FRAuthenticator.FRAClientBuilder
}

/// A builder, as in the ForgeRock SDK for Android.
///
/// It creates a separate client, independent of ``FRAClient/shared`` and of other clients.
///
///     let client = try await FRAClientBuilder().withStorage(MyStorageClient()).start()
///
/// Call the other functions in any order, and `start()` last. A builder creates one client.
public final class FRAClientBuilder {
    /// The policies that replace the default policies; nil for the default policies.
    private var replacing: PolicyList?
    private var policies: [PolicyList] = []
    private var settings: LegacySettings
    private var deviceToken: String?

    /// Creates a builder for a client with the user's own vault and the default policies.
    public init() {
        settings = LegacySettings(platform: .android)
    }

    package init(_ settings: LegacySettings) {
        self.settings = settings
    }

    /// Ignores its argument.
    ///
    /// It exists so that Android programs, which pass the context of an app, compile.
    public func withContext<Context>(_ context: Context) -> FRAClientBuilder { self }

    /// Sets the app's own storage client, in which the client stores all data.
    ///
    /// It is handed over.
    public func withStorage(_ storage: sending any StorageClient) -> FRAClientBuilder {
        settings.storage = ClientBox(storage)
        return self
    }

    /// Sets the transport to servers, for example for a proxy or for pinned certificates.
    public func withTransport(_ transport: any HTTPTransport) -> FRAClientBuilder {
        settings.transport = transport
        return self
    }

    /// Allows `http` addresses with these hosts in enrollment URIs, for a test network.
    ///
    /// Without it, only `https` addresses and those of this machine are used.
    public func withPlainHTTP(to hosts: Set<String>) -> FRAClientBuilder {
        settings.endpoints = .allowingPlainHTTP(to: hosts)
        return self
    }

    /// Sets the push token of this device.
    ///
    /// The start stores it, and sends a changed token to the servers of all push mechanisms in the background.
    public func withDeviceToken(_ deviceToken: String) -> FRAClientBuilder {
        self.deviceToken = deviceToken
        return self
    }

    /// Adds an interceptor, which sees each request of the push protocol before it is sent.
    public func withInterceptor(_ interceptor: any FRARequestInterceptor) -> FRAClientBuilder {
        settings.interceptors.append(interceptor)
        return self
    }

    /// Sets the user check for notifications of the type ``PushType/biometric``.
    public func withUserPresence(_ presence: any FRAUserPresence) -> FRAClientBuilder {
        settings.presence = presence
        return self
    }

    /// Adds a policy after the default policies.
    ///
    /// The policy is handed over.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` for a policy without a name.
    public func withPolicy(_ policy: sending any FRAPolicy) throws -> FRAClientBuilder {
        policies.append(try Self.named([policy]))
        return self
    }

    /// Replaces the default policies with these policies, in their order.
    ///
    /// Policies of ``withPolicy(_:)`` follow them. The policies are handed over.
    /// - Throws: ``FRAError/invalidPolicyRegisteredWithPolicyEvaluator(_:)`` when a policy has no name; none is added then.
    public func withPolicies(_ policies: sending [any FRAPolicy]) throws -> FRAClientBuilder {
        replacing = try Self.named(policies)
        return self
    }

    private static func named(_ policies: sending [any FRAPolicy]) throws -> PolicyList {
        let policies = PolicyList(policies)
        guard policies.names.allSatisfy({ !$0.isEmpty }) else {
            throw FRAError.invalidPolicyRegisteredWithPolicyEvaluator("a policy of the builder")
        }
        return policies
    }

    /// Removes the default policies: only those of ``withPolicies(_:)`` and ``withPolicy(_:)`` apply.
    public func withoutDefaultPolicies() -> FRAClientBuilder {
        replacing = replacing ?? PolicyList([])
        return self
    }

    /// Sets another evaluator, which is handed over.
    ///
    /// The policies of ``withPolicy(_:)`` and ``withPolicies(_:)`` are then ignored.
    public func withPolicyEvaluator(_ evaluator: sending FRAPolicyEvaluator) -> FRAClientBuilder {
        settings.policies = PolicyBox(evaluator)
        return self
    }

    /// Creates the client with the given storage client, or with the user's own vault when none was given; see
    /// `FRAClient.start()`.
    ///
    /// Opening a vault blocks the thread, so use the asynchronous function in a task.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the vault cannot be opened.
    @available(*, noasync, message: "opening a vault holds the thread up: await start()")
    public func start() throws -> FRAClient {
        do {
            return client(try LegacyEngine(opening: try finished()))
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Creates the client without blocking the thread.
    /// - Throws: ``FRAError/failToSaveIntoStorageClient(_:)`` when the vault cannot be opened.
    public func start() async throws -> FRAClient {
        do {
            return client(try await LegacyEngine(opening: try finished()))
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    private func client(_ engine: LegacyEngine) -> FRAClient {
        if let deviceToken { engine.take(.token(deviceToken)) }
        return FRAClient(engine)
    }

    /// Returns the settings with the builder's policies, unless the app gave an evaluator.
    private func finished() throws -> LegacySettings {
        guard settings.policies == nil else { return settings }
        let evaluator = FRAPolicyEvaluator()
        let given = [replacing].compactMap { $0 } + policies
        try evaluator.registerPolicies(policies: given.flatMap(\.asPolicies), shouldOverride: replacing != nil)
        var settings = settings
        settings.policies = PolicyBox(evaluator)
        return settings
    }
}
