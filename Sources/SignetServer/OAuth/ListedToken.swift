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
