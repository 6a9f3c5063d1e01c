public import SignetCore

/// The origin for which a program uses passkeys (RFC 6454, WebAuthn Level 2 section 5.8.1).
///
/// A browser takes it from the page. A program without pages uses the origin of the server at which its user logs in. Origins at
/// a loopback address are those of `localhost`, because a relying party is a domain and not an IP address.
public struct WebAuthnOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The origin as client data contain it, for example `https://am.example.com:8443`.
    public let text: String
    /// The effective domain: the host in lower case.
    public let host: String
    /// True for `https`, and for plain `http` at `localhost`, which are secure contexts.
    private let isSecure: Bool

    /// Creates the origin of a server.
    /// - Parameter server: The address of the server.
    public init(_ server: Endpoint) {
        let isLoopback = EndpointPolicy.isLoopback(server.host)
        host = isLoopback && Self.isAddress(server.host) ? "localhost" : server.host
        isSecure = server.scheme == "https" || isLoopback
        let isDefaultPort = server.port == (server.scheme == "https" ? 443 : 80)
        let name = host.contains(":") ? "[\(host)]" : host
        text = "\(server.scheme)://\(name)\(isDefaultPort ? "" : ":\(server.port)")"
    }

    /// The value of ``text``.
    public var description: String { text }

    /// Returns the ID of the relying party for a request of this origin (WebAuthn Level 2 section 5.1.3, step 8).
    ///
    /// The ID must be the effective domain or a parent domain of it. The standard also excludes the public suffixes, such as
    /// `co.uk`, by a list that changes monthly. Signet has no such list: it only requires at least two labels, so the server must
    /// be trusted not to name a public suffix of its own domain.
    /// - Parameter requested: The ID in the request; nil for the effective domain.
    /// - Returns: The ID in lower case.
    /// - Throws: ``WebAuthnError/Name/security`` for plain `http`, an IP address, and an ID of another domain.
    public func relyingPartyID(for requested: String?) throws(WebAuthnError) -> String {
        guard isSecure else { throw WebAuthnError(.security, "passkeys need https") }
        guard !Self.isAddress(host) else { throw WebAuthnError(.security, "an IP address is not a relying party") }
        guard let requested else { return host }
        let id = requested.lowercased()
        if id == host { return id }
        let labels = id.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, !labels.contains(where: \.isEmpty), host.hasSuffix(".\(id)") else {
            throw WebAuthnError(.security, "the relying party is not the server's domain or a parent of it")
        }
        return id
    }

    /// Returns true for an IPv6 address, and for a host whose last label is a number, which the URL standard takes for an IPv4
    /// address.
    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let labels = host.split(separator: ".")
        return labels.last.map { label in label.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } } ?? true
    }
}
