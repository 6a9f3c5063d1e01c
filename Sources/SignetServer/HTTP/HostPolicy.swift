import HTTPTypes
import Hummingbird
import SignetCore

/// The rule for the host names that requests may be addressed to.
///
/// A page in a browser on this machine can use a domain name that its owner lets resolve to a loopback address (DNS rebinding).
/// For the browser, the server is then part of the page's own site. Such a request names the page's domain in `Host`, so a server
/// on a loopback address answers only for names that it knows.
struct HostPolicy: Sendable {
    /// The hosts that are allowed in addition to loopback names, in lowercase; nil when every host is allowed.
    private let hosts: Set<String>?

    /// Creates the policy of a server.
    ///
    /// If other machines can reach the server, it has a rule only with ``ServerConfiguration/allowedHosts``.
    init(_ configuration: ServerConfiguration) {
        guard !configuration.isExposed || !configuration.allowedHosts.isEmpty else {
            hosts = nil
            return
        }
        let publicHost = configuration.publicURL.flatMap { try? Endpoint(unchecked: $0) }?.host
        let own = configuration.listensEverywhere ? nil : configuration.host
        hosts = Set((configuration.allowedHosts + [publicHost, own].compactMap(\.self)).map { $0.lowercased() })
    }

    /// Returns true for the value of a `Host` header that the server answers for, with any port.
    func admits(_ authority: String) -> Bool {
        guard let hosts else { return true }
        guard let host = Self.host(of: authority[...]) else { return false }
        return Self.isLoopbackName(host) || hosts.contains(host)
    }

    /// Returns true for the names of a loopback address: `localhost`, the names below it (RFC 6761 section 6.3), 127.0.0.0/8 and
    /// `::1`.
    static func isLoopbackName(_ host: String) -> Bool { EndpointPolicy.isLoopback(host) || host.hasSuffix(".localhost") }

    /// Returns the host in a `Host` header without the port, in lowercase; nil when it is malformed.
    static func host(of authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]"), isPort(authority[authority.index(after: end)...]) else { return nil }
            return authority[authority.index(after: authority.startIndex)..<end].lowercased()
        }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, !host.isEmpty, isPort(authority[host.endIndex...]) else { return nil }
        return host.lowercased()
    }

    /// Returns true for a colon and digits, and for an empty text.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || (text.hasPrefix(":") && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) })
    }
}

/// Rejects requests for hosts that ``HostPolicy`` does not admit with 421 (RFC 9110 section 15.5.20).
///
/// `/health` answers for every host, because load balancers and supervisors ask for it by the address of the machine, and it
/// tells nothing that depends on a user.
struct HostMiddleware: RouterMiddleware {
    let policy: HostPolicy

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        // A request without a host is HTTP/1.0 (``HostHeader`` rejects others), which browsers do not send.
        guard context.family == .health || request.head.authority.map(policy.admits) ?? true else {
            throw APIError.misdirected
        }
        return try await next(request, context)
    }
}

extension APIError {
    /// The request names a host that this server does not answer for.
    static let misdirected = APIError(
        .misdirectedRequest,
        "This server does not answer for the host in the request. To allow it, add it to `server.allowedHosts` in the configuration."
    )
}
