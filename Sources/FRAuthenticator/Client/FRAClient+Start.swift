import SignetCore
public import SignetNetwork
import SignetStorage

extension FRAClient {
    /// The client that `start()` has made; nil before, and when the store could not be opened: ``lastStorageError-type.property`` says why.
    public static var shared: FRAClient? { FRAProcess.current.started }

    /// Why `start()` could not open the store, or the last failure of ``shared``.
    public static var lastStorageError: (any Error)? { FRAProcess.current.lastError }

    /// Starts the SDK: with the app's storage client, or else with the user's own vault (`$XDG_DATA_HOME/signet`), which is
    /// opened and never made. Opening a vault may ask hardware or the desktop's keyring, and holds the thread up meanwhile: in a
    /// task the awaited form is the one.
    ///
    /// From then on the storage client cannot be changed. Starting again makes a new client of the same store.
    @available(*, noasync, message: "opening a vault holds the thread up: await start()")
    public static func start() { FRAProcess.current.start() }

    /// The same, awaited.
    public static func start() async { await FRAProcess.current.start() }

    /// Has the SDK keep everything in the app's own storage client, which is handed over: nobody else is to use it from now on.
    ///
    /// The documents' sample calls this without `try`, so the refusal is a value:
    /// `try FRAClient.setStorage(storage: client).get()` throws it.
    /// - Returns: ``FRAError/invalidStateForChangingStorage`` when the SDK has started.
    @discardableResult
    public static func setStorage(storage: sending any StorageClient) -> Result<Void, FRAError> {
        guard shared == nil else { return refuse(.invalidStateForChangingStorage) }
        let box = ClientBox(storage)
        return FRAProcess.current.set { $0.storage = box } ? .success(()) : refuse(.invalidStateForChangingStorage)
    }

    /// Has the SDK judge accounts by other policies than ``FRAPolicyEvaluator/defaultPolicies``. The evaluator is handed over.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setPolicyEvaluator(policyEvaluator: sending FRAPolicyEvaluator) throws {
        let box = PolicyBox(policyEvaluator)
        guard FRAProcess.current.set({ $0.policies = box }) else {
            throw FRAError.invalidStateForChangingPolicyEvaluator
        }
    }

    /// Gives the SDK what recognises the person, for ``PushNotification/accept(title:allowDeviceCredentials:onSuccess:onError:)``.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setUserPresence(userPresence: any FRAUserPresence) throws {
        guard FRAProcess.current.set({ $0.presence = userPresence }) else {
            throw FRAError.invalidStateForChangingPolicyEvaluator
        }
    }

    /// Has the SDK reach servers in another way: through a proxy, or with pinned certificates.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setTransport(transport: any HTTPTransport) throws {
        guard FRAProcess.current.setUp({ $0.transport = transport }) else {
            throw FRAError.invalidStateForChangingPolicyEvaluator
        }
    }

    /// Shows each request of the push protocol to `interceptors`, in this order, before it is sent.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setInterceptors(interceptors: [any RequestInterceptor]) throws {
        guard FRAProcess.current.setUp({ $0.interceptors = interceptors }) else {
            throw FRAError.invalidStateForChangingPolicyEvaluator
        }
    }

    private static func refuse(_ refusal: FRAError) -> Result<Void, FRAError> {
        shared?.engine.note(refusal, "set up")
        return .failure(refusal)
    }
}
