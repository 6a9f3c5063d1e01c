import SignetCore

/// A session of the user at AM.
public protocol SSOToken: Session, Codable {
    /// The address to which the server would redirect a browser; empty when it named none.
    var successUrl: String { get }
    /// The realm; empty when the server named none.
    var realm: String { get }
}

/// A session of the user at AM, as it is stored.
public final class SSOTokenImpl: SSOToken {
    /// The token, **in plain text**.
    public let value: String
    /// The address to which the server would redirect a browser; empty when it named none.
    public let successUrl: String
    /// The realm; empty when the server named none.
    public let realm: String
    /// The variant of the protocol that the server's answers have shown; nil when they have shown none, and in a session that the
    /// Ping SDK wrote.
    let dialect: String?

    /// Creates a session.
    public init(value: String, successUrl: String, realm: String) {
        self.value = value
        self.successUrl = successUrl
        self.realm = realm
        dialect = nil
    }

    /// Creates a session from one of the engine.
    init(_ token: SignetCore.SSOToken) {
        value = token.value.text
        successUrl = token.successURL ?? ""
        realm = token.realm ?? ""
        dialect = token.dialect
    }
}

extension SSOTokenImpl: CustomStringConvertible, CustomReflectable {
    /// The realm, and never the token.
    public var description: String { "session in \(realm.isEmpty ? "an unnamed realm" : realm)" }
    /// An empty mirror, so that `dump` shows no content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SSOTokenImpl {
    /// The session in the form of the engine; nil for an empty one.
    var token: SignetCore.SSOToken? {
        guard !value.isEmpty else { return nil }
        var token = SignetCore.SSOToken(
            value: Secret(text: value), successURL: successUrl.isEmpty ? nil : successUrl, realm: realm.isEmpty ? nil : realm)
        token.dialect = dialect
        return token
    }
}
