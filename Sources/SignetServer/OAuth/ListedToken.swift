import Foundation
import SignetCore

/// A token in a list for testers, without its value.
struct ListedToken: Sendable {
    let grant: Grant
    let isRefreshToken: Bool
    let scopes: [String]
    let issuedAt: Date
    let expiresAt: Date
    /// The time at which a refresh token was exchanged for another one; nil for others.
    var spentAt: Date?
}

extension ListedToken {
    /// An access token.
    init(_ access: AccessGrant) {
        self.init(
            grant: access.grant, isRefreshToken: false, scopes: access.scopes, issuedAt: access.issuedAt,
            expiresAt: access.expiresAt)
    }

    /// A refresh token of a grant.
    init(_ refresh: RefreshGrant, _ grant: Grant) {
        self.init(
            grant: grant, isRefreshToken: true, scopes: refresh.scopes, issuedAt: refresh.issuedAt,
            expiresAt: refresh.expiresAt, spentAt: refresh.spentAt)
    }
}
