public import Foundation
package import SignetCore

/// A cookie in the form in which it is stored.
public struct CustomHTTPCookie: Codable, Sendable {
    /// The version of the cookie's format.
    public var version: Int
    /// The name.
    public var name: String?
    /// The value, **in plain text**.
    public var value: String?
    /// The time at which the cookie expires; nil for a cookie of the session.
    public var expiresDate: Date?
    /// True when the cookie has no expiration time.
    public var isSessionOnly: Bool
    /// The domain, with a leading dot when the cookie is also for the hosts below it.
    public var domain: String?
    /// The path.
    public var path: String?
    /// True when the cookie is sent over `https` only.
    public var isSecure: Bool
    /// True when scripts can't read the cookie.
    public var isHTTPOnly: Bool
    /// The comment.
    public var comment: String?
    /// The address of the comment.
    public var commentURL: URL?
    /// The ports to which the cookie is sent.
    public var portList: [Int]?
    /// The rule for requests from other sites.
    public var sameSitePolicy: String?
    /// The time at which the cookie arrived.
    var created: Date?

    /// Creates a cookie from one of the engine.
    package init(_ cookie: Cookie) {
        version = 0
        name = cookie.name
        value = cookie.value.text
        expiresDate = cookie.expiry
        isSessionOnly = cookie.expiry == nil
        domain = cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)"
        path = cookie.path
        isSecure = cookie.isSecure
        isHTTPOnly = cookie.isHTTPOnly
        created = cookie.created
    }

    /// The cookie in the form of the engine; nil when it lacks a name, a value or a domain.
    package var cookie: Cookie? {
        guard let name, let value, let domain else { return nil }
        let isShared = domain.hasPrefix(".")
        return Cookie(
            name: name, value: Secret(text: value), domain: isShared ? String(domain.dropFirst()) : domain,
            isHostOnly: !isShared, path: path ?? "/", isSecure: isSecure, isHTTPOnly: isHTTPOnly, expiry: expiresDate,
            created: created ?? .distantPast)
    }
}
