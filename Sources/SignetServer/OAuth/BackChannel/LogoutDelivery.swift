import Crypto
import Foundation
import SignetCore

/// A logout token that a client has not accepted yet (OpenID Connect Back-Channel Logout 1.0 section 2.5).
///
/// The transaction that ends a session stores it, and the delivery worker sends it afterwards.
struct LogoutDelivery: Sendable, Hashable, Codable {
    /// The `jti` of the logout token.
    ///
    /// It is the same at each attempt, so that the client recognizes a token that it has received already.
    let id: String
    let client: ClientKey
    let user: UserKey
    /// The session that has ended.
    let session: TokenHash
    /// The time after which the token is not sent any more.
    let deadline: Date
    /// The time before which the token is not sent.
    var nextAttempt: Date
    /// The number of attempts that have failed.
    var failures = 0
    /// The claim of the worker that sends the token; nil when it is unclaimed.
    var claim: DispatchClaim?

    /// The maximum number of attempts.
    static let maxAttempts = 10
    /// The time from the end of the session to the ``deadline``, in seconds.
    static let lifetime = 3600.0
    /// The lifetime of a logout token: from `iat` to `exp`, in seconds.
    static let tokenLifetime: Int64 = 120

    /// Returns the pause after a number of failed attempts, in seconds: 5 after the first, then each twice as long as the last.
    static func pause(after failures: Int) -> Double { 5 * Double(1 << max(0, min(failures, maxAttempts) - 1)) }

    /// The name of the row.
    ///
    /// The rows of a client are in the order of their next attempts, so that a search reads only those that are due. A row gets
    /// another name when its next attempt changes.
    var rowName: String {
        let time = String(max(0, nextAttempt.rowTime))
        return Self.rowPrefix(of: client) + String(repeating: "0", count: 19 - time.count) + time + " " + id
    }

    /// Returns the beginning of the names of a client's rows: a digest, which has the same length for all clients.
    static func rowPrefix(of client: ClientKey) -> String {
        let key = "\(client.realm.description.utf8.count) \(client.realm)\(client.id)"
        return Base64.encode(Array(SHA256.hash(data: Array(key.utf8))), as: .url) + " "
    }

    /// Returns the claims of the logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4).
    func claims(_ time: RequestTime) -> [String: JSONValue] {
        let issuedAt = Int64(time.now.timeIntervalSince1970)
        return [
            "iss": .string(time.issuer(of: user.realm)), "aud": .string(client.id), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + Self.tokenLifetime), "jti": .string(id), "sub": .string(user.name),
            "sid": .string(session.text), "events": .object([Self.event: .object([:])]),
        ]
    }

    private static let event = "http://schemas.openid.net/event/backchannel-logout"
}

// MARK: - The end of a session

extension ServerTransaction {
    /// Ends a session, even when it isn't valid at the moment, and informs the clients that have tokens of it.
    ///
    /// Returns nil when the session doesn't exist.
    mutating func endSession(_ key: TokenHash) throws -> SSOSession? {
        guard let session = try sessions.end(key) else { return nil }
        try logOut(session, key)
        return session
    }

    /// Ends the sessions of a user, or of all users when `user` is nil, including unreadable ones, and informs their clients.
    ///
    /// Ends at most ``Table/maxGroupSize``, and returns their number.
    mutating func endSessions(of user: UserKey?) throws -> Int {
        // The sessions need not be read when their end has no consequences.
        guard clients.haveBackChannel else { return try sessions.endAll(of: user) }
        let ended = try sessions.takeAll(of: user)
        for (key, session) in ended {
            // The clients of an unreadable session are unknown, but its key is enough for the tokens.
            if let session { try logOut(session, key) } else { try tokens.revokeTokens(of: key) }
        }
        return ended.count
    }

    /// Revokes the tokens that end with a session, and stores a logout token for each client that wants one.
    private mutating func logOut(_ session: SSOSession, _ key: TokenHash) throws {
        guard clients.haveBackChannel else { return }
        try tokens.revokeTokens(of: key)
        let informed = (session.relyingParties ?? []).filter { clients[$0]?.backchannelLogoutURI != nil }
        guard !informed.isEmpty else { return }
        for client in informed {
            logouts.store(
                LogoutDelivery(
                    id: RandomID.uuid(), client: client, user: session.user, session: key,
                    deadline: now.addingTimeInterval(LogoutDelivery.lifetime), nextAttempt: now))
        }
        effects.append(.deliverLogouts)
    }
}

extension ClientRegistry {
    /// True when any client has a back-channel logout URI.
    ///
    /// The tokens of such a client without `offline_access` end with the session of their login (OpenID Connect Back-Channel Logout
    /// 1.0 section 2.7). At AM tokens outlive the session, so those of other clients stay valid.
    var haveBackChannel: Bool { all.contains { $0.backchannelLogoutURI != nil } }
}

extension RegisteredClient {
    /// Returns true for an address that logout tokens may be sent to: `https`, or `http` to a loopback address, without a fragment.
    static func isBackChannelURI(_ text: String) -> Bool { !text.contains("#") && (try? Endpoint(text)) != nil }
}
