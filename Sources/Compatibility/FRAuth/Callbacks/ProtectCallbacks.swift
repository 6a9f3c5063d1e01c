public import Foundation
import SignetCore
import SignetJourney

/// The result of a PingOne Protect call.
public enum ProtectResult {
    /// The call succeeded.
    case success
    /// The call failed.
    case failure(NSError)
}

/// The base class of the PingOne Protect callbacks.
///
/// Older servers send them as metadata; the answer then goes into the hidden values of the same step.
open class ProtectCallback: MultipleValuesCallback {
    /// The names of the outputs, or those of the metadata's members.
    public final var outputNames: [String] = []
    /// The values of the outputs, or those of the metadata's members, by name.
    public final var outputValues: [String: Any] = [:]
    /// The name of the input for the reason of missing data; empty for metadata.
    public final var clientErrorKey = ""
    /// True when the server sent the callback as metadata.
    public final var derivedCallback = false
    /// The step that has the callback.
    public final internal(set) weak var node: Node?

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback has no outputs, or has no input for the client error.
    public required init(json: [String: Any]) throws {
        try super.init(json: json)
        try received.require("output")
        derivedCallback = Self.isDerived(received)
        let data = received.output("data")?.object ?? [:]
        let outputs = derivedCallback ? data.sorted { $0.key < $1.key } : received.output.map { ($0.name, $0.value) }
        outputNames = outputs.map(\.0)
        outputValues = Dictionary(outputs.map { ($0.0, $0.1.any) }, uniquingKeysWith: { first, _ in first })
        clientErrorKey = derivedCallback ? "" : try received.inputName("clientError")
    }

    /// Returns true when the server sent the callback as metadata.
    public static func isDerivedCallback(_ json: [String: Any]) -> Bool {
        (try? JourneyCallback(untyped: json)).map { isDerived($0) } ?? false
    }

    private static func isDerived(_ callback: JourneyCallback) -> Bool {
        callback.type == SignetJourney.MetadataCallback.type && request(in: callback) != nil
    }

    /// Enters the reason for missing data.
    public final func setClientError(_ clientError: String) { answer(clientErrorKey, hiddenAs: "clientError", clientError) }

    /// Enters a value into an input, or into the step's hidden value for metadata.
    final func answer(_ key: String?, hiddenAs id: String, _ value: String) {
        guard derivedCallback else {
            if let key { inputValues[key] = value }
            return
        }
        node?.callbacks.lazy.compactMap { $0 as? HiddenValueCallback }.first { $0.id == id }?.setValue(value)
    }

    /// Returns the failure of a call, whose reason the server learns, because this package doesn't contain the PingOne SDK.
    final func unavailable() -> ProtectResult {
        let reason = "The PingOne SDK is not part of this app"
        setClientError(reason)
        return .failure(
            NSError(domain: "com.forgerock.ios.PingProtect", code: 1, userInfo: [NSLocalizedDescriptionKey: reason]))
    }

    static func request(in callback: JourneyCallback) -> ProtectRequest? {
        JourneyStep(authId: "", callbacks: [callback]).protectRequest
    }
}

/// Asks to start PingOne Protect.
open class PingOneProtectInitializeCallback: ProtectCallback {
    private let settings: ProtectSettings

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else or names no environment.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        guard case .initialize(let settings)? = Self.request(in: callback), settings.all["envId"]?.string != nil else {
            throw AuthError.invalidCallbackResponse("Missing envId")
        }
        self.settings = settings
        try super.init(json: json)
    }

    /// Starts PingOne Protect.
    ///
    /// It fails, and the server learns about it, because this package doesn't contain the PingOne SDK. A subclass of the app, which
    /// `CallbackFactory.shared.registerCallback` registers, starts the SDK here.
    /// - Parameter completion: Receives the result once.
    open func start(completion: @escaping ProtectResultCallback) { completion(unavailable()) }

    /// The identifier of the PingOne environment.
    public final var envId: String { settings.environmentID }
    /// True when PingOne Protect logs to the console.
    public final var consoleLogEnabled: Bool { settings.logsToConsole }
    /// The device attributes that PingOne Protect must not collect.
    public final var deviceAttributesToIgnore: [String] { settings.ignoredAttributes }
    /// The host that replaces the default host; empty for the default host.
    public final var customHost: String { settings.customHost }
    /// True when PingOne Protect collects the device's metadata only on request.
    public final var lazyMetadata: Bool { settings.isLazy }
    /// True when PingOne Protect records how the user types and moves.
    ///
    /// The default is true.
    public final var behavioralDataCollection: Bool { settings.collectsBehavioralData }
    /// The number of days between two synchronizations of the device's key; 14 when the server does not say.
    public final var deviceKeyRsyncIntervals: Int { settings.keySyncDays }
    /// True when the device's key is used.
    public final var enableTrust: Bool { settings.usesTrust }
    /// True when tags are disabled.
    public final var disableTags: Bool { bool("disableTags") }
    /// True when the hub is disabled.
    public final var disableHub: Bool { bool("disableHub") }
    /// True when an agent on the device identifies the device.
    public final var agentIdentification: Bool { bool("agentIdentification") }
    /// The timeout for the agent, in milliseconds; nil when the server does not say.
    public final var agentTimeout: Int? { settings.all["agentTimeout"]?.lenientInteger.flatMap { Int(exactly: $0) } }
    /// The port of the agent; nil when the server does not say.
    public final var agentPort: String? {
        let port = settings.all["agentPort"]
        return port?.string ?? port?.lenientInteger.map { String($0) }
    }

    private func bool(_ name: String) -> Bool { settings.all[name]?.lenientBool ?? false }
}

/// Asks for the data that PingOne Protect has collected.
open class PingOneProtectEvaluationCallback: ProtectCallback {
    /// True when PingOne Protect must pause the collection of behavioral data from now on.
    public final let pauseBehavioralData: Bool

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else or has no input for the data.
    public required init(json: [String: Any]) throws {
        let callback = try JourneyCallback(untyped: json)
        guard case .evaluate(let pauses)? = Self.request(in: callback) else {
            throw AuthError.invalidCallbackResponse("Missing signals")
        }
        pauseBehavioralData = pauses
        try super.init(json: json)
    }

    /// Enters the data that PingOne Protect has collected.
    ///
    /// It fails, and the server learns about it, because this package doesn't contain the PingOne SDK. An app with that SDK enters the
    /// data with ``setSignals(_:)``, or overrides this method in a subclass.
    /// - Parameter completion: Receives the result once.
    open func getData(completion: @escaping ProtectResultCallback) { completion(unavailable()) }

    /// Enters the collected data.
    public final func setSignals(_ signals: String) {
        answer(key("signals"), hiddenAs: "pingone_risk_evaluation_signals", signals)
    }
}
