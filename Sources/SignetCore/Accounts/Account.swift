#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An account in an authenticator: its identity, its appearance and its policies.
///
/// Its mechanisms hold the credentials.
public struct Account: Sendable, Hashable {
    /// The issuer and the account name.
    public let id: AccountID
    /// The issuer to show, if the user chose another one.
    public var displayIssuer: String?
    /// The account name to show, if the user chose another one.
    public var displayAccountName: String?
    /// The address of a logo.
    public var imageURL: String?
    /// The background color: `#` and hexadecimal digits.
    public var backgroundColor: String?
    /// The names of the groups to which the account belongs, such as `Work`.
    public var groups: [String] = []
    /// The user's note as UTF-8 text; nil without one.
    ///
    /// A note is as sensitive as a secret: people write recovery codes into it.
    public var note: Secret?
    /// The name of an icon in the program from which the account was imported.
    public var iconName: String?
    /// The id of the account's picture; see ``AccountIcon/id``.
    public var iconID: String?
    /// The time at which the account was first enrolled.
    public let timeAdded: Date
    /// The policies of the issuer: names and parameters.
    public var policies: [String: JSONValue]
    /// The policy that was named when the account was locked manually; nil when the account isn't locked manually.
    ///
    /// An unmet policy also locks an account. That lock is never stored: it is evaluated whenever the account is read.
    public var lockingPolicy: String?
    /// The members of the stored record that this version does not know.
    package var unknownMembers = UnknownMembers()

    /// Creates an account without groups, note and icon.
    ///
    /// Everything but the identity and the time is optional.
    public init(
        id: AccountID, displayIssuer: String? = nil, displayAccountName: String? = nil, imageURL: String? = nil,
        backgroundColor: String? = nil, timeAdded: Date, policies: [String: JSONValue] = [:], lockingPolicy: String? = nil
    ) {
        self.id = id
        self.displayIssuer = displayIssuer
        self.displayAccountName = displayAccountName
        self.imageURL = imageURL
        self.backgroundColor = backgroundColor
        self.timeAdded = timeAdded
        self.policies = policies
        self.lockingPolicy = lockingPolicy
    }
}
