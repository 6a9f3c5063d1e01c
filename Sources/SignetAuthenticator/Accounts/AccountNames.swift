package import SignetCore

/// The names by which the user may refer to an account.
package struct AccountNames: Sendable, Hashable {
    /// The issuer and the account name of the enrollment.
    package let id: AccountID
    /// The issuer to show in place of the enrolled one.
    package let displayIssuer: String?
    /// The account name to show in place of the enrolled one.
    package let displayAccountName: String?

    /// Creates the names of an account.
    package init(_ account: Account) {
        self.init(id: account.id, displayIssuer: account.displayIssuer, displayAccountName: account.displayAccountName)
    }

    init(id: AccountID, displayIssuer: String?, displayAccountName: String?) {
        (self.id, self.displayIssuer, self.displayAccountName) = (id, displayIssuer, displayAccountName)
    }

    /// The issuer in lists.
    package var shownIssuer: String { displayIssuer ?? id.issuer }
    /// The account's own name in lists.
    package var shownAccountName: String { displayAccountName ?? id.accountName }
    /// The name in lists.
    package var shownName: String { "\(shownIssuer): \(shownAccountName)" }

    /// All names: as enrolled and as displayed, with and without the issuer.
    package var all: [String] {
        [id.accountName, id.issuer, "\(id.issuer):\(id.accountName)", "\(id.issuer): \(id.accountName)"]
            + [displayIssuer, displayAccountName].compactMap { $0 }
            + [shownName, "\(shownIssuer):\(shownAccountName)"]
    }
}
