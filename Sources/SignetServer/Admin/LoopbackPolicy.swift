import HTTPTypes
import Hummingbird
import SignetCore

/// Who may see what only this machine may see: the console and the administration.
///
/// Where a request comes from is ``AppRequestContext/isLocal(_:)``'s to say. That is not enough: a page in a browser here can have a name of its
/// owner's point at this machine, which shows in `Host`.
struct LoopbackPolicy: Sendable {
    private let context: AppRequestContext
    private let ownHost: String?

    init(_ server: ServerContext, _ context: AppRequestContext) {
        self.context = context
        ownHost = Self.host(of: server.baseURL.split(separator: "/", maxSplits: 2).dropFirst().first ?? "")
    }

    /// Whether a browser on this machine asks, under a name that is this machine's.
    func admits(_ reader: RequestReader) -> Bool {
        guard context.isLocal(reader.request.headers) else { return false }
        guard let authority = reader.request.head.authority, !authority.isEmpty else { return context.isInProcess }
        guard let host = Self.host(of: authority[...]), EndpointPolicy.isLoopback(host) || host == ownHost else { return false }
        // A browser that is told to keep the referrer to itself says `null`.
        guard let origin = reader.header("origin"), origin != "null" else { return true }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }

    /// Whether a program on this machine asks, and no page in a browser.
    func admitsProgram(_ reader: RequestReader) -> Bool {
        admits(reader) && reader.header("origin") == nil && ["none", nil].contains(reader.header("sec-fetch-site"))
    }

    /// The name in `Host`, without the port; nil when that is none.
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
