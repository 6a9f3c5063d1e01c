public import SignetCore
import SignetJourney

/// An account that can be used to log in.
public struct IdPValue: Sendable, Hashable {
    /// The name, for example `google`; `localAuthentication` for an account of the server itself.
    public let provider: String
    /// How to show it: `buttonDisplayName`, `buttonImage` and so on. May be empty.
    public let uiConfig: [String: String]
}

/// Asks with whose account to log in.
public final class SelectIdPCallback: SingleValueCallback {
    /// The accounts that can be used.
    public var providers: [IdPValue] {
        (wire.output("providers")?.array ?? []).compactMap { entry in
            entry["provider"]?.string.map {
                IdPValue(provider: $0, uiConfig: (entry["uiConfig"]?.object ?? [:]).compactMapValues(\.string))
            }
        }
    }

    /// Chooses.
    public func setProvider(provider: IdPValue) { setValue(provider.provider) }

    /// Chooses by name. What is not offered is passed over: the original has no way to refuse here.
    public override func setValue(_ value: Any?) {
        guard let name = value as? String, providers.contains(where: { $0.provider == name }) else { return }
        super.setValue(name)
    }
}

/// What another provider is to be asked.
public struct IdPClient: Sendable, Hashable {
    /// The provider's name.
    public let provider: String
    /// The client to log in as.
    public let clientId: String
    /// Where the provider sends people back to.
    public let redirectUri: String
    /// What to ask for; nil when the server names nothing.
    public let scopes: [String]?
    /// What the id token must repeat; nil when it need not.
    public let nonce: String?
    /// How the provider is to make sure who it is; nil for no wish.
    public let acrValues: [String]?
    /// A signed request (RFC 9101); nil for none.
    public let request: String?
    /// Where the signed request is; nil for none.
    public let requestUri: String?
    /// Whether the server takes JSON with the token and what the provider says of the person, as Apple gives it.
    public let acceptsJSON: Bool
}

/// Asks to log in with another provider, and to bring what it gives.
public final class IdPCallback: MultipleValuesCallback {
    /// What to ask the provider.
    public var idpClient: IdPClient {
        func texts(_ name: String) -> [String]? { wire.output(name)?.array?.compactMap(\.string) }
        return IdPClient(
            provider: text("provider"), clientId: text("clientId"), redirectUri: text("redirectUri"), scopes: texts("scopes"),
            nonce: wire.output("nonce")?.string, acrValues: texts("acrValues"), request: wire.output("request")?.string,
            requestUri: wire.output("requestUri")?.string, acceptsJSON: wire.output("acceptsJSON")?.bool ?? false)
    }

    /// Enters the token.
    public func setToken(_ token: String) { set("token", token) }
    /// Enters the type of the token: `id_token`, `access_token` or `authorization_code`.
    public func setTokenType(_ type: String) { set("token_type", type) }
}

/// Asks for the proof that a person is there.
public final class ReCaptchaCallback: SingleValueCallback {
    /// The site's key.
    public var recaptchaSiteKey: String { text("recaptchaSiteKey") }
}

/// Asks for the proof that a person is there, from reCAPTCHA Enterprise.
public final class ReCaptchaEnterpriseCallback: MultipleValuesCallback {
    /// The site's key.
    public var recaptchaSiteKey: String { text("recaptchaSiteKey") }
    /// Enters the proof.
    public func setToken(_ token: String) { set("token", token) }
    /// Enters what the person is about to do; `login` is usual.
    public func setAction(_ action: String) { set("action", action) }
    /// Says why there is none: `INVALID_CAPTCHA_TOKEN`, `UNKNOWN_ERROR`.
    public func setClientError(_ error: String) { set("clientError", error) }
    /// Enters more about it, as JSON.
    public func setPayload(_ payload: String) { set("payload", payload) }
}

/// What PingOne Protect is asked, in a callback of its own or, by older servers, in metadata: then the answer goes into the hidden
/// values of the same step.
public class PingOneProtectCallback: MultipleValuesCallback {
    /// The hidden values of the same step.
    final var hidden: [HiddenValueCallback] = []

    /// Says why there is nothing to tell.
    public final func setClientError(_ error: String) { answer("clientError", hiddenAs: "clientError", error) }

    final func answer(_ ending: String, hiddenAs id: String, _ value: String) {
        if wire.inputIndex(ending) != nil {
            set(ending, value)
        } else {
            hidden.first { $0.id == id }?.setValue(value)
        }
    }

    final class func request(in callback: JourneyCallback) -> ProtectRequest? {
        JourneyStep(authId: "", callbacks: [callback]).protectRequest
    }
}

/// Asks to start PingOne Protect.
public final class PingOneProtectInitializeCallback: PingOneProtectCallback {
    private let settings: [String: JSONValue]

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it asks for something else.
    public required init(_ callback: JourneyCallback) throws {
        guard case .initialize(let settings)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.settings = settings.all
        try super.init(callback)
    }

    /// The environment at PingOne.
    public var envId: String { settings["envId"]?.string ?? "" }
    /// Whether it logs to the console.
    public var consoleLogEnabled: Bool { truth("consoleLogEnabled") }
    /// What not to look at.
    public var deviceAttributesToIgnore: [String] {
        settings["deviceAttributesToIgnore"]?.array?.compactMap(\.string) ?? []
    }
    /// The host to use in place of the usual one; empty for none.
    public var customHost: String { settings["customHost"]?.string ?? "" }
    /// Whether to find out about the device only when asked.
    public var lazyMetadata: Bool { truth("lazyMetadata") }
    /// Whether to look at how the person types and moves.
    public var behavioralDataCollection: Bool { truth("behavioralDataCollection", standard: true) }
    /// How many days pass between two synchronisations of the device's key.
    public var deviceKeyRsyncIntervals: Int { number("deviceKeyRsyncIntervals") ?? 14 }
    /// Whether the device's key is used.
    public var enableTrust: Bool { truth("enableTrust") }
    /// Whether tags are left out.
    public var disableTags: Bool { truth("disableTags") }
    /// Whether the hub is left out.
    public var disableHub: Bool { truth("disableHub") }
    /// Whether an agent on the machine is asked who it is.
    public var agentIdentification: Bool { truth("agentIdentification") }
    /// How long the agent has, in milliseconds; nil for no wish.
    public var agentTimeout: Int? { number("agentTimeout") }
    /// The port that the agent is at; nil for no wish.
    public var agentPort: Int? { number("agentPort") }

    private func truth(_ name: String, standard: Bool = false) -> Bool { settings[name]?.bool ?? standard }
    private func number(_ name: String) -> Int? { settings[name]?.wholeNumber.flatMap { Int(exactly: $0) } }
}

/// Asks for what PingOne Protect has seen.
public final class PingOneProtectEvaluationCallback: PingOneProtectCallback {
    /// Whether to look away from now on.
    public let pauseBehavioralData: Bool

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when it asks for something else.
    public required init(_ callback: JourneyCallback) throws {
        guard case .evaluate(let pauses)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        pauseBehavioralData = pauses
        try super.init(callback)
    }

    /// Enters what it has seen.
    public func setSignals(_ signals: String) { answer("signals", hiddenAs: "pingone_risk_evaluation_signals", signals) }
}
