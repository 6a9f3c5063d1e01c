import HTTPTypes
import Hummingbird
import SignetCore

/// Completes each response: the security headers, no body for `HEAD`, and `Connection: close` for a client that asks for it.
struct ResponseHeadMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        var response = try await next(request, context)
        response.headers.setSecurity(isStrictlySecure: server.isStrictlySecure)
        // Tell the client to send no more requests on this connection (RFC 9112 section 9.6).
        if request.headers[.connection] == "close" { response.headers[.connection] = "close" }
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension HTTPField.Name? {
    /// The names that the HTTP types define no constants for.
    static let (frameOptions, referrerPolicy) = (HTTPField.Name("X-Frame-Options"), HTTPField.Name("Referrer-Policy"))
}

extension HTTPFields {
    /// Sets the security headers that the response doesn't have yet.
    ///
    /// They forbid caching, content sniffing, framing and sending the referrer.
    /// - Parameter isStrictlySecure: True to forbid plain http for later requests (HSTS).
    mutating func setSecurity(isStrictlySecure: Bool) {
        if self[.cacheControl] == nil { self[.cacheControl] = "no-store" }
        setMissing(.xContentTypeOptions, "nosniff")
        setMissing(.frameOptions, "DENY")
        setMissing(.referrerPolicy, "no-referrer")
        setMissing(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
        setMissing(.crossOriginResourcePolicy, "same-origin")
        if isStrictlySecure { setMissing(.strictTransportSecurity, "max-age=31536000") }
    }

    private mutating func setMissing(_ name: HTTPField.Name?, _ value: String) {
        guard let name, self[name] == nil else { return }
        self[name] = value
    }
}

extension ServerContext {
    /// True when responses tell browsers to use https only (RFC 6797).
    ///
    /// It is false for addresses of this machine, because other programs on it serve plain http at other ports. It is also false
    /// with the server's own certificate authority: with HSTS, a browser that doesn't trust the authority yet offers the user no
    /// way to continue.
    var isStrictlySecure: Bool {
        if case .ownAuthority = configuration.tls { return false }
        let address = configuration.publicURL ?? (configuration.tls == nil ? "" : "https://\(configuration.host)/")
        guard address.lowercased().hasPrefix("https://"), let endpoint = try? Endpoint(address) else { return false }
        return !EndpointPolicy.isLoopback(endpoint.host)
    }
}
