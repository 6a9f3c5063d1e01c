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

extension [Account] {
    func sorted(by order: AccountOrder) -> [Account] {
        switch order {
        case .timeAdded: self
        case .issuer: sorted { ($0.id.issuer, $0.id.accountName) < ($1.id.issuer, $1.id.accountName) }
        case .shownName: sorted { $0.shownName < $1.shownName }
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
