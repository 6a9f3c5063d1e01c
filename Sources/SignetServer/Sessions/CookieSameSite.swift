/// The requests of other sites with which a browser sends a cookie (the `SameSite` attribute, RFC 6265bis section 4.1.2.7).
public enum CookieSameSite: String, Sendable, CaseIterable {
    /// None.
    case strict = "Strict"
    /// Links and other requests that navigate the browser to the server.
    case lax = "Lax"
    /// All. Browsers require that the cookie is `Secure`, too.
    case none = "None"
}
