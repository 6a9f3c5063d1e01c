import HTTPTypes
import Hummingbird
import SignetCore

extension HTTPFields {
    /// What an answer says to a browser unless it says something else itself: nobody keeps it, guesses what it is, frames it, or is told
    /// where the browser was.
    /// - Parameter isStrictlySecure: whether the browser is never to come back over plain http.
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
    /// Whether browsers are told to use https only (RFC 6797). Never for this machine, where other programs listen at other ports in plain
    /// http, and never with an authority of our own: a browser would not let anybody past one that is not trusted yet.
    var isStrictlySecure: Bool {
        if case .ownAuthority = configuration.tls { return false }
        let address = configuration.publicURL ?? (configuration.tls == nil ? "" : "https://\(configuration.host)/")
        guard address.lowercased().hasPrefix("https://"), let endpoint = try? Endpoint(address) else { return false }
        return !EndpointPolicy.isLoopback(endpoint.host)
    }
}

/// A page of another origin asks, and may read the answer (the Fetch standard's CORS protocol): for apps with the JavaScript SDK, which
/// asks with cookies.
struct CrossOrigin: Sendable {
    let origin: String
    /// The answer to a browser that asks beforehand whether it may ask; nil for every other request.
    let preflight: Response?

    /// What a page may send.
    private static let headers = [
        "Accept-API-Version", "Authorization", "Content-Type", "If-Match", "If-None-Match", "X-Requested-With",
        "X-Requested-Platform",
    ]
    /// What a page may read besides the body.
    private static let exposed = ["Content-API-Version", "Link", "Retry-After", "WWW-Authenticate"]
    /// How long a browser need not ask again, in seconds.
    private static let longest = 600

    /// Nil when the request is none of a page of another origin, or of one that is not named; and for pages and the console, which are for
    /// nobody else's scripts.
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
