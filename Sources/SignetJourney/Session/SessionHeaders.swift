import SignetCore
import SignetNetwork

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a request says whose session it belongs to, for journeys and for tokens alike: in a header that is called as the cookie
/// is, and as a cookie beside those of the jar.
struct SessionHeaders {
    let cookieName: String
    let keepsCookies: Bool
    let dialect: ServerProfile.Dialect

    init(_ profile: ServerProfile) {
        (cookieName, keepsCookies, dialect) = (profile.cookieName, profile.keepsCookies, profile.dialect)
    }

    init(_ endpoints: OAuthEndpoints) {
        (cookieName, keepsCookies, dialect) = (endpoints.cookieName, endpoints.keepsCookies, endpoints.dialect)
    }

    /// The header fields.
    /// - Parameters:
    ///   - session: the session; nil for a request without one.
    ///   - cookies: what is kept; nil where no cookies are.
    func headers(_ session: Secret?, for url: String, _ cookies: CookieJar?, now: Date) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        if let session { headers.append(cookieName, session.text) }
        var pairs: [String] = []
        // The session's cookie is sent whether or not the jar has it: OpenAM reads nothing else.
        if let session, dialect == .openAM || keepsCookies && cookies != nil { pairs.append("\(cookieName)=\(session.text)") }
        if keepsCookies, let cookies {
            let kept = cookies.cookies(for: url, now: now).filter { session == nil || $0.name != cookieName }
            pairs += kept.map { "\($0.name)=\($0.value.text)" }
        }
        if !pairs.isEmpty { headers.append("Cookie", pairs.joined(separator: "; ")) }
        return headers
    }
}
