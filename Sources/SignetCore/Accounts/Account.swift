#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An account in an authenticator: who, how it looks, and the rules it lives under. What it can do is in its mechanisms.
public struct Account: Sendable, Hashable {
    /// Issuer and name.
    public let id: AccountID
    /// The issuer to show, if the person chose another.
    public var displayIssuer: String?
    /// The name to show, if the person chose another.
    public var displayAccountName: String?
    /// The address of a logo.
    public var imageURL: String?
    /// A colour, `#` and hexadecimal digits.
    public var backgroundColor: String?
    /// When the account was enrolled first.
    public let timeAdded: Date
    /// The policies of the issuer: names and parameters.
    public var policies: [String: JSONValue]
    /// The policy that was named when somebody locked the account by hand; nil when nobody did. That a policy is not met locks
    /// an account too, and is never stored: it is found out when the account is looked at.
    public var lockingPolicy: String?

    /// An account with nothing but an identity, unless more is given.
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
