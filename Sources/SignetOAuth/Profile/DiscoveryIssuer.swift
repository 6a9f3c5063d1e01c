import SignetCore

/// The issuer that a discovery document must name (OpenID Connect Discovery 1.0 section 4.3, RFC 8414 section 3.3).
///
/// Without this check a tenant of a server could publish a document that names another tenant of the same server as its issuer.
///
/// - The configured issuer, byte for byte, if the app configured one.
/// - Otherwise the address from which the document was read, without the well-known part, byte for byte. That part is
///   `/.well-known/openid-configuration` at the end of the address, or `/.well-known/oauth-authorization-server` between the host
///   and the path. A document with the part at the end of its address may also name that address with one slash at the end, because
///   a client removes a slash at the end of the issuer before it appends the part (OpenID Connect Discovery 1.0 section 4.1).
/// - Without a configured issuer also these forms of AM, all for the same scheme, host, port, deployment path and realm:
///   - the default port of the scheme, written or omitted: `https://am.example.com:443/am/oauth2/alpha`;
///   - the top-level realm as `/oauth2` or `/oauth2/realms/root`;
///   - any other realm as `/oauth2/realms/root/realms/alpha/realms/beta`, `/oauth2/realms/alpha/realms/beta` or
///     `/oauth2/alpha/beta`;
///   - for the document only, the realm in the query: `/oauth2/.well-known/openid-configuration?realm=/alpha`.
struct DiscoveryIssuer: Sendable, Hashable {
    /// The expected issuer; nil when the app configured none and the address doesn't contain it.
    let name: String?
    /// The realm of AM that the address names; nil for other addresses, and when the app configured an issuer.
    private let realm: AccessManagerRealm?
    /// True when the issuer may also end with a slash.
    private let allowsSlash: Bool

    /// Creates the rule.
    /// - Parameters:
    ///   - configured: The issuer that the app configured.
    ///   - documentAddress: The address of the document.
    init(configured: String?, documentAddress: String) {
        if let configured {
            (name, realm, allowsSlash) = (configured, nil, false)
            return
        }
        let parts = documentAddress.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let location = parts.first ?? ""
        let address = Self.withoutWellKnown(location)
        allowsSlash = parts.count == 1 && location.hasSuffix(Self.appended)
        guard parts.count == 2 else {
            name = address
            realm = address.flatMap { AccessManagerRealm($0) }
            return
        }
        // An issuer has no query (section 2), so a query isn't part of a byte for byte comparison.
        name = nil
        realm = address.flatMap { AccessManagerRealm($0, query: parts[1]) }
    }

    /// Returns true when a document with this issuer may be used.
    func allows(_ issuer: String) -> Bool {
        let names = [name, allowsSlash ? name.map { $0 + "/" } : nil].compactMap(\.self)
        if names.contains(where: { $0.utf8.elementsEqual(issuer.utf8) }) { return true }
        return realm.map { $0 == AccessManagerRealm(issuer) } ?? false
    }

    /// The well-known part at the end of an address.
    private static let appended = "/.well-known/openid-configuration"

    private static func withoutWellKnown(_ address: Substring) -> String? {
        if address.hasSuffix(appended) { return String(address.dropLast(appended.count)) }
        let inserted = "/.well-known/oauth-authorization-server"
        guard let host = address.firstRange(of: "://")?.upperBound, let path = address[host...].firstIndex(of: "/"),
            address[path...].hasPrefix(inserted)
        else { return nil }
        let rest = address[path...].dropFirst(inserted.count)
        guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
        return String(address[..<path] + rest)
    }
}

/// A realm of an AM as an issuer or an address names it, in a form that makes equal realms equal.
///
/// Names are compared as they are written in the address, without decoding.
private struct AccessManagerRealm: Sendable, Hashable {
    /// The scheme, the host, and the port when it isn't the scheme's default.
    private let origin: String
    /// The deployment path, in its segments.
    private let deployment: [String]
    private let names: [String]

    /// Reads an issuer; nil when it doesn't have the form of an AM.
    init?(_ issuer: String) {
        let defaults = [("https://", ":443"), ("http://", ":80")]
        guard let (scheme, port) = defaults.first(where: { issuer.hasPrefix($0.0) }),
            !issuer.contains(where: { "?#".contains($0) })
        else { return nil }
        let authority = issuer.dropFirst(scheme.count).prefix { $0 != "/" }
        let segments = issuer.dropFirst(scheme.count + authority.count).split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map(String.init)
        guard !authority.isEmpty, let root = segments.firstIndex(of: "oauth2"),
            let names = Self.names(segments[(root + 1)...])
        else { return nil }
        origin = scheme + (authority.hasSuffix(port) ? authority.dropLast(port.count) : authority)
        deployment = Array(segments[..<root])
        self.names = names
    }

    /// Reads an address of the top-level realm with another realm in its query.
    init?(_ address: String, query: Substring) {
        guard let root = AccessManagerRealm(address), root.names.isEmpty else { return nil }
        let fields = query.split(separator: "&", omittingEmptySubsequences: false)
        guard fields.count == 1, let realm = FormCoding.decode(query)["realm"], realm.hasPrefix("/") else { return nil }
        origin = root.origin
        deployment = root.deployment
        names = realm.split(separator: "/").map { String($0).percentEncoded() }
    }

    private static func names(_ segments: ArraySlice<String>) -> [String]? {
        guard !segments.contains("") else { return nil }
        guard segments.first == "realms" else { return Array(segments) }
        let steps = Array(segments)
        guard steps.count.isMultiple(of: 2), stride(from: 0, to: steps.count, by: 2).allSatisfy({ steps[$0] == "realms" })
        else { return nil }
        let names = stride(from: 1, to: steps.count, by: 2).map { steps[$0] }
        return names.first == "root" ? Array(names.dropFirst()) : names
    }
}
