import HTTPTypes
import Hummingbird
import SignetCore

/// The rule for requests to the console and the administration API, which only clients on this machine may use.
///
/// ``AppRequestContext/isLocal(_:)`` checks the origin of the connection. That isn't sufficient, because a page in a local
/// browser can use a domain name that resolves to this machine (DNS rebinding). Therefore the rule checks `Host` too.
struct LoopbackPolicy: Sendable {
    private let context: AppRequestContext
    private let ownHost: String?

    init(_ server: ServerContext, _ context: AppRequestContext) {
        self.context = context
        ownHost = Self.host(of: server.baseURL.split(separator: "/", maxSplits: 2).dropFirst().first ?? "")
    }

    /// Returns true for a request from this machine with one of this machine's names.
    func admits(_ reader: RequestReader) -> Bool {
        guard context.isLocal(reader.request.headers) else { return false }
        guard let authority = reader.request.head.authority, !authority.isEmpty else { return context.isInProcess }
        guard let host = Self.host(of: authority[...]), EndpointPolicy.isLoopback(host) || host == ownHost else { return false }
        // A browser that withholds the referrer sends `null`.
        guard let origin = reader.header("origin"), origin != "null" else { return true }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }

    /// Returns true for a request from a program on this machine that isn't a page in a browser.
    func admitsProgram(_ reader: RequestReader) -> Bool {
        admits(reader) && reader.header("origin") == nil && ["none", nil].contains(reader.header("sec-fetch-site"))
    }

    /// Returns the host in a `Host` header without the port; nil when it is malformed.
    static func host(of authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            return authority[authority.index(after: authority.startIndex)..<end].lowercased()
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts[0].isEmpty else { return nil }
        return parts[0].lowercased()
    }
}
