package import Foundation
package import SignetCore
import SignetStorage

/// A credential of a client, with the data that belong to its account: `OathCredential` of PingOath and `PushCredential` of
/// PingPush.
///
/// Only the SDK's own types conform.
public protocol AccountCredential {
    /// The data of the credential that belong to its account.
    var details: CredentialDetails { get set }
}

extension AccountCredential {
    /// The issuer.
    ///
    /// Credentials with the same issuer and account name belong to one account.
    public var issuer: String { details.issuer }
    /// The name of the account.
    public var accountName: String { details.accountName }
    /// The issuer to show.
    public var displayIssuer: String {
        get { details.displayIssuer }
        set { details.displayIssuer = newValue }
    }
    /// The account name to show.
    public var displayAccountName: String {
        get { details.displayAccountName }
        set { details.displayAccountName = newValue }
    }
    /// The URL of a logo.
    public var imageURL: String? {
        get { details.imageURL }
        set { details.imageURL = newValue }
    }
    /// A color as `#` and hexadecimal digits.
    public var backgroundColor: String? {
        get { details.backgroundColor }
        set { details.backgroundColor = newValue }
    }
    /// The issuer's policies as the text of a JSON object.
    public var policies: String? {
        get { details.policies }
        set { details.policies = newValue }
    }
    /// The policy that locks the account.
    ///
    /// Setting it counts as a wish of the app, like ``isLocked``.
    public var lockingPolicy: String? {
        get { details.lock.policy }
        set { details.lock = CredentialLock(policy: newValue, isLocked: details.lock.isLocked, isWanted: true) }
    }
    /// True when the account is locked, manually or because the device violated a policy when the credential was read.
    ///
    /// Set it and save the credential to lock the account manually, or to remove a manual lock.
    public var isLocked: Bool {
        get { details.lock.isLocked }
        set { details.lock = CredentialLock(policy: details.lock.policy, isLocked: newValue, isWanted: true) }
    }

    /// Marks this value as locked.
    ///
    /// Save it to lock the account manually.
    public mutating func lockCredential(policyName: String) {
        details.lock = CredentialLock(policy: policyName, isLocked: true, isWanted: true)
    }

    /// Marks this value as unlocked.
    ///
    /// Save it to remove a manual lock. A policy that the device violates still locks the account.
    public mutating func unlockCredential() {
        details.lock = CredentialLock(policy: nil, isLocked: false, isWanted: true)
    }
}

/// The data of a credential that belong to its account.
///
/// The credentials of one account share them: a change through one credential applies to all. The properties of
/// ``AccountCredential`` give access to them.
public struct CredentialDetails: Sendable, Hashable {
    /// The issuer, which is half of the account's identity.
    package let issuer: String
    /// The account name, which is the other half.
    package let accountName: String
    /// The issuer as a person reads it.
    package var displayIssuer: String
    /// The account name as a person reads it.
    package var displayAccountName: String
    /// The address of the issuer's logo.
    package var imageURL: String?
    /// The background color of the account.
    package var backgroundColor: String?
    /// The policies of the issuer, as the text of a JSON object.
    package var policies: String?
    /// The lock of the account.
    package var lock: CredentialLock

    /// Creates the details of a credential that an app describes.
    ///
    /// Missing display names are the names themselves.
    package init(
        issuer: String, displayIssuer: String?, accountName: String, displayAccountName: String?, imageURL: String?,
        backgroundColor: String?, policies: String?, lock: CredentialLock
    ) {
        self.issuer = issuer
        self.displayIssuer = displayIssuer ?? issuer
        self.accountName = accountName
        self.displayAccountName = displayAccountName ?? accountName
        self.imageURL = imageURL
        self.backgroundColor = backgroundColor
        self.policies = policies
        self.lock = lock
    }

    /// Creates the details of a stored account.
    package init(_ account: Account, lock: AccountLock?) {
        self.init(
            issuer: account.id.issuer, displayIssuer: account.displayIssuer, accountName: account.id.accountName,
            displayAccountName: account.displayAccountName, imageURL: account.imageURL,
            backgroundColor: account.backgroundColor,
            policies: account.policies.isEmpty ? nil : JSON.text(of: .object(account.policies)), lock: .found(lock?.policy))
    }

    /// The identity of the account.
    package var account: AccountID { AccountID(issuer: issuer, accountName: accountName) }

    /// The reason why the details are invalid, with the name of the invalid part; nil when they are valid.
    package var fault: String? {
        if issuer.isEmpty || accountName.isEmpty { return "issuer and accountName must not be empty" }
        let texts = [issuer, accountName, displayIssuer, displayAccountName, imageURL, backgroundColor, lock.policy]
        guard texts.allSatisfy({ $0?.isSafeToShow ?? true }) else {
            return "names have no control characters and do not change the direction of text"
        }
        if policyObject == nil { return "policies is not the text of a JSON object" }
        return nil
    }

    /// The policies as an object; nil when the text is not a JSON object.
    package var policyObject: [String: JSONValue]? {
        guard let policies, !policies.isEmpty else { return [:] }
        return (try? JSON.value(of: policies.utf8)).flatMap { $0.isStorable ? $0.object : nil }
    }

    /// Returns an existing account with the details of a new credential applied.
    ///
    /// As in a repeated enrollment, values that the new credential doesn't set stay; in particular, the account keeps policies
    /// that are not in the new credential.
    func added(to stored: Account) -> Account {
        var account = stored
        let details = applied(to: stored, now: stored.timeAdded)
        account.displayIssuer = details.displayIssuer ?? stored.displayIssuer
        account.displayAccountName = details.displayAccountName ?? stored.displayAccountName
        account.imageURL = details.imageURL ?? stored.imageURL
        account.backgroundColor = details.backgroundColor ?? stored.backgroundColor
        account.policies.merge(details.policies) { _, new in new }
        account.lockingPolicy = details.lockingPolicy
        return account
    }

    /// Returns the account with these details in place of its own.
    package func applied(to stored: Account?, now: Date) -> Account {
        var account = stored ?? Account(id: account, timeAdded: now)
        account.displayIssuer = displayIssuer == issuer || displayIssuer.isEmpty ? nil : displayIssuer
        account.displayAccountName =
            displayAccountName == accountName || displayAccountName.isEmpty ? nil : displayAccountName
        account.imageURL = imageURL
        account.backgroundColor = backgroundColor
        account.policies = policyObject ?? [:]
        if lock.isWanted { account.lockingPolicy = lock.isLocked ? lock.policy ?? "locked" : nil }
        return account
    }
}

/// The JSON members that credentials have in common, as in the Ping SDK.
extension CredentialDetails {
    private enum CodingKeys: String, CodingKey {
        case issuer, displayIssuer, accountName, displayAccountName, imageURL, backgroundColor, policies, lockingPolicy, isLocked
    }

    /// Decodes the details from a credential's members.
    ///
    /// Only a locked state counts as set by the app.
    package init(membersFrom decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        self.init(
            issuer: try members.decode(String.self, forKey: .issuer), displayIssuer: try text(.displayIssuer),
            accountName: try members.decode(String.self, forKey: .accountName),
            displayAccountName: try text(.displayAccountName), imageURL: try text(.imageURL),
            backgroundColor: try text(.backgroundColor), policies: try text(.policies),
            lock: .given(
                try text(.lockingPolicy), isLocked: try members.decodeIfPresent(Bool.self, forKey: .isLocked) ?? false))
    }

    /// Encodes the details into a credential's members.
    package func encodeMembers(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(issuer, forKey: .issuer)
        try members.encode(displayIssuer, forKey: .displayIssuer)
        try members.encode(accountName, forKey: .accountName)
        try members.encode(displayAccountName, forKey: .displayAccountName)
        try members.encodeIfPresent(imageURL, forKey: .imageURL)
        try members.encodeIfPresent(backgroundColor, forKey: .backgroundColor)
        try members.encodeIfPresent(policies, forKey: .policies)
        try members.encodeIfPresent(lock.policy, forKey: .lockingPolicy)
        try members.encode(lock.isLocked, forKey: .isLocked)
    }
}
