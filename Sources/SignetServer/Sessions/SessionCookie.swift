import HTTPTypes
import Hummingbird
import SignetCore

/// Reads, sets and expires the cookie with the session token.
struct SessionCookie: Sendable {
    let name: String
    private let attributes: String
    private let isSecure: Bool

    init(_ time: RequestTime) {
        let configuration = time.configuration
        isSecure = time.baseURL.lowercased().hasPrefix("https:")
        name = configuration.cookieName
        attributes =
            "; Path=/" + (configuration.cookieDomain.map { "; Domain=\($0)" } ?? "")
            + (configuration.cookieIsHTTPOnly ? "; HttpOnly" : "") + "; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    private var security: String { isSecure ? "; Secure" : "" }

    /// Returns the cookie with a session token.
    ///
    /// Forms of other sites don't send it (`SameSite=Lax`).
    func set(_ token: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(token)\(attributes)")
    }

    /// The name of the cookie that binds login flows to a browser.
    ///
    /// Over https, its prefix makes browsers accept it only from this host itself, not from another host of the domain and not
    /// over plain http (RFC 6265bis section 4.1.3.2).
    var browserName: String { isSecure ? "__Host-\(LoginController.cookieName)" : LoginController.cookieName }

    /// Returns the cookie that binds login flows to a browser.
    func browser(_ value: String, contextPath: String) -> HTTPField {
        own(browserName, value, path: isSecure ? "/" : "\(contextPath)/XUI")
    }

    /// Returns a cookie for this server's pages below `path`.
    func own(_ name: String, _ value: String, path: String, sameSite: String = "Lax") -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(value); Path=\(path); HttpOnly; SameSite=\(sameSite)\(security)")
    }

    /// Returns another, non-secret cookie, given as `name=value`.
    func plain(_ cookie: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(cookie); Path=/; SameSite=Lax\(security)")
    }

    var expired: HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT\(attributes)")
    }
}

extension Request {
    /// Returns the session tokens in a request: first the one in the header with the cookie's name, then those in cookies.
    func sessionTokens(_ cookieName: String) -> [String] {
        let own = header(cookieName.lowercased())
        return ([own].compactMap { $0 } + cookies(cookieName)).filter { !$0.isEmpty }
    }

    /// Returns the values of the cookies with a name, in order.
    func cookies(_ cookieName: String) -> [String] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimming(" \t") == cookieName[...] else { return nil }
            return String(parts[1].trimming(" \t\""))
        }
    }
}
