import HTTPTypes
import Hummingbird
import SignetCore

extension HTTPFields {
    /// Sets the security headers that the response doesn't have yet. They forbid caching, content sniffing, framing and sending
    /// the referrer.
    /// - Parameter isStrictlySecure: True to forbid plain http for later requests (HSTS).
    mutating func setSecurity(isStrictlySecure: Bool) {
        if self[.cacheControl] == nil { self[.cacheControl] = "no-store" }
        setMissing("X-Content-Type-Options", "nosniff")
        setMissing("X-Frame-Options", "DENY")
        setMissing("Referrer-Policy", "no-referrer")
        setMissing("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        setMissing("Cross-Origin-Resource-Policy", "same-origin")
        if isStrictlySecure { setMissing("Strict-Transport-Security", "max-age=31536000") }
    }

    private mutating func setMissing(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name), self[name] == nil else { return }
        self[name] = value
    }
}

extension ServerContext {
    /// True when responses tell browsers to use https only (RFC 6797). It is false for addresses of this machine, because other
    /// programs on it serve plain http at other ports. It is also false with the server's own certificate authority: with HSTS, a
    /// browser that doesn't trust the authority yet offers the user no way to continue.
    var isStrictlySecure: Bool {
        if case .ownAuthority = configuration.tls { return false }
        let address = configuration.publicURL ?? (configuration.tls == nil ? "" : "https://\(configuration.host)/")
        guard address.lowercased().hasPrefix("https://"), let endpoint = try? Endpoint(address) else { return false }
        return !EndpointPolicy.isLoopback(endpoint.host)
    }
}

/// A request from a page of another origin that may read the response (the Fetch standard's CORS protocol). Apps with the
/// JavaScript SDK send such requests with cookies.
struct CrossOrigin: Sendable {
    let origin: String
    /// The response to a preflight request; nil for every other request.
    let preflight: Response?

    /// The request headers that a page may send.
    private static let headers = [
        "Accept-API-Version", "Authorization", "Content-Type", "If-Match", "If-None-Match", "X-Requested-With",
        "X-Requested-Platform",
    ]
    /// The response headers that a page may read besides the body.
    private static let exposed = ["Content-API-Version", "Link", "Retry-After", "WWW-Authenticate"]
    /// The time in seconds for which a browser may cache a preflight response.
    private static let longest = 600

    /// Nil when the request doesn't come from an allowed origin, and for routes outside `/json` and `/oauth2`, which scripts of
    /// other origins may not read.
    init?(_ request: Request, _ route: RouteName, _ configuration: ServerConfiguration) {
        guard route.family == .json || route.family == .oauth2, let name = HTTPField.Name("Origin"),
            let origin = request.headers[name], configuration.corsOrigins.contains(origin)
        else { return nil }
        self.origin = origin
        let isPreflight =
            request.method == .options && request.headers.contains { $0.name.canonicalName == "access-control-request-method" }
        guard isPreflight else {
            preflight = nil
            return
        }
        var fields: HTTPFields = [.contentLength: "0"]
        fields.set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
        fields.set("Access-Control-Allow-Headers", (Self.headers + [configuration.cookieName]).joined(separator: ", "))
        fields.set("Access-Control-Max-Age", String(Self.longest))
        preflight = Response(status: .ok, headers: fields)
    }

    func allow(_ fields: inout HTTPFields) {
        fields.set("Access-Control-Allow-Origin", origin)
        fields.set("Access-Control-Allow-Credentials", "true")
        fields.set("Access-Control-Expose-Headers", Self.exposed.joined(separator: ", "))
        fields.set("Cross-Origin-Resource-Policy", "cross-origin")
        fields.append(HTTPField(name: .vary, value: "Origin"))
    }
}
