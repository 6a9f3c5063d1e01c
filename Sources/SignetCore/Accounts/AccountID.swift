/// Who an account belongs to: an issuer and a name there. It is a pair and stays one: two different pairs are never equal,
/// whatever characters they contain.
public struct AccountID: Sendable, Hashable {
    /// The organisation, for example `Harbor Bank`.
    public let issuer: String
    /// The person's name there, for example `mira`.
    public let accountName: String

    /// The pair as given.
    public init(issuer: String, accountName: String) {
        self.issuer = issuer
        self.accountName = accountName
    }

    /// The legacy SDKs' key, for display and look-up only: it is ambiguous when a part contains `-`.
    public var legacyIdentifier: String { "\(issuer)-\(accountName)" }
}
