import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The cookie that binds a login flow to a browser.
///
/// Each flow has one, with a part of the flow's id in its name. Logins in two tabs therefore do not replace each other's cookies.
struct LoginCookie: Sendable {
    /// The prefix of the cookies' names.
    static let prefix = "signet-login-"

    /// A cookie of a login flow, as a browser sent it.
    struct Received: Sendable {
        let name: String
        let hash: TokenHash
    }

    /// The id of the flow.
    let flow: String
    let value: String
    /// The expiry of the flow, and of the cookie.
    let expiresAt: Date
}

/// The cookie with which a user's browser is recognized in device profiles.
///
/// It is valid only for the user that has logged in with it: the server's MAC in it names the user. A cookie that an attacker has
/// got from its own login, and planted in the browser of another user, is therefore ignored in that user's device profiles.
enum DeviceCookie {
    static let name = "signet-device"
    /// The time for which browsers keep it, in seconds: a year.
    static let maxAge = 31_536_000
}

extension ServerTransaction {
    /// Returns the identifier of a browser in a device profile.
    /// - Parameters:
    ///   - flow: The login flow of the browser.
    ///   - step: The step that asks for the profile.
    ///   - cookies: The values of the browser's ``DeviceCookie``.
    /// - Returns: The identifier that the cookie has for the user of the journey, or a new one.
    /// - Throws: `StoreError` when the state cannot be read.
    func device(of flow: LoginFlow, _ step: JourneyStep, _ cookies: [String]) throws -> TokenHash {
        let user = try AuthID(step.authId, key: authIDKey).flatMap { try journeys[$0.sessionId] }?.user
        if let user {
            for cookie in cookies {
                let id = String(cookie.prefix { $0 != "." })
                if ConstantTime.areEqual(cookie, deviceCookie(id, user)) { return TokenHash(id) }
            }
        }
        return TokenHash(newDevice(of: flow))
    }

    /// Returns the value of a user's ``DeviceCookie``, if the flow's device profile has a new identifier.
    func newDevice(of flow: LoginFlow, _ user: UserKey) -> String? {
        let id = newDevice(of: flow)
        return flow.device == TokenHash(id) ? deviceCookie(id, user) : nil
    }

    private func newDevice(of flow: LoginFlow) -> String { mac("device \(flow.id)") }

    private func deviceCookie(_ id: String, _ user: UserKey) -> String { "\(id).\(mac("device-user \(id) \(user.rowName)"))" }
}

extension SessionCookie {
    /// Over https, the prefix makes browsers accept a cookie only from this host itself, not from another host of the domain and
    /// not over plain http (RFC 6265bis section 4.1.3.2).
    var hostPrefix: String { isSecure ? "__Host-" : "" }

    private func path(_ contextPath: String) -> String { isSecure ? "/" : "\(contextPath)/XUI" }

    /// The name of the cookie with which a browser is recognized in device profiles.
    var deviceName: String { hostPrefix + DeviceCookie.name }

    /// Returns the name of a login flow's cookie.
    func loginName(of flow: String) -> String { hostPrefix + LoginCookie.prefix + flow.prefix(12) }

    /// Returns true for a name that a login flow's cookie can have.
    func isLoginName(_ name: Substring) -> Bool { name.hasPrefix(hostPrefix + LoginCookie.prefix) }

    /// Returns the cookie of a login flow.
    func login(_ cookie: LoginCookie, at now: Date, contextPath: String) -> HTTPField {
        let seconds = max(1, Int(cookie.expiresAt.timeIntervalSince(now).rounded(.up)))
        return own(loginName(of: cookie.flow), cookie.value, path: path(contextPath), maxAge: seconds)
    }

    /// Returns a field that removes the cookie of a login flow that has ended.
    func loginEnd(_ name: String, contextPath: String) -> HTTPField { own(name, "", path: path(contextPath), maxAge: 0) }

    /// Returns the cookie with which a browser is recognized in device profiles.
    func device(_ value: String, contextPath: String) -> HTTPField {
        own(deviceName, value, path: path(contextPath), maxAge: DeviceCookie.maxAge)
    }
}

extension Request {
    /// The length of the longest value of the login pages' cookies, in bytes.
    private static var maxCookieLength: Int { 128 }

    /// Returns the hashes of the cookies of a login flow.
    ///
    /// Another program at this host could have planted some of them. A flow is valid with any of them, because the server has
    /// chosen their values.
    func loginCookies(of flow: String, _ cookie: SessionCookie) -> [TokenHash] {
        let name = cookie.loginName(of: flow)
        return loginCookies { $0 == name[...] }.prefix(4).map(\.hash)
    }

    /// Returns the values of the cookies of a login flow.
    ///
    /// Only the mark of a finished flow is read from them (``FinishedFlow``): a stored flow has the hash of its cookie.
    func loginCookieValues(of flow: String, _ cookie: SessionCookie) -> [String] {
        Array(cookies(cookie.loginName(of: flow)).filter { $0.utf8.count <= Self.maxCookieLength }.prefix(4))
    }

    /// Returns the cookies of all login flows of the browser, at most 64.
    func loginCookies(_ cookie: SessionCookie) -> [LoginCookie.Received] {
        Array(loginCookies(where: cookie.isLoginName).prefix(64))
    }

    private func loginCookies(where isWanted: (Substring) -> Bool) -> [LoginCookie.Received] {
        cookies(isWanted).filter { !$0.value.isEmpty && $0.value.utf8.count <= Self.maxCookieLength && $0.name.utf8.count <= 64 }
            .map { LoginCookie.Received(name: $0.name, hash: TokenHash($0.value)) }
    }

    /// Returns the values of the cookies with which the browser is recognized in device profiles.
    func deviceCookies(_ cookie: SessionCookie) -> [String] {
        Array(cookies(cookie.deviceName).filter { $0.utf8.count <= Self.maxCookieLength }.prefix(4))
    }
}
