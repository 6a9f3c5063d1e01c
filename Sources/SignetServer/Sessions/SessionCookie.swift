import HTTPTypes
import Hummingbird
import SignetCore

/// The cookie that carries a session token: how it is read, set and taken away.
struct SessionCookie: Sendable {
    let name: String
    private let attributes: String
    private let security: String

    init(_ moment: RequestTime) {
        let configuration = moment.configuration
        security = moment.baseURL.lowercased().hasPrefix("https:") ? "; Secure" : ""
        name = configuration.cookieName
        attributes =
            "; Path=/" + (configuration.cookieDomain.map { "; Domain=\($0)" } ?? "")
            + (configuration.cookieIsHTTPOnly ? "; HttpOnly" : "") + security
    }

    func set(_ token: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(token)\(attributes)")
    }

    /// As ``set(_:)``, for a browser that this server shows pages to: other sites' forms do not carry it.
    func setForPages(_ token: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(token)\(attributes); SameSite=Lax")
    }

    /// A cookie that only this server's pages below `path` see.
    func own(_ name: String, _ value: String, path: String, sameSite: String = "Lax") -> HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=\(value); Path=\(path); HttpOnly; SameSite=\(sameSite)\(security)")
    }

    /// Another cookie, `name=value`, that is no secret.
    func plain(_ cookie: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(cookie); Path=/\(security)")
    }

    var expired: HTTPField {
        HTTPField(name: .setCookie, value: "\(name)=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT\(attributes)")
    }
}

extension RequestReader {
    /// The session tokens that the request shows: in the header that is named like the cookie, then in cookies.
    func sessionTokens(_ cookieName: String) -> [String] {
        let own = header(cookieName.lowercased())
        return ([own].compactMap { $0 } + cookies(cookieName)).filter { !$0.isEmpty }
    }

    /// The values of the cookies of a name, in the order they came.
    func cookies(_ cookieName: String) -> [String] {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimming(" \t") == cookieName[...] else { return nil }
            return String(parts[1].trimming(" \t\""))
        }
    }
}
