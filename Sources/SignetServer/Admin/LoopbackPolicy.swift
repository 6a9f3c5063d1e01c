import HTTPTypes
import Hummingbird
import SignetCore

/// The rule for requests to the console and the administration API, which only clients on this machine may use.
///
/// ``ClientConnection/isLocal(_:)`` checks the origin of the connection. That isn't sufficient, because a page in a local
/// browser can use a domain name that resolves to this machine (DNS rebinding). Therefore the rule checks `Host` too.
struct LoopbackPolicy: Sendable {
    private let client: ClientConnection
    private let ownHost: String?

    init(_ server: ServerContext, _ client: ClientConnection) {
        self.client = client
        ownHost = HostPolicy.host(of: server.baseURL.split(separator: "/", maxSplits: 2).dropFirst().first ?? "")
    }

    /// Returns true for a request from this machine with one of this machine's names.
    func admits(_ request: Request) -> Bool {
        guard client.isLocal(request.headers) else { return false }
        guard let authority = request.head.authority, !authority.isEmpty else { return client.isInProcess }
        guard let host = HostPolicy.host(of: authority[...]), HostPolicy.isLoopbackName(host) || host == ownHost else {
            return false
        }
        guard let origin = request.header("origin") else { return true }
        // A browser sends `null` for a page that it gives no origin, such as a document in a sandbox.
        if origin == "null", !request.method.changesState { return true }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }

    /// Returns true for a request from a program on this machine that isn't a page in a browser.
    func admitsProgram(_ request: Request) -> Bool {
        admits(request) && request.header("origin") == nil && ["none", nil].contains(request.header("sec-fetch-site"))
    }
}

/// Rejects clients that aren't on this machine.
///
/// They get the same response as for an unknown address.
struct LoopbackMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        guard LoopbackPolicy(server, context.client).admits(request) else { throw HTTPError(.notFound) }
        return try await next(request, context)
    }
}
