import SignetCore

/// Redirect URIs that resemble a registered one, as attackers use them (RFC 9700 section 4.1).
///
/// The domain `invalid` exists nowhere (RFC 2606 section 2), so that no answer reaches another machine.
struct RedirectVariants: Sendable {
    /// One redirect URI that isn't registered.
    struct Variant: Sendable, Hashable {
        let id: String
        let description: String
        let address: String

        /// Returns true when a redirect leads to this address and not to the registered one.
        func isReached(by location: String) -> Bool {
            guard location.hasPrefix(address) else { return false }
            // `…/callback` is also the beginning of `…/callback2`.
            return location.dropFirst(address.count).first.map { "?&#".contains($0) } ?? true
        }
    }

    let all: [Variant]

    /// Creates the variants of a registered redirect URI.
    init(_ registered: String) {
        let start = registered.firstRange(of: "://")?.upperBound ?? registered.startIndex
        let scheme = registered[..<start]
        let authority = registered[start...].prefix { $0 != "/" && $0 != "?" }
        let rest = registered[start...].dropFirst(authority.count)
        let path = rest.prefix { $0 != "?" }
        let bare = "\(scheme)\(authority)"
        var all = [
            Variant(id: "other-host", description: "another host", address: "https://attacker.invalid/callback"),
            Variant(
                id: "host-suffix", description: "the host as a subdomain of another", address: "\(bare).attacker.invalid\(rest)"),
            Variant(id: "user", description: "the host as a user name", address: "\(bare)@attacker.invalid\(rest)"),
            Variant(id: "path-suffix", description: "a path below the registered one", address: "\(bare)\(path)/signet-check"),
            Variant(
                id: "path-traversal", description: "a path with dot segments", address: "\(bare)\(path)/../signet-check"),
            Variant(
                id: "encoded-traversal", description: "a path with encoded dot segments",
                address: "\(bare)\(path)/%2e%2e/signet-check"),
            Variant(
                id: "query", description: "an added query", address: "\(registered)\(rest.contains("?") ? "&" : "?")signet=check"),
            Variant(id: "fragment", description: "an added fragment", address: "\(registered)#signet-check"),
        ]
        if path.contains(where: \.isLowercase) {
            all.append(Variant(id: "case", description: "the path in upper case", address: "\(bare)\(path.uppercased())"))
        }
        // The scheme and the port of an app's own scheme and of the loopback interface are not compared (RFC 8252 section 7.3).
        if scheme == "https://" {
            all.append(Variant(id: "plain-http", description: "plain http", address: "http://\(authority)\(rest)"))
            if !authority.contains(":") {
                all.append(Variant(id: "port", description: "another port", address: "\(bare):8443\(rest)"))
            }
        }
        self.all = all
    }
}
