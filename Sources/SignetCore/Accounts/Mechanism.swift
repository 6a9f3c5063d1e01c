#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One way of proving who one is, enrolled for one account.
public struct Mechanism: Sendable, Hashable {
    /// The id that the server knows the mechanism by: `mechanismUid` on the wire.
    public let uid: String
    /// The account it belongs to.
    public let account: AccountID
    /// What it can do.
    public var kind: Kind
    /// When it was enrolled.
    public let timeAdded: Date
    /// The user's id on the server, if the server told.
    public var userID: String?
    /// The device's id on the server, if the server told.
    public var resourceID: String?

    /// What a mechanism can do. The settings stand beside the mechanism: they are most of it, and it is moved about in lists.
    public indirect enum Kind: Sendable, Hashable {
        /// One-time codes.
        case oath(OATHSettings)
        /// Answering push messages.
        case push(PushSettings)
    }

    /// The kinds by name; an account has at most one mechanism of each.
    public enum KindName: String, Sendable, Hashable, Codable, CaseIterable {
        /// Time-based codes.
        case totp
        /// Counter-based codes.
        case hotp
        /// Push messages.
        case push
    }

    /// A mechanism.
    public init(
        uid: String, account: AccountID, kind: Kind, timeAdded: Date, userID: String? = nil, resourceID: String? = nil
    ) {
        self.uid = uid
        self.account = account
        self.kind = kind
        self.timeAdded = timeAdded
        self.userID = userID
        self.resourceID = resourceID
    }

    /// The name of ``kind-swift.property``.
    public var kindName: KindName {
        switch kind {
        case .oath(let settings):
            switch settings.factor {
            case .time: .totp
            case .counter: .hotp
            }
        case .push: .push
        }
    }

    /// The settings, if this mechanism makes one-time codes.
    public var oath: OATHSettings? {
        if case .oath(let settings) = kind { settings } else { nil }
    }

    /// The settings, if this mechanism answers push messages.
    public var push: PushSettings? {
        if case .push(let settings) = kind { settings } else { nil }
    }
}
