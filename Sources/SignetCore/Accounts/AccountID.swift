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

    /// The account key of the legacy SDKs, for display and lookup only: it is ambiguous when a part contains `-`.
    public var legacyIdentifier: String { "\(issuer)-\(accountName)" }
}
