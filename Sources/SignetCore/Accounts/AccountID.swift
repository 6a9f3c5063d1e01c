/// The identity of an account: an issuer and an account name.
///
/// The two parts are compared separately, so two different pairs are never equal, whatever characters they contain.
public struct AccountID: Sendable, Hashable {
    /// The organization, for example `Harbor Bank`.
    public let issuer: String
    /// The user's name at the issuer, for example `mira`.
    public let accountName: String

    /// Creates an identity.
    public init(issuer: String, accountName: String) {
        self.issuer = issuer
        self.accountName = accountName
    }

    /// The maximum number of accounts with one name, which exceeds realistic vaults.
    private static let maxAlternatives = 100

    /// This identity, and those that stand for further accounts of the same issuer and name: `name (2)`, `name (3)` and so on.
    package var alternatives: [AccountID] {
        [self] + (2...Self.maxAlternatives).map { AccountID(issuer: issuer, accountName: "\(accountName) (\($0))") }
    }

    /// The account key of the legacy SDKs, for display and lookup only: it is ambiguous when a part contains `-`.
    public var legacyIdentifier: String { "\(issuer)-\(accountName)" }
}
