import SignetAuthenticator
import SignetCore
import SignetStorage
import Synchronization

/// What has been set for the client that is to start, and the one that has.
private struct Runtime: Sendable {
    var storage: ClientBox?
    var policies: PolicyBox?
    var presence: (any FRAUserPresence)?
    var settings: LegacySettings?
    var started: FRAClient?
    var failure: StoreError?
}

extension FRAClient {
    private static let runtime = Mutex(Runtime())

    /// The client that ``start()`` has made; nil before, and when the store could not be opened: ``lastStorageError`` says why.
    public static var shared: FRAClient? { runtime.withLock { $0.started } }

    /// Why ``start()`` could not open the store, or the last failure of ``shared``.
    public static var lastStorageError: (any Error)? {
        let (started, failure) = runtime.withLock { ($0.started, $0.failure) }
        return failure ?? started?.lastStorageError
    }

    /// Starts the SDK: with the app's storage client, or else with the user's own vault (`$XDG_DATA_HOME/signet`), which is
    /// opened and never made. Opening a vault may ask hardware or the desktop's keyring: call it where waiting is allowed.
    ///
    /// From then on the storage client cannot be changed. Starting again makes a new client of the same store.
    public static func start() {
        let (storage, policies, presence, settings) = runtime.withLock { runtime in
            let policies = runtime.policies ?? PolicyBox(FRAPolicyEvaluator())
            let settings = runtime.settings ?? LegacySettings(platform: .iOS)
            runtime.policies = policies
            runtime.settings = settings
            return (runtime.storage, policies, runtime.presence, settings)
        }
        do throws(StoreError) {
            let backing = try storage.map { .client($0) } ?? LegacyEngine.Backing.usual()
            let engine = LegacyEngine(backing: backing, policies: policies, presence: presence, settings: settings)
            runtime.withLock { runtime in
                runtime.started = FRAClient(engine)
                runtime.failure = nil
            }
        } catch {
            settings.logger.error("start: \(error)")
            runtime.withLock { $0.failure = error }
        }
    }

    /// Has the SDK keep everything in the app's own storage client, which is handed over: nobody else is to use it from now on.
    ///
    /// The documents' sample calls this without `try`, so the refusal is a value:
    /// `try FRAClient.setStorage(storage: client).get()` throws it.
    /// - Returns: ``FRAError/invalidStateForChangingStorage`` when the SDK has started.
    @discardableResult
    public static func setStorage(storage: sending any StorageClient) -> Result<Void, FRAError> {
        guard shared == nil else { return refuse(.invalidStateForChangingStorage) }
        let box = ClientBox(storage)
        return set(.invalidStateForChangingStorage) { $0.storage = box }
    }

    /// Has the SDK judge accounts by other policies than ``FRAPolicyEvaluator/defaultPolicies``. The evaluator is handed over.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setPolicyEvaluator(policyEvaluator: sending FRAPolicyEvaluator) throws {
        let box = PolicyBox(policyEvaluator)
        try set(.invalidStateForChangingPolicyEvaluator) { $0.policies = box }.get()
    }

    /// Gives the SDK what recognises the person, for ``PushNotification/accept(title:allowDeviceCredentials:onSuccess:onError:)``.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setUserPresence(userPresence: any FRAUserPresence) throws {
        try set(.invalidStateForChangingPolicyEvaluator) { $0.presence = userPresence }.get()
    }

    private static func set(_ refusal: FRAError, _ change: (inout Runtime) -> Void) -> Result<Void, FRAError> {
        let isSet = runtime.withLock { runtime in
            guard runtime.started == nil else { return false }
            change(&runtime)
            return true
        }
        return isSet ? .success(()) : refuse(refusal)
    }

    private static func refuse(_ refusal: FRAError) -> Result<Void, FRAError> {
        shared?.engine.note(refusal, "set up")
        return .failure(refusal)
    }

    /// Has the next ``start()`` use another network, clock or device name.
    package static func configure(_ settings: LegacySettings) {
        runtime.withLock { $0.settings = settings }
    }

    /// Forgets everything that was set or started, as the end of the process does.
    package static func stop() {
        runtime.withLock { $0 = Runtime() }
    }
}

extension LegacyEngine.Backing {
    /// The user's own vault, in the usual place.
    static func usual() throws(StoreError) -> Self {
        // What is opened seals its records itself: a vault, or the platform's keychain.
        .records(AccountRecords(unsealed: try StandardStore.open()))
    }
}
