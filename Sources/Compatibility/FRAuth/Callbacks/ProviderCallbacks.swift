public import SignetCore
public import SignetJourney

/// An identity provider that the user can log in with.
public struct IdPValue: Sendable, Hashable {
    /// The provider's name, for example `google`; `localAuthentication` for an account on the server itself.
    public let provider: String
    /// The settings for the button, such as `buttonDisplayName` and `buttonImage`.
    ///
    /// May be empty.
    public let uiConfig: [String: String]
}

/// Asks the user to select an identity provider.
public final class SelectIdPCallback: TypedValueCallback<SignetJourney.SelectIdPCallback> {
    /// The providers that the server offers.
    public var providers: [IdPValue] {
        view.providers.map { IdPValue(provider: $0.name, uiConfig: $0.look.compactMapValues(\.string)) }
    }

    /// Selects a provider.
    public func setProvider(provider: IdPValue) { setValue(provider.provider) }

    /// Selects a provider by name.
    ///
    /// A provider that the server does not offer is ignored, because this method cannot throw in the ForgeRock SDK.
    public override func setValue(_ value: Any?) {
        var view = view
        guard let name = value as? String, (try? view.select(name)) != nil else { return }
        callback = view.callback
    }
}

/// The parameters of a login with an identity provider.
public struct IdPClient: Sendable, Hashable {
    /// The provider's name.
    public let provider: String
    /// The OAuth 2.0 client identifier for the provider.
    public let clientId: String
    /// The redirect URI that the provider sends the user back to.
    public let redirectUri: String
    /// The scopes to request; nil when the server names none.
    public let scopes: [String]?
    /// The nonce that the ID token must contain; nil when the server sends none.
    public let nonce: String?
    /// The authentication context classes (`acr_values`) to request; nil when the server sends none.
    public let acrValues: [String]?
    /// A signed request object (RFC 9101); nil when the server sends none.
    public let request: String?
    /// The URI of the signed request object; nil when the server sends none.
    public let requestUri: String?
    /// True when the server accepts JSON with the token and the user's data from the provider, as Sign in with Apple returns it.
    public let acceptsJSON: Bool
}

/// Asks for a login with an identity provider and for the token that the provider returns.
public final class IdPCallback: TypedValuesCallback<SignetJourney.IdPCallback> {
    /// The parameters of the request to the provider.
    public var idpClient: IdPClient {
        IdPClient(
            provider: view.provider, clientId: view.clientID, redirectUri: view.redirectURI,
            scopes: output("scopes").map { _ in view.scopes }, nonce: output("nonce")?.string,
            acrValues: output("acrValues").map { _ in view.acrValues }, request: output("request")?.string,
            requestUri: output("requestUri")?.string, acceptsJSON: view.acceptsJSON)
    }

    /// Enters the token.
    public func setToken(_ token: String) { set("token", token) }
    /// Enters the type of the token: `id_token`, `access_token` or `authorization_code`.
    public func setTokenType(_ type: String) { set("token_type", type) }
}

/// Asks for a reCAPTCHA token, which shows that the user is human.
public final class ReCaptchaCallback: TypedValueCallback<SignetJourney.ReCaptchaCallback> {
    /// The site key.
    public var recaptchaSiteKey: String { view.siteKey }
}

/// Asks for a reCAPTCHA Enterprise token, which shows that the user is human.
public final class ReCaptchaEnterpriseCallback: TypedValuesCallback<SignetJourney.ReCaptchaEnterpriseCallback> {
    /// The site key.
    public var recaptchaSiteKey: String { view.siteKey }
    /// Enters the token.
    public func setToken(_ token: String) { set("token", token) }
    /// Enters the action that the user is about to do; usually `login`.
    public func setAction(_ action: String) { set("action", action) }
    /// Enters the reason for a missing token: `INVALID_CAPTCHA_TOKEN` or `UNKNOWN_ERROR`.
    public func setClientError(_ error: String) { set("clientError", error) }
    /// Enters additional data, as JSON.
    public func setPayload(_ payload: String) { set("payload", payload) }
}

/// The base class of the PingOne Protect callbacks.
///
/// Older servers send them as metadata; the answer then goes into the hidden values of the same step.
public class PingOneProtectCallback: MultipleValuesCallback {
    /// The hidden values of the same step.
    final var hidden: [HiddenValueCallback] = []

    /// Enters the reason for missing data.
    public final func setClientError(_ error: String) { answer("clientError", hiddenAs: "clientError", error) }

    final func answer(_ ending: String, hiddenAs id: String, _ value: String) {
        if callback.inputIndex(ending) != nil {
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
    private let settings: ProtectSettings

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else.
    public required init(_ callback: JourneyCallback) throws {
        guard case .initialize(let settings)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        self.settings = settings
        try super.init(callback)
    }

    /// The identifier of the PingOne environment.
    public var envId: String { settings.environmentID }
    /// True when PingOne Protect logs to the console.
    public var consoleLogEnabled: Bool { settings.logsToConsole }
    /// The device attributes that PingOne Protect must not collect.
    public var deviceAttributesToIgnore: [String] { settings.ignoredAttributes }
    /// The host that replaces the default host; empty for the default host.
    public var customHost: String { settings.customHost }
    /// True when PingOne Protect collects the device's metadata only on request.
    public var lazyMetadata: Bool { settings.isLazy }
    /// True when PingOne Protect records how the user types and moves.
    ///
    /// The default is true.
    public var behavioralDataCollection: Bool { settings.collectsBehavioralData }
    /// The number of days between two synchronizations of the device's key; 14 when the server does not say.
    public var deviceKeyRsyncIntervals: Int { settings.keySyncDays }
    /// True when the device's key is used.
    public var enableTrust: Bool { settings.usesTrust }
    /// True when tags are disabled.
    public var disableTags: Bool { truth("disableTags") }
    /// True when the hub is disabled.
    public var disableHub: Bool { truth("disableHub") }
    /// True when an agent on the device identifies the device.
    public var agentIdentification: Bool { truth("agentIdentification") }
    /// The timeout for the agent, in milliseconds; nil when the server does not say.
    public var agentTimeout: Int? { number("agentTimeout") }
    /// The port of the agent; nil when the server does not say.
    public var agentPort: Int? { number("agentPort") }

    private func truth(_ name: String) -> Bool { settings.all[name]?.truth ?? false }
    private func number(_ name: String) -> Int? { settings.all[name]?.wholeNumber.flatMap { Int(exactly: $0) } }
}

/// Asks for the data that PingOne Protect has collected.
public final class PingOneProtectEvaluationCallback: PingOneProtectCallback {
    /// True when PingOne Protect must pause the collection of behavioral data from now on.
    public let pauseBehavioralData: Bool

    /// Reads a callback.
    /// - Throws: ``AuthError/invalidCallbackResponse(_:)`` when the callback asks for something else.
    public required init(_ callback: JourneyCallback) throws {
        guard case .evaluate(let pauses)? = Self.request(in: callback) else { throw Self.invalid(callback) }
        pauseBehavioralData = pauses
        try super.init(callback)
    }

    /// Enters the collected data.
    public func setSignals(_ signals: String) { answer("signals", hiddenAs: "pingone_risk_evaluation_signals", signals) }
}
