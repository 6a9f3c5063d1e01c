package import Foundation
package import SignetCore
package import SignetNetwork

/// The header fields that send the session with a request, for journeys and tokens.
///
/// The session is sent in a header with the name of its cookie, and as a cookie together with the stored cookies.
package struct SessionHeaders {
    let cookieName: String
    let keepsCookies: Bool
    let dialect: ServerProfile.Dialect

    /// Creates the header fields for requests to the profile's server.
    package init(_ profile: ServerProfile, _ dialect: ServerProfile.Dialect) {
        (cookieName, keepsCookies, self.dialect) = (profile.cookieName, profile.keepsCookies, dialect)
    }

    init(_ endpoints: OAuthEndpoints, _ dialect: ServerProfile.Dialect) {
        (cookieName, keepsCookies, self.dialect) = (endpoints.cookieName, endpoints.keepsCookies, dialect)
    }

    /// Returns the header fields.
    /// - Parameters:
    ///   - session: The session; nil for a request without one.
    ///   - url: The address of the request.
    ///   - cookies: The stored cookies; nil when no cookies are stored.
    ///   - now: The time at which expired cookies are left out.
    /// - Returns: A field with the session, and a `Cookie` field with the session's cookie and the stored cookies, as far as they
    ///   are sent.
    package func headers(_ session: Secret?, for url: String, _ cookies: CookieJar?, now: Date) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        if let session { headers.append(cookieName, session.text) }
        var pairs: [String] = []
        // The session cookie is sent even when the jar doesn't contain it, because OpenAM reads the session only from the cookie.
        if let session, dialect == .openAM || keepsCookies && cookies != nil { pairs.append("\(cookieName)=\(session.text)") }
        if keepsCookies, let cookies {
            let kept = cookies.cookies(for: url, now: now).filter { session == nil || $0.name != cookieName }
            pairs += kept.map { "\($0.name)=\($0.value.text)" }
        }
        if !pairs.isEmpty { headers.append("Cookie", pairs.joined(separator: "; ")) }
        return headers
    }
}
