import SignetCore

/// The endpoints of a server.
///
/// Each of them has its own address (protocol/journey.md section 1.1).
public enum ServerEndpoint: String, Sendable, CaseIterable {
    /// The endpoint that runs journeys.
    case authenticate
    /// The endpoint that inspects and ends sessions.
    case session
    /// The authorization endpoint of OAuth 2.0.
    case authorize
    /// The token endpoint of OAuth 2.0.
    case token
    /// The revocation endpoint of OAuth 2.0.
    case revoke
    /// The endpoint with the claims about the user.
    case userInfo
    /// The logout endpoint, which identifies the session by an ID token.
    case endSession
    /// The endpoint with the keys that sign ID tokens.
    case jwks
    /// The endpoint with the codes for devices without a browser (RFC 8628).
    case deviceCode
    /// The endpoint that takes the parameters of authorization requests (RFC 9126).
    case pushedAuthorization
    /// The endpoint that asks a user on another device (OpenID Connect CIBA).
    case backchannelAuthentication
    /// The endpoint with the OpenID discovery document of the server.
    case discovery
    /// The endpoint under which the devices and settings of users are found.
    case users

    /// Returns the address relative to the server's address, for the realm path `realm`.
    package func path(realm: String) -> String {
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
        case .pushedAuthorization: "oauth2\(realm)/par"
        case .backchannelAuthentication: "oauth2\(realm)/bc-authorize"
        case .discovery: "oauth2\(realm)/.well-known/openid-configuration"
        }
    }
}

/// Addresses that replace the default addresses. They are resolved like links (RFC 3986 section 5.2), with the server's address
/// as a directory:
///
/// | override | meaning | with the server `https://am.example.com/am` |
/// | --- | --- | --- |
/// | `https://login.example.com/x` | absolute | `https://login.example.com/x` |
/// | `/x` | relative to the server's root | `https://am.example.com/x` |
/// | `x`, `custom/x` | relative to the server's address | `https://am.example.com/am/x` |
///
/// The JavaScript SDK resolves addresses in this way. The mobile SDKs append an address with a leading slash to the server's
/// address, and so does `FROptions` of the FRAuth module.
public struct EndpointOverrides: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var texts: [ServerEndpoint: String]

    /// Creates the overrides.
    ///
    /// For duplicate endpoints, the last one takes precedence.
    public init(dictionaryLiteral elements: (ServerEndpoint, String)...) {
        texts = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// The override as it was written; nil for the default address.
    public subscript(endpoint: ServerEndpoint) -> String? {
        get { texts[endpoint] }
        set { texts[endpoint] = newValue }
    }

    /// Returns the resolved and checked addresses.
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
        // A text with a scheme is absolute. With a scheme other than http or https, it is then rejected as an address and isn't
        // read as a path.
        let scheme = text.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if scheme.count < text.count, text.dropFirst(scheme.count).hasPrefix(":") { return text }
        if text.hasPrefix("//") { return "\(base.scheme):\(text)" }
        return text.hasPrefix("/") ? base.origin + text : "\(base.url)/\(text)"
    }
}

extension Endpoint {
    /// The scheme, the host, and the port when it isn't the scheme's default.
    package var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)")
    }

    /// The normalized address: the origin, and the path without trailing slashes.
    package var normalizedURL: String {
        let behind = url.drop { $0 != ":" }.dropFirst(3)
        let path = behind.drop { $0 != "/" && $0 != "?" }
        return origin + String(path.reversed().drop { $0 == "/" }.reversed())
    }
}
