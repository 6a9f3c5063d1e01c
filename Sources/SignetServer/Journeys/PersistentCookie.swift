import Foundation
import SignetCore
import SignetStorage

/// A persistent cookie that a journey sets when it ends with success, so that a later journey recognizes the user.
struct PersistentCookie: Codable, Sendable, Hashable {
    let name: String
    /// The time without use after which the cookie is invalid, in seconds.
    let idleTime: Int
    /// The time at which the cookie is invalid, regardless of its use.
    let end: Date
    let isSecure: Bool
    let isHTTPOnly: Bool
}

/// The claims of a persistent cookie's token, with AM's names where AM has them.
///
/// AM encrypts them too. Here they are signed with a key of the server, and contain nothing that the user may not know.
private struct PersistentCookieClaims: Codable, Sendable {
    let cookie: String
    let user: String
    let realm: String
    /// The id of the user's password, so that a new password makes the cookie invalid.
    let generation: String?
    let clientAddress: String?
    let idleEnd: Int
    let end: Int

    private enum CodingKeys: String, CodingKey {
        case cookie, generation
        case user = "openam.usr"
        case realm = "openam.rlm"
        case clientAddress = "openam.clientip"
        case idleEnd = "tokenIdleTimeSeconds"
        case end = "exp"
    }
}

/// A persistent cookie of a request that is valid.
struct AcceptedPersistentCookie: Sendable, Hashable {
    let user: UserKey
    /// The time at which the cookie is invalid, regardless of its use.
    let end: Date
}

extension ServerTransaction {
    private var persistentCookieKey: Secret { Sealing.derive("signet server persistent cookies", from: authIDKey) }

    /// Adds the persistent cookies of a journey to the response.
    /// - Parameters:
    ///   - journey: The journey that ends.
    ///   - user: The user that has logged in.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func setPersistentCookies(of journey: JourneyState, for user: UserKey) throws {
        guard let cookies = journey.persistentCookies else { return }
        let header = SessionCookie(time)
        for cookie in cookies {
            let claims = PersistentCookieClaims(
                cookie: cookie.name, user: user.name, realm: user.realm.description,
                generation: try directory.generation(of: user), clientAddress: request?.address,
                idleEnd: Int(now.timeIntervalSince1970) + cookie.idleTime, end: Int(cookie.end.timeIntervalSince1970))
            guard let payload = try? JSON.encode(claims) else { throw APIError.unwritable }
            let token = CompactJWS.sign(payload, with: persistentCookieKey)
            let age = max(0, Int(cookie.end.timeIntervalSince(now).rounded()))
            responseCookies.append(header.persistent(cookie, token, maxAge: age))
        }
    }

    /// Returns the user of a persistent cookie in the request.
    /// - Parameters:
    ///   - name: The name of the cookie.
    ///   - realm: The realm of the journey.
    ///   - checksAddress: True to accept the cookie only from the address at which it was set.
    /// - Returns: The user and the end of the cookie; nil without a cookie that is valid for an existing user.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func persistentCookie(_ name: String, in realm: RealmPath, checksAddress: Bool) throws -> AcceptedPersistentCookie? {
        guard let text = request?.cookies[name], let jws = try? CompactJWS(text),
            let payload = try? jws.payload(verifiedWith: persistentCookieKey),
            let claims = try? JSON.decode(PersistentCookieClaims.self, from: payload), claims.cookie == name,
            claims.realm == realm.description, now.timeIntervalSince1970 < Double(min(claims.idleEnd, claims.end)),
            !checksAddress || claims.clientAddress == request?.address
        else { return nil }
        let user = UserKey(realm: realm, name: claims.user)
        guard try directory.isActive(user, since: claims.generation) else { return nil }
        return AcceptedPersistentCookie(user: user, end: Date(timeIntervalSince1970: Double(claims.end)))
    }
}

extension ConfigurationDecoder {
    /// Decodes the name of a persistent cookie.
    mutating func persistentCookieName() -> String {
        let name = string("persistentCookieName", "session-jwt")
        if !TextRule.isToken(name) {
            report(
                .invalidValue, in: "persistentCookieName",
                "`persistentCookieName` must be a name that cookies can have, `session-jwt`")
        }
        return name
    }
}
