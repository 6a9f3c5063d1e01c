public import SignetCore

/// Asks with whose account to log in.
public struct SelectIdPCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "SelectIdPCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// An account that can be used.
    public struct Provider: Sendable, Hashable {
        /// The name, for example `google`; `localAuthentication` for an account of the server itself.
        public let name: String
        /// How to show it: `buttonDisplayName`, `buttonImage` and so on. May be empty.
        public let look: [String: JSONValue]
    }

    /// What can be chosen.
    public var providers: [Provider] {
        (callback.output("providers")?.array ?? []).compactMap { value in
            value["provider"]?.string.map { Provider(name: $0, look: value["uiConfig"]?.object ?? [:]) }
        }
    }

    /// The name of what is chosen; empty while nothing is.
    public var selected: String { callback.value()?.string ?? "" }

    /// Chooses by name.
    /// - Throws: ``CallbackError/Code/notOffered``.
    public mutating func select(_ provider: String) throws(CallbackError) {
        guard providers.contains(where: { $0.name == provider }) else {
            throw CallbackError(.notOffered, Self.type, "there is no such provider")
        }
        callback.set(.string(provider))
    }
}

/// Asks to log in with another provider, and to bring what it gives.
public struct IdPCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "IdPCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "token", "token_type") else { return nil }
        self.callback = callback
    }

    /// The provider's name.
    public var provider: String { callback.text("provider") }
    /// The client to log in as.
    public var clientID: String { callback.text("clientId") }
    /// Where the provider sends people back to.
    public var redirectURI: String { callback.text("redirectUri") }
    /// What to ask for.
    public var scopes: [String] { callback.texts("scopes") }
    /// What the id token must repeat.
    public var nonce: String { callback.text("nonce") }
    /// How the provider is to make sure who it is.
    public var acrValues: [String] { callback.texts("acrValues") }
    /// A signed request (RFC 9101); empty for none.
    public var request: String { callback.text("request") }
    /// Where the signed request is; empty for none.
    public var requestURI: String { callback.text("requestUri") }
    /// Whether ``fill(token:type:)`` takes JSON with the token and what the provider says of the person, as Apple gives it.
    public var acceptsJSON: Bool { callback.truth("acceptsJSON") }

    /// What a provider gives.
    public enum TokenType: String, Sendable, CaseIterable {
        /// An id token: Apple, Google.
        case idToken = "id_token"
        /// An access token: Facebook.
        case accessToken = "access_token"
        /// A code that the server exchanges.
        case authorizationCode = "authorization_code"
    }

    /// Enters what the provider gave.
    public mutating func fill(token: Secret, type: TokenType) {
        callback.set("token", .string(String(decoding: token.bytes, as: UTF8.self)))
        callback.set("token_type", .string(type.rawValue))
    }
}

/// Asks to go elsewhere in a browser and to come back: ``Journey/next(_:returnedTo:of:options:)``.
public struct RedirectCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "RedirectCallback"
    /// The callback.
    public let callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.type == Self.type else { return nil }
        self.callback = callback
    }

    /// Where to go.
    public var url: String { callback.text("redirectUrl") }
    /// How to ask there, `GET` or `POST`.
    public var method: String { callback.optionalText("redirectMethod") ?? "GET" }
    /// What to send there with `POST`.
    public var data: [String: JSONValue] { callback.output("redirectData")?.object ?? [:] }
    /// Whether the server knows the journey by a cookie when the person comes back.
    public var hasTrackingCookie: Bool { callback.truth("trackingCookie") }
}

/// Asks for the proof that a person is there, from reCAPTCHA or hCaptcha.
public struct ReCaptchaCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "ReCaptchaCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "") else { return nil }
        self.callback = callback
    }

    /// The site's key.
    public var siteKey: String { callback.text("recaptchaSiteKey") }

    /// The proof; empty while there is none.
    public var token: String {
        get { callback.value()?.string ?? "" }
        set { callback.set(.string(newValue)) }
    }
}

/// Asks for the proof that a person is there, from reCAPTCHA Enterprise.
public struct ReCaptchaEnterpriseCallback: TypedCallback {
    /// The name on the wire.
    public static let type = "ReCaptchaEnterpriseCallback"
    /// The callback, with what was filled in so far.
    public private(set) var callback: JourneyCallback

    /// Reads a callback; nil when it is another one, or lacks an input that it cannot do without.
    public init?(_ callback: JourneyCallback) {
        guard callback.fits(Self.type, "token") else { return nil }
        self.callback = callback
    }

    /// The site's key.
    public var siteKey: String { callback.text("recaptchaSiteKey") }
    /// Where the script is.
    public var scriptAddress: String { callback.text("captchaApiUri") }
    /// The class of the element that the script fills.
    public var elementClass: String { callback.text("captchaDivClass") }

    /// Enters a proof.
    /// - Parameters:
    ///   - token: the proof.
    ///   - action: what the person is about to do.
    ///   - payload: more about it; nil for none.
    public mutating func fill(token: String, action: String = "login", payload: JSONValue? = nil) {
        callback.set("token", .string(token))
        callback.set("action", .string(action))
        if let payload { callback.set("payload", .string(JSON.text(of: payload))) }
    }

    /// Says why there is no proof, for example `INVALID_CAPTCHA_TOKEN` or `UNKNOWN_ERROR`.
    public mutating func fail(_ clientError: String) {
        callback.set("clientError", .string(clientError))
    }
}
