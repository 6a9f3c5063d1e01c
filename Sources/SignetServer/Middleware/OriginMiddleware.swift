import HTTPTypes
import Hummingbird
import SignetCore

/// The rule for requests that pages of other origins send, with the cookies of their users (cross-site request forgery).
///
/// Browsers name the origin of the page in `Origin` (RFC 6454 section 7) and its relation to the server in `Sec-Fetch-Site` (W3C
/// Fetch Metadata). Other clients, such as `curl` and the mobile SDKs, send neither.
struct OriginPolicy: Sendable {
    private let origins: Set<String>
    private let base: Endpoint?

    /// Creates the policy of a server that clients reach at `baseURL`.
    init(_ configuration: ServerConfiguration, baseURL: String) {
        origins = Set(configuration.corsOrigins)
        base = try? Endpoint(unchecked: baseURL)
    }

    /// Returns true when a request may change state: it comes from a page of this server or of a configured origin, or not from a
    /// page.
    ///
    /// `Sec-Fetch-Site: same-origin` suffices: the browser sets it, no page can, and a page of this server that the browser got
    /// through a proxy has another `Origin` than the request's `Host` when the proxy replaces the host.
    func admits(_ request: Request) -> Bool {
        if request.header("sec-fetch-site") == "same-origin" { return true }
        let named = request.headers[values: .origin]
        guard named.isEmpty else { return named.allSatisfy { isAllowed($0, host: request.head.authority) } }
        return ["same-origin", "none", nil].contains(request.header("sec-fetch-site"))
    }

    /// Returns true for the origin of the server's address, of the host in the request, or of the configuration.
    ///
    /// The opaque origin `null` is foreign.
    private func isAllowed(_ origin: String, host: String?) -> Bool {
        if origins.contains(origin) { return true }
        guard let page = try? Endpoint(unchecked: origin) else { return false }
        if let base, page.hasSameOrigin(as: base) { return true }
        guard let host, let requested = try? Endpoint(unchecked: "\(page.scheme)://\(host)"), page.hasSameOrigin(as: requested)
        else { return false }
        // A page that came over plain http could be an attacker's on the network, unless it came from this machine.
        return page.scheme == "https" || base?.scheme != "https" || HostPolicy.isLoopbackName(page.host)
    }
}

/// Rejects requests of other origins' pages that could change state (``OriginPolicy``) with 403.
///
/// It applies to the addresses that use cookies. A form of any client's page may request `authorize` (OpenID Connect Core section
/// 3.1.2.1), where the user's decision is bound to the session, and `endSession` (RP-Initiated Logout section 2), which does the
/// same as by GET.
struct OriginMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        if [.json, .oauth2, .pages].contains(context.family), ![.authorize, .endSession].contains(context.route),
            context.method.changesState, request.namesOrigin,
            !OriginPolicy(server.configuration, baseURL: server.baseURL).admits(request)
        {
            throw APIError.foreignOrigin
        }
        return try await next(request, context)
    }
}

extension Request {
    /// True when the request says where it comes from, as browsers do.
    ///
    /// The policy admits each one that doesn't.
    fileprivate var namesOrigin: Bool { headers[.origin] != nil || header("sec-fetch-site") != nil }
}

extension HTTPRequest.Method {
    /// False for the safe methods (RFC 9110 section 9.2.1).
    var changesState: Bool { ![.get, .head, .options, .trace].contains(self) }
}

extension APIError {
    /// The request comes from a page of an origin that isn't allowed.
    static let foreignOrigin = APIError(
        .forbidden,
        "The request was sent by a page of another origin. To allow it, add the origin to `server.corsOrigins` in the configuration."
    )
}
