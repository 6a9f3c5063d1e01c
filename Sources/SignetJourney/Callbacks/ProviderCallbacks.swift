public import SignetCore

/// A callback that asks the user to select the identity provider for the login.
public struct SelectIdPCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "SelectIdPCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// An identity provider that the user can select.
    public struct Provider: Sendable, Hashable {
        /// The name, for example `google`; `localAuthentication` for an account of the server itself.
        public let name: String
        /// The appearance: `buttonDisplayName`, `buttonImage` and so on.
        ///
        /// May be empty.
        public let look: [String: JSONValue]
    }

    /// The available providers.
    public var providers: [Provider] {
        (callback.output("providers")?.array ?? []).compactMap { value in
            value["provider"]?.string.map { Provider(name: $0, look: value["uiConfig"]?.object ?? [:]) }
        }
    }

    /// The name of the selected provider; empty while no provider is selected.
    public var selected: String { callback.value()?.string ?? "" }

    /// Selects a provider by its name.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ provider: String) throws(CallbackError) {
        guard providers.contains(where: { $0.name == provider }) else {
            throw CallbackError(.notOffered, Self.type, "there is no such provider")
        }
        callback.set(.string(provider))
    }
}

/// A callback that asks for a login at another identity provider, and for the token or code that it returns.
public struct IdPCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "IdPCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["token", "token_type"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The name of the provider.
    public var provider: String { callback.text("provider") }
    /// The client ID for the login at the provider.
    public var clientID: String { callback.text("clientId") }
    /// The redirect URI to which the provider returns the user.
    public var redirectURI: String { callback.text("redirectUri") }
    /// The scopes to request.
    public var scopes: [String] { callback.texts("scopes") }
    /// The nonce that the ID token must contain.
    public var nonce: String { callback.text("nonce") }
    /// The authentication context classes to request from the provider (`acr_values`).
    public var acrValues: [String] { callback.texts("acrValues") }
    /// The signed authorization request (RFC 9101); empty when the server sends none.
    public var request: String { callback.text("request") }
    /// The address of the signed authorization request; empty when the server sends none.
    public var requestURI: String { callback.text("requestUri") }
    /// True when ``fill(token:type:)`` accepts JSON that contains the token and the provider's data about the user, as Apple
    /// supplies it.
    public var acceptsJSON: Bool { callback.bool("acceptsJSON") }

    /// The kind of credential that a provider returns.
    public enum TokenType: String, Sendable, CaseIterable {
        /// An ID token: Apple, Google.
        case idToken = "id_token"
        /// An access token: Facebook.
        case accessToken = "access_token"
        /// An authorization code that the server exchanges.
        case authorizationCode = "authorization_code"
    }

    /// Enters the token or code that the provider returned.
    public mutating func fill(token: Secret, type: TokenType) {
        callback.set("token", .string(String(decoding: token.bytes, as: UTF8.self)))
        callback.set("token_type", .string(type.rawValue))
    }
}

/// A callback that redirects the user to another site in a browser.
///
/// After the user returns, continue with ``Journey/next(_:returnedTo:of:options:)``.
public struct RedirectCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "RedirectCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs: [String] = []
    /// The underlying callback.
    public let callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The address of the other site.
    public var url: String { callback.text("redirectUrl") }
    /// The HTTP method of the redirect, `GET` or `POST`.
    public var method: String { callback.optionalText("redirectMethod") ?? "GET" }
    /// The form data to send with `POST`.
    public var data: [String: JSONValue] { callback.output("redirectData")?.object ?? [:] }
    /// True when the server identifies the journey by a cookie when the user returns.
    public var hasTrackingCookie: Bool { callback.bool("trackingCookie") }
}

/// A callback that asks for a CAPTCHA token from reCAPTCHA or hCaptcha.
public struct ReCaptchaCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "ReCaptchaCallback"
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The site key.
    public var siteKey: String { callback.text("recaptchaSiteKey") }

    /// The CAPTCHA token; empty until the app enters one.
    public var token: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// A callback that asks for a CAPTCHA token from reCAPTCHA Enterprise.
public struct ReCaptchaEnterpriseCallback: TypedCallback {
    /// The callback type in the protocol.
    public static let type = "ReCaptchaEnterpriseCallback"
    /// The name endings of the inputs that the callback must have.
    public static let inputs = ["token"]
    /// The underlying callback, including the values that were filled in.
    public private(set) var callback: JourneyCallback
    /// Creates the typed view of a callback without checking it.
    public init(unchecked callback: JourneyCallback) { self.callback = callback }

    /// The site key.
    public var siteKey: String { callback.text("recaptchaSiteKey") }
    /// The address of the CAPTCHA script.
    public var scriptAddress: String { callback.text("captchaApiUri") }
    /// The class of the HTML element that the script fills.
    public var elementClass: String { callback.text("captchaDivClass") }

    /// Enters a CAPTCHA token.
    /// - Parameters:
    ///   - token: The CAPTCHA token.
    ///   - action: The action that the user is about to perform.
    ///   - payload: Additional data about the action; nil for none.
    public mutating func fill(token: String, action: String = "login", payload: JSONValue? = nil) {
        callback.set("token", .string(token))
        callback.set("action", .string(action))
        if let payload { callback.set("payload", .string(JSON.text(of: payload))) }
    }

    /// Enters the error that replaces the token, for example `INVALID_CAPTCHA_TOKEN` or `UNKNOWN_ERROR`.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}
