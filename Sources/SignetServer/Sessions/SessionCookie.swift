import HTTPTypes
import Hummingbird
import SignetCore

/// Reads, sets and expires the cookie with the session token.
struct SessionCookie: Sendable {
    private let time: RequestTime
    /// True when clients use https.
    let isSecure: Bool

    init(_ time: RequestTime) {
        self.time = time
        isSecure = time.baseURL.prefix("https:".count).lowercased() == "https:"
    }

    var name: String { time.configuration.cookieName }

    /// True when the cookie is `Secure`.
    ///
    /// Browsers refuse a cookie for other sites that is not Secure. On loopback they accept Secure over http.
    var hasSecure: Bool { isSecure || time.configuration.cookieSameSite == .none }

    private var attributes: String {
        path + (time.configuration.cookieIsHTTPOnly ? "; HttpOnly" : "") + sameSite + (hasSecure ? "; Secure" : "")
    }

    /// The attributes of a cookie without a secret.
    private var plainAttributes: String { path + sameSite + (hasSecure ? "; Secure" : "") }

    private var path: String { "; Path=/" + (time.configuration.cookieDomain.map { "; Domain=\($0)" } ?? "") }
    private var sameSite: String { "; SameSite=\(time.configuration.cookieSameSite.rawValue)" }

    private var security: String { isSecure ? "; Secure" : "" }

    /// Returns the cookie with a session token.
    ///
    /// Forms of other sites send it only with ``ServerConfiguration/cookieSameSite`` `none`.
    func set(_ token: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(token)\(attributes)")
    }

    /// Returns a cookie for this server's pages below `path`, which the browser removes after `maxAge` seconds or at its end.
    func own(_ name: String, _ value: String, path: String, sameSite: String = "Lax", maxAge: Int? = nil) -> HTTPField {
        let age = maxAge.map { "; Max-Age=\($0)" } ?? ""
        return HTTPField(
            name: .setCookie, value: "\(name)=\(value)\(age); Path=\(path); HttpOnly; SameSite=\(sameSite)\(security)")
    }

    /// Returns another, non-secret cookie, given as `name=value`, for the domain of the session cookie.
    func plain(_ cookie: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(cookie)\(plainAttributes)")
    }

    /// Returns the value of `Set-Cookie` for a persistent cookie of a journey.
    /// - Parameters:
    ///   - cookie: The cookie.
    ///   - value: Its value.
    ///   - maxAge: The time for which the browser keeps it, in seconds.
    /// - Returns: The value of the header.
    func persistent(_ cookie: PersistentCookie, _ value: String, maxAge: Int) -> String {
        let flag = cookie.isSecure && !hasSecure ? "; Secure" : ""
        let visibility = cookie.isHTTPOnly ? "; HttpOnly" : ""
        return "\(cookie.name)=\(value); Max-Age=\(maxAge)\(plainAttributes)\(visibility)\(flag)"
    }

    var expired: HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT\(attributes)")
    }
}

extension ServerContext {
    /// Returns the cookies that a response of a journey sets: that of the load balancer, and that of the session if there is one.
    func cookies(session token: String?) -> HTTPFields {
        let cookie = SessionCookie(time)
        var headers: HTTPFields = [:]
        if let token, !token.isEmpty { headers.append(cookie.set(token)) }
        if let routing = configuration.loadBalancerCookie { headers.append(cookie.plain(routing)) }
        return headers
    }
}

extension Request {
    /// Returns the session tokens in a request: first the one in the header with the cookie's name, then those in cookies.
    func sessionTokens(_ cookieName: String) -> [String] {
        let own = header(cookieName.lowercased())
        return ([own].compactMap { $0 } + cookies(cookieName)).filter { !$0.isEmpty }
    }

    /// Returns the values of the cookies with a name, in order.
    func cookies(_ cookieName: String) -> [String] { cookies { $0 == cookieName[...] }.map(\.value) }

    /// Returns the cookies whose name `isWanted` accepts, in order.
    func cookies(_ isWanted: (Substring) -> Bool) -> [(name: String, value: String)] {
        headers[values: .cookie].flatMap { $0.fields(separatedBy: UInt8(ascii: ";")) }.compactMap { pair in
            guard let (before, after) = pair.halves(at: UInt8(ascii: "=")) else { return nil }
            let name = before.trimming(" \t")
            return isWanted(name) ? (String(name), String(after.trimming(" \t\""))) : nil
        }
    }
}
