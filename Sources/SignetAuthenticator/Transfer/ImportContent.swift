public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a file of another authenticator, or a backup of this one, holds; nothing of it is stored yet.
///
/// ``ImportFormat/read(_:passphrase:policy:)-type.method`` makes it, and `Authenticator.importAccounts(_:dryRun:)` stores it. Each entry of the file
/// is in ``accounts``, in ``notifications``, or with a reason in ``skipped``.
public struct ImportContent: Sendable, Hashable {
    /// The accounts with their mechanisms, in the order of the file. No two have the same id.
    public var accounts: [ImportedAccount] = []
    /// Push messages that came before.
    public var notifications: [PushNotification] = []
    /// The entries that cannot be taken over, and why.
    public var skipped: [SkippedEntry] = []
    /// What entries have besides, which has no place here, by its name (`icon`, `group`), and how often.
    public var leftOut: [String: Int] = [:]

    /// The content of an empty file.
    public init() {}

    /// The content of several files as one. What several have is taken from the first.
    public static func combined(_ contents: [ImportContent]) -> ImportContent {
        guard contents.count != 1 else { return contents[0] }
        var gathering = ImportGathering()
        for content in contents { gathering.add(content) }
        return gathering.content
    }

    /// How many mechanisms there are in all accounts.
    public var mechanismCount: Int { accounts.reduce(0) { $0 + $1.mechanisms.count } }
}

/// An account as a file has it.
public struct ImportedAccount: Sendable, Hashable {
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
    /// When it was enrolled, if the file says so.
    public var timeAdded: Date?
    /// The policies of the issuer: names and parameters.
    public var policies: [String: JSONValue] = [:]
    /// The policy named when the account was locked by hand.
    public var lockingPolicy: String?
    /// What it can do: at most one mechanism of a kind.
    public var mechanisms: [ImportedMechanism] = []

    /// An account with nothing but an identity.
    public init(id: AccountID) {
        self.id = id
    }

    /// Takes what another file says of the same account: what is missing here, and every policy and lock.
    mutating func merge(_ other: ImportedAccount) {
        displayIssuer = displayIssuer ?? other.displayIssuer
        displayAccountName = displayAccountName ?? other.displayAccountName
        imageURL = imageURL ?? other.imageURL
        backgroundColor = backgroundColor ?? other.backgroundColor
        timeAdded = timeAdded ?? other.timeAdded
        policies.merge(other.policies) { own, _ in own }
        lockingPolicy = lockingPolicy ?? other.lockingPolicy
    }
}

/// A mechanism as a file has it.
public struct ImportedMechanism: Sendable, Hashable {
    /// The id that a server knows it by; nil when the format has none, and a new one will do.
    public var uid: String?
    /// What it can do.
    public var kind: Mechanism.Kind
    /// When it was enrolled, if the file says so.
    public var timeAdded: Date?
    /// The user's id on the server.
    public var userID: String?
    /// The device's id on the server.
    public var resourceID: String?

    /// A mechanism of which nothing else is known.
    public init(uid: String? = nil, kind: Mechanism.Kind) {
        self.uid = uid
        self.kind = kind
    }

    /// The name of ``kind``.
    public var kindName: Mechanism.KindName { Mechanism.KindName(kind) }
}

/// An entry that was not taken over, for a report. It holds nothing secret.
public struct SkippedEntry: Sendable, Hashable {
    /// Why an entry was not taken over.
    public enum Reason: String, Sendable, CaseIterable {
        /// The same secret is there already under the same name.
        case duplicate
        /// Another secret is there under the same name: an account has one mechanism of a kind.
        case nameTaken
        /// It makes codes of a kind that is not made here.
        case unsupportedType
        /// Its codes are made with a hash function that is not used here.
        case unsupportedAlgorithm
        /// Its codes are shorter or longer than any here.
        case unsupportedDigits
        /// A part of it is missing, or is nothing that such an entry could have.
        case invalid
        /// It invites to register with a server, which an import does not do.
        case needsServer
        /// It stands in a part of the export that was not given.
        case missingPart
        /// It belongs to a mechanism that is neither in the file nor here.
        case orphaned
        /// The store has a record in its place that cannot be read, and must not be lost.
        case damagedRecord
        /// The format has no place for it.
        case notExpressible
        /// Its account is locked.
        case locked
    }

    /// Whom it belongs to, as `issuer: account`, or which entry of the file it is. Safe to show.
    public let name: String
    /// What it is: `totp`, `hotp`, `push`, `steam`, `notification`, …
    public let type: String
    /// Why it was not taken over.
    public let reason: Reason
    /// The same in words, and the way on where there is one.
    public let detail: String

    init(_ name: String, type: String, _ reason: Reason, _ detail: String) {
        self.name = Self.shown(name)
        self.type = type
        self.reason = reason
        self.detail = detail
    }

    /// Without what could steer a terminal, and no longer than a line.
    private static func shown(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(4 * longestName).filter { String($0).isSafeToShow }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: safe.prefix(longestName))
        return String(text)
    }

    private static let longestName = 128
}

extension AccountID {
    /// `issuer: account`, as reports name it.
    var reportName: String { "\(issuer): \(accountName)" }
}

extension Mechanism.KindName {
    init(_ kind: Mechanism.Kind) {
        self =
            switch kind {
            case .oath(let settings): if case .time = settings.factor { .totp } else { .hotp }
            case .push: .push
            }
    }
}

/// Gathers the entries of a file into accounts.
struct ImportGathering {
    private(set) var content = ImportContent()
    private var places: [AccountID: Int] = [:]
    private var refused: Set<AccountID> = []

    /// Takes nothing of an account: without its own entry nobody knows its locks and policies.
    mutating func refuse(_ id: AccountID) {
        refused.insert(id)
        guard let place = places[id] else { return }
        for mechanism in content.accounts[place].mechanisms { skipOrphan(mechanism, of: id) }
        content.accounts[place].mechanisms = []
    }

    private mutating func skipOrphan(_ mechanism: ImportedMechanism, of id: AccountID) {
        skip(
            SkippedEntry(
                id.reportName, type: mechanism.kindName.rawValue, .invalid,
                "its account cannot be taken over, and with it what protects it"))
    }

    /// Adds a mechanism to its account, which is made at its first. A second one of a kind is skipped.
    mutating func add(_ mechanism: ImportedMechanism, to id: AccountID) {
        if refused.contains(id) { return skipOrphan(mechanism, of: id) }
        let place = place(of: id)
        guard let other = content.accounts[place].mechanisms.first(where: { $0.kindName == mechanism.kindName }) else {
            content.accounts[place].mechanisms.append(mechanism)
            return
        }
        skip(.occupied(id, by: other.kind, offered: mechanism.kind, where: "in the file"))
    }

    /// Changes what is known of an account itself.
    mutating func describe(_ id: AccountID, _ change: (inout ImportedAccount) -> Void) {
        change(&content.accounts[place(of: id)])
    }

    mutating func add(_ other: ImportContent) {
        for account in other.accounts {
            if places[account.id] == nil {
                places[account.id] = content.accounts.count
                content.accounts.append(account)
            } else {
                describe(account.id) { $0.merge(account) }
                for mechanism in account.mechanisms { add(mechanism, to: account.id) }
            }
        }
        content.notifications += other.notifications
        content.skipped += other.skipped
        content.leftOut.merge(other.leftOut, uniquingKeysWith: +)
    }

    mutating func add(_ notification: PushNotification) { content.notifications.append(notification) }

    mutating func skip(_ entry: SkippedEntry) { content.skipped.append(entry) }

    mutating func leaveOut(_ name: String, _ isThere: Bool = true) {
        if isThere { content.leftOut[name, default: 0] += 1 }
    }

    private mutating func place(of id: AccountID) -> Int {
        if let place = places[id] { return place }
        content.accounts.append(ImportedAccount(id: id))
        places[id] = content.accounts.count - 1
        return content.accounts.count - 1
    }
}

extension SkippedEntry {
    /// An account has a mechanism of this kind already: the same, or another.
    static func occupied(_ id: AccountID, by existing: Mechanism.Kind, offered: Mechanism.Kind, where place: String) -> Self {
        let type = Mechanism.KindName(offered).rawValue
        guard existing.hasSameSecret(as: offered) else {
            return SkippedEntry(
                id.reportName, type, .nameTaken,
                "another \(type) secret of this name is \(place) already; rename one where it comes from, and import it again")
        }
        return SkippedEntry(id.reportName, type, .duplicate, "it is \(place) already; what is there was left as it is")
    }

    private init(_ name: String, _ type: String, _ reason: Reason, _ detail: String) {
        self.init(name, type: type, reason, detail)
    }
}

extension Mechanism.Kind {
    /// Whether both make the same codes or answers; where a counter stands does not matter.
    fileprivate func hasSameSecret(as other: Mechanism.Kind) -> Bool {
        switch (self, other) {
        case (.oath(let left), .oath(let right)):
            left.secret == right.secret && left.algorithm == right.algorithm && left.digits == right.digits
                && left.factor.isAlike(right.factor)
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
