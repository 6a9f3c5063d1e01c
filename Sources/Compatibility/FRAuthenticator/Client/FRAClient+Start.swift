import SignetCore
public import SignetNetwork
import SignetStorage

extension FRAClient {
    /// The client that `start()` created.
    ///
    /// Nil before the start, and when the store could not be opened; then ``lastStorageError-type.property`` has the error. An app
    /// that sets it to nil can change the settings and start again.
    public static var shared: FRAClient? {
        get { FRAProcess.current.started }
        set { FRAProcess.current.replace(newValue) }
    }

    /// The error from opening the store in `start()`, or the last error of ``shared``.
    public static var lastStorageError: (any Error)? { FRAProcess.current.lastError }

    /// Starts the SDK with the app's storage client, or with the user's own vault (`$XDG_DATA_HOME/signet`) when the app set
    /// none.
    ///
    /// The start creates no vault: the first write does, with the strongest key protector that works on the machine. Opening a
    /// vault can require hardware or the desktop's keyring, and blocks the thread meanwhile. In a task use the asynchronous
    /// function.
    ///
    /// After the start, the storage client cannot be changed. Another start creates a new client of the same store.
    @available(*, noasync, message: "opening a vault holds the thread up: await start()")
    public static func start() { FRAProcess.current.start() }

    /// Starts the SDK without blocking the thread.
    public static func start() async { await FRAProcess.current.start() }

    /// Sets the app's own storage client, in which the SDK then stores all data.
    ///
    /// The client is handed over: only the SDK may use it from now on. The ForgeRock documentation calls this function without
    /// `try`, and apps of the ForgeRock SDK with it; both compile. The function does not throw: a `catch` around
    /// `try FRAClient.setStorage(storage:)` is not reached, and `try FRAClient.setStorage(storage:).get()` throws.
    ///
    /// - Returns: A failure with ``FRAError/invalidStateForChangingStorage`` when the SDK has started; the log has it too. Call `get()` on the
    ///   result to throw the error.
    @discardableResult
    public static func setStorage(storage: sending any StorageClient) -> Swift.Result<Void, FRAError> {
        guard shared == nil else { return .failure(refused(.invalidStateForChangingStorage)) }
        let box = ClientBox(storage)
        guard FRAProcess.current.setUp({ $0.storage = box }) else { return .failure(refused(.invalidStateForChangingStorage)) }
        return .success(())
    }

    /// Sets an evaluator with other policies than ``FRAPolicyEvaluator/defaultPolicies``.
    ///
    /// The evaluator is handed over to the SDK.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setPolicyEvaluator(policyEvaluator: sending FRAPolicyEvaluator) throws {
        let box = PolicyBox(policyEvaluator)
        try change { $0.policies = box }
    }

    /// Sets the user check for ``PushNotification/accept(title:allowDeviceCredentials:onSuccess:onError:)``.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setUserPresence(userPresence: any FRAUserPresence) throws {
        try change { $0.presence = userPresence }
    }

    /// Sets the transport to servers, for example for a proxy or for pinned certificates.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setTransport(transport: any HTTPTransport) throws {
        try change { $0.transport = transport }
    }

    /// Sets the interceptors, which see each request of the push protocol, in this order, before it is sent.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func setInterceptors(interceptors: [any FRARequestInterceptor]) throws {
        try change { $0.interceptors = interceptors }
    }

    /// Allows `http` addresses with these hosts in enrollment URIs, for a test network.
    ///
    /// Without it, only `https` addresses and those of this machine are used. The names replace those of an earlier call.
    /// - Throws: ``FRAError/invalidStateForChangingPolicyEvaluator`` when the SDK has started.
    public static func allowPlainHTTP(to hosts: Set<String>) throws {
        try change { $0.endpoints = .allowingPlainHTTP(to: hosts) }
    }

    private static func change(_ change: (inout LegacySettings) -> Void) throws {
        guard FRAProcess.current.setUp(change) else { throw FRAError.invalidStateForChangingPolicyEvaluator }
    }

    /// Logs and returns the error for a setting that comes too late.
    private static func refused(_ refusal: FRAError) -> FRAError {
        shared?.engine.log(refusal, "set up")
        return refusal
    }
}
