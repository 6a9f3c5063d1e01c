package import Foundation
package import SignetCore
package import SignetStorage

/// The session, the tokens and the cookies that the ForgeRock SDK for iOS stored for one server.
package struct LegacyTokens: Sendable, Hashable {
    /// The session; nil when none was stored.
    package private(set) var session: SSOToken?
    /// The tokens; nil when none were stored, or when they belong to a session that cannot be read.
    package private(set) var token: AccessToken?
    /// The cookies.
    package private(set) var cookies = CookieJar()
    /// The names of the items that are damaged or do not open; they are left where they are.
    package private(set) var damaged: [String] = []

    /// True when there is nothing to take over.
    package var isEmpty: Bool { session == nil && token == nil && cookies.cookies.isEmpty }

    /// The server and the app that items belong to, as the app's configuration names them.
    package struct Owner: Sendable, Hashable {
        /// The address of the server.
        package let url: String
        /// The realm without a slash.
        package let realm: String
        /// The app's bundle identifier.
        package let bundle: String
        /// The keychain access group; nil when the session belongs to the app alone.
        package let accessGroup: String?

        /// Creates an owner.
        package init(url: String, realm: String, bundle: String, accessGroup: String?) {
            (self.url, self.realm, self.bundle, self.accessGroup) = (url, realm, bundle, accessGroup)
        }

        /// The beginning of the names of all services.
        var service: String { "\(url)/\(realm)/com.forgerock.ios.keychainservice" }
    }

    /// Reads the items of an owner, and changes nothing.
    /// - Parameters:
    ///   - store: The keychain or the archive.
    ///   - owner: The server and the app.
    ///   - now: The current time, as the creation time of the cookies.
    /// - Throws: The errors of the store. A damaged item is not an error.
    package init(in store: any LegacyStore, of owner: Owner, now: Date) throws(StoreError) {
        let shared = owner.service + (owner.accessGroup == nil ? "-\(owner.bundle)" : "")
        let key = LegacyKey.forgeRockSession(accessGroup: owner.accessGroup)
        let own = try store.items(of: "\(owner.service)-\(owner.bundle).local", sealedBy: key)
        let texts = try store.items(of: "\(shared).shared", sealedBy: key)
        let cookies = try store.items(of: "\(shared).cookie", sealedBy: key)
        read(session: texts)
        for item in own where item.name == "access_token" {
            do throws(ArchiveError) { token = try Self.token(item) } catch { damaged.append(item.name) }
        }
        // A token of a session that cannot be read is of no use.
        if let identity = token?.session, identity != session.map(SessionIdentity.init) { token = nil }
        var stored: [Cookie] = []
        for item in cookies {
            do throws(ArchiveError) { stored.append(try Self.cookie(item, now: now)) } catch { damaged.append(item.name) }
        }
        self.cookies = CookieJar(stored)
    }

    private mutating func read(session items: [LegacyItem]) {
        var values: [String: String] = [:]
        for item in items where ["sso_token", "successUrl", "realm"].contains(item.name) {
            guard let text = item.content.flatMap({ String(strictUTF8: $0) }) else {
                damaged.append(item.name)
                continue
            }
            values[item.name] = text.isEmpty ? nil : text
        }
        session = values["sso_token"].map {
            SSOToken(value: Secret(text: $0), successURL: values["successUrl"], realm: values["realm"])
        }
    }

    private static func object(_ item: LegacyItem, _ name: String) throws(ArchiveError) -> ArchivedObject {
        guard let content = item.content else { throw ArchiveError("item", "the SDK's key does not decrypt it") }
        guard let root = try KeyedArchive(Array(content)).roots().first, let object = root, object.className == name else {
            throw ArchiveError("root", "it is an object of another class")
        }
        return object
    }

    private static func token(_ item: LegacyItem) throws(ArchiveError) -> AccessToken {
        let object = try object(item, "AccessToken")
        guard let value = try object.text("value"), let lifetime = try object.integer("expires_in"),
            let type = try object.text("token_type"), let issued = try object.number("authenticatedTimestamp")
        else { throw ArchiveError("AccessToken", "a member is missing") }
        let issuedAt = Date(timeIntervalSince1970: issued)
        return AccessToken(
            value: Secret(text: value), tokenType: type, scope: try object.text("scope") ?? "", issuedAt: issuedAt,
            expiresAt: issuedAt + TimeInterval(lifetime), refreshToken: try object.text("refresh_token").map { Secret(text: $0) },
            idToken: try object.text("id_token").map { Secret(text: $0) },
            session: try object.text("session_token").map { SessionIdentity(SSOToken(value: Secret(text: $0))) })
    }

    private static func cookie(_ item: LegacyItem, now: Date) throws(ArchiveError) -> Cookie {
        let object = try object(item, "FRHTTPCookie")
        guard let name = try object.text("name"), let value = try object.text("value"), let domain = try object.text("domain"),
            !name.isEmpty, !domain.isEmpty
        else { throw ArchiveError("FRHTTPCookie", "a member is missing") }
        return Cookie(
            name: name, value: Secret(text: value), domain: String(domain.lowercased().drop { $0 == "." }),
            isHostOnly: !domain.hasPrefix("."), path: try object.text("path") ?? "/",
            isSecure: try object.bool("isSecure") ?? false,
            isHTTPOnly: try object.bool("isHTTPOnly") ?? false, expiry: try object.date("expiresDate"), created: now)
    }
}
