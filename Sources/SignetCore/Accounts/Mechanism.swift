#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One authentication method, enrolled for one account.
public struct Mechanism: Sendable, Hashable {
    /// The id by which the server knows the mechanism: `mechanismUid` on the wire.
    public let uid: String
    /// The account to which the mechanism belongs.
    public let account: AccountID
    /// The kind of the mechanism, with its settings.
    public var kind: Kind
    /// The time at which the mechanism was enrolled.
    public let timeAdded: Date
    /// The user's id on the server, if the server sent it.
    public var userID: String?
    /// The device's id on the server, if the server sent it.
    public var resourceID: String?
    /// The name of the machine that generates the codes of this counter, when several machines share the account; nil when this
    /// machine generates them.
    ///
    /// Two machines that count alone would generate codes twice. `signet sync take` moves the counter to another machine.
    public var counterOwner: String?
    /// The members of the stored record that this version does not know.
    package var unknownMembers = UnknownMembers()

    /// The kind of a mechanism, with its settings.
    ///
    /// The enumeration is indirect because the settings are large and mechanisms are often moved in arrays.
    public indirect enum Kind: Sendable, Hashable {
        /// The mechanism generates one-time codes.
        case oath(OATHSettings)
        /// The mechanism answers push messages.
        case push(PushSettings)
    }

    /// The names of the kinds.
    ///
    /// An account has at most one mechanism of each kind.
    public enum KindName: String, Sendable, Hashable, Codable, CaseIterable {
        /// Time-based codes.
        case totp
        /// Counter-based codes.
        case hotp
        /// Push messages.
        case push
    }

    /// Creates a mechanism.
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
    public var kindName: KindName { KindName(kind) }

    /// The settings when this mechanism generates one-time codes; otherwise nil.
    public var oath: OATHSettings? {
        if case .oath(let settings) = kind { settings } else { nil }
    }

    /// The settings when this mechanism answers push messages; otherwise nil.
    public var push: PushSettings? {
        if case .push(let settings) = kind { settings } else { nil }
    }
}

extension Mechanism.KindName {
    /// Creates the name of a kind.
    package init(_ kind: Mechanism.Kind) {
        self =
            switch kind {
            case .oath(let settings): if case .time = settings.factor { .totp } else { .hotp }
            case .push: .push
            }
    }
}

extension Mechanism.Kind {
    /// True when both have the same secret and settings, so that they produce the same codes or answers.
    ///
    /// The positions of counters are ignored.
    package func hasSameSecret(as other: Mechanism.Kind) -> Bool {
        switch (self, other) {
        case (.oath(let left), .oath(let right)):
            left.secret == right.secret && left.algorithm == right.algorithm && left.digits == right.digits
                && left.encoding == right.encoding && left.factor.isAlike(right.factor)
        case (.push(let left), .push(let right)): left.secret == right.secret
        default: false
        }
    }
}

extension MovingFactor {
    fileprivate func isAlike(_ other: MovingFactor) -> Bool {
        switch (self, other) {
        case (.time(let left), .time(let right)): left == right
        case (.counter, .counter): true
        default: false
        }
    }
}
