import Foundation
import SignetCore

/// The IDs (`jti`) of signed tokens that are valid once, such as the assertions of clients, until the tokens expire.
///
/// They are part of the state, so that a token stays used after a restart and at other servers that share the state.
struct UsedTokenIDs {
    /// The kind of a token.
    ///
    /// The raw value is a part of stored names and must not change.
    enum Kind: String, Sendable {
        case clientAssertion = "assertion"
        case dpopProof = "dpop"
        /// The signed request of a client for a user's approval (CIBA section 7.1.1).
        case signedRequest = "request"
    }

    private struct Name: RowName {
        let kind: Kind
        let owner: String
        let id: String

        var rowName: String { "\(kind.rawValue) \(owner.utf8.count) \(owner)\(id)" }
    }

    private var used: Table<Name, Bool>

    init(_ transaction: RowCache) { used = Table(.usedTokenID, transaction) }

    /// Records the use of a token.
    ///
    /// A full store accepts no token, because a refused client is safer than a token that can be used again.
    /// - Parameters:
    ///   - id: The ID of the token.
    ///   - kind: Its kind.
    ///   - client: The client that has issued it.
    ///   - end: The time until which the token is accepted.
    /// - Returns: True for the first use.
    /// - Throws: `StoreError` when the state cannot be read.
    mutating func use(_ id: String, of kind: Kind, by client: ClientKey, until end: Date) throws -> Bool {
        try use(id, of: kind, by: "\(client.realm) \(client.id)", until: end)
    }

    /// Records the use of a token as ``use(_:of:by:until:)`` does, of an issuer with a name, such as the thumbprint of its key.
    mutating func use(_ id: String, of kind: Kind, by issuer: String, until end: Date) throws -> Bool {
        let name = Name(kind: kind, owner: issuer, id: id)
        guard try used[name] == nil, try !used.isFull() else { return false }
        used.insert(true, for: name, until: end)
        return true
    }
}
