import SignetCore

/// The order in which accounts are listed.
public enum AccountOrder: Sendable, Hashable, CaseIterable {
    /// By time of enrollment, oldest first, as the iOS SDK lists them.
    case timeAdded
    /// By issuer, then by account name, as the Android SDK lists them.
    case issuer
    /// By the display names, case-insensitively.
    case shownName
}

extension [EnrolledAccount] {
    /// Sorts accounts that are already in the order of their enrollment, oldest first.
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
    /// The display names to sort by, followed by the identity, which makes the order of equal display names deterministic.
    fileprivate var shownName: (String, String, String, String) {
        (
            (displayIssuer ?? id.issuer).lowercased(), (displayAccountName ?? id.accountName).lowercased(), id.issuer,
            id.accountName
        )
    }
}
