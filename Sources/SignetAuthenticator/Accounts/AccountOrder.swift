import SignetCore

/// The order of a list of accounts.
public enum AccountOrder: Sendable, Hashable, CaseIterable {
    /// The oldest first, as the iOS SDK lists them.
    case timeAdded
    /// By issuer, then by name there, as the Android SDK lists them.
    case issuer
    /// By the names that are shown, without regard to case.
    case shownName
}

extension [EnrolledAccount] {
    /// Sorts what comes with the oldest first.
    mutating func sort(by order: AccountOrder) {
        switch order {
        case .timeAdded: break
        case .issuer:
            sort { ($0.account.id.issuer, $0.account.id.accountName) < ($1.account.id.issuer, $1.account.id.accountName) }
        case .shownName: sort { $0.account.shownName < $1.account.shownName }
        }
    }
}

extension Account {
    /// The names to sort by, and those that tell two equal ones apart.
    fileprivate var shownName: (String, String, String, String) {
        (
            (displayIssuer ?? id.issuer).lowercased(), (displayAccountName ?? id.accountName).lowercased(), id.issuer,
            id.accountName
        )
    }
}
