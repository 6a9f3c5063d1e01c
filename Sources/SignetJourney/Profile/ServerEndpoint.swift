import SignetCore

/// What a client asks a server for, each under an address of its own (protocol/journey.md section 1.1).
public enum ServerEndpoint: String, Sendable, CaseIterable {
    /// Journeys are walked here.
    case authenticate
    /// Sessions are looked at and ended here.
    case session
    /// OAuth 2.0 authorization.
    case authorize
    /// OAuth 2.0 tokens.
    case token
    /// OAuth 2.0 tokens are revoked here.
    case revoke
    /// The claims of who is logged in.
    case userInfo
    /// A log-out by id token.
    case endSession
    /// The keys that id tokens are signed with.
    case jwks
    /// Codes for devices without a browser (RFC 8628).
    case deviceCode
    /// What the server says of itself as an OpenID provider.
    case discovery
    /// The devices and settings of users are below this one.
    case users

    /// The address below the server's, for a realm that is written as `realm`.
    func path(realm: String) -> String {
        let realm = realm.isEmpty ? "" : "/\(realm)"
        return switch self {
        case .authenticate: "json\(realm)/authenticate"
        case .session: "json\(realm)/sessions"
        case .users: "json\(realm)/users"
        case .authorize: "oauth2\(realm)/authorize"
        case .token: "oauth2\(realm)/access_token"
        case .revoke: "oauth2\(realm)/token/revoke"
        case .userInfo: "oauth2\(realm)/userinfo"
        case .endSession: "oauth2\(realm)/connect/endSession"
        case .jwks: "oauth2\(realm)/connect/jwk_uri"
        case .deviceCode: "oauth2\(realm)/device/code"
        case .discovery: "oauth2\(realm)/.well-known/openid-configuration"
        }
    }
}

/// Addresses that differ from the usual ones. The rule is that of links (RFC 3986 section 5.2), with the server's address read as
/// a directory:
///
/// | written | is | with the server `https://am.example.com/am` |
/// | --- | --- | --- |
/// | `https://login.example.com/x` | absolute | `https://login.example.com/x` |
/// | `/x` | from the server's root | `https://am.example.com/x` |
/// | `x`, `custom/x` | below the server's address | `https://am.example.com/am/x` |
///
/// This is the JavaScript SDK's rule. The mobile SDKs put what begins with a slash below the server's address; `FROptions` of the
/// FRAuth module does so too.
public struct EndpointOverrides: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var texts: [ServerEndpoint: String]

    /// The overrides as listed; the last of several for one endpoint counts.
    public init(dictionaryLiteral elements: (ServerEndpoint, String)...) {
        texts = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// The override as written; nil leaves the usual address.
    public subscript(endpoint: ServerEndpoint) -> String? {
        get { texts[endpoint] }
        set { texts[endpoint] = newValue }
    }

    /// The addresses, each checked.
    /// - Throws: ``ProfileError`` that names the endpoint.
    func addresses(below base: Endpoint, policy: EndpointPolicy) throws(ProfileError) -> [ServerEndpoint: String] {
        var addresses: [ServerEndpoint: String] = [:]
        for (endpoint, text) in texts {
            let key = "endpoints.\(endpoint.rawValue)"
            let text = text.trimmingWhitespace()
            guard !text.isEmpty else { throw ProfileError(key, .empty) }
            addresses[endpoint] = try Self.checked(Self.resolve(text, below: base), key: key, policy: policy)
        }
        return addresses
    }

    static func checked(_ url: String, key: String, policy: EndpointPolicy) throws(ProfileError) -> String {
        guard !url.contains("#") else { throw ProfileError(key, .address(.notAWebAddress)) }
        do {
            return try Endpoint(url, policy: policy).url
        } catch {
            throw ProfileError(key, .address(error))
        }
    }

    private static func resolve(_ text: String, below base: Endpoint) -> String {
        // What has a scheme is absolute; one that is no web address is refused as such, and not taken for a path.
        let scheme = text.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if scheme.count < text.count, text.dropFirst(scheme.count).hasPrefix(":") { return text }
        if text.hasPrefix("//") { return "\(base.scheme):\(text)" }
        return text.hasPrefix("/") ? base.origin + text : "\(base.url)/\(text)"
    }
}

extension Endpoint {
    /// Scheme, host and, if it is not the usual one, port.
    package var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)")
    }

    /// The address in one way of writing it: the origin, and the path as it is.
    package var place: String {
        let behind = url.drop { $0 != ":" }.dropFirst(3)
        let path = behind.drop { $0 != "/" && $0 != "?" }
        return origin + String(path.reversed().drop { $0 == "/" }.reversed())
    }
}
