public import Foundation
public import SignetCore

/// The content of another authenticator's file or of a backup, before it is stored.
///
/// ``ImportFormat/read(_:passphrase:policy:)-type.method`` creates it, and
/// `Authenticator.importAccounts(_:dryRun:renamingTwins:)` stores it.
/// Each entry of the file is in ``accounts``, in ``notifications``, or with a reason in ``skipped``.
public struct ImportContent: Sendable, Hashable {
    /// The accounts with their mechanisms, in the order of the file.
    ///
    /// Their ids are unique.
    public var accounts: [ImportedAccount] = []
    /// The push messages of the file.
    public var notifications: [PushNotification] = []
    /// The entries that cannot be imported, with the reasons.
    public var skipped: [SkippedEntry] = []
    /// The number of properties of entries that an import does not support, by the name of the property (`icon`, `policy`).
    public var leftOut: [String: Int] = [:]
    /// The skipped mechanisms that an import can store under a second name.
    var twins: [Twin] = []

    /// A mechanism whose account already has a mechanism of the same kind with another secret.
    struct Twin: Sendable, Hashable {
        /// The account that has the other mechanism.
        let account: AccountID
        let mechanism: ImportedMechanism
        /// The entry that reports the mechanism as skipped.
        let entry: SkippedEntry
        /// The groups, the note and the icon of the mechanism's entry.
        let details: ImportedDetails
    }

    /// Creates empty content.
    public init() {}

    /// Returns the content of several files as one.
    ///
    /// When several files have the same entry, the first one is used.
    public static func combined(_ contents: [ImportContent]) -> ImportContent {
        guard contents.count != 1 else { return contents[0] }
        var builder = ImportBuilder()
        for content in contents { builder.add(content) }
        return builder.content
    }

    /// The number of mechanisms in all accounts.
    public var mechanismCount: Int { accounts.reduce(0) { $0 + $1.mechanisms.count } }
}

/// An account from a file.
public struct ImportedAccount: Sendable, Hashable {
    /// The issuer and the account name.
    public let id: AccountID
    /// The issuer to show, if the user chose another one.
    public var displayIssuer: String?
    /// The account name to show, if the user chose another one.
    public var displayAccountName: String?
    /// The URL of a logo.
    public var imageURL: String?
    /// A color as `#` and hexadecimal digits.
    public var backgroundColor: String?
    /// The time of enrollment, if the file has it.
    public var timeAdded: Date?
    /// The policies of the issuer, with their parameters by name.
    public var policies: [String: JSONValue] = [:]
    /// The policy that was named when the account was locked manually.
    public var lockingPolicy: String?
    /// The names of the groups to which the account belongs.
    public var groups: [String] = []
    /// The user's note as UTF-8 text, which is as sensitive as a secret.
    public var note: Secret?
    /// The name of an icon in the other program.
    public var iconName: String?
    /// The picture of the account.
    public var icon: AccountIcon?
    /// The mechanisms, at most one of each kind.
    public var mechanisms: [ImportedMechanism] = []
    /// The members of the account in a backup that this version does not know.
    package var unknownMembers = UnknownMembers()

    /// Creates an account that has only an identity.
    public init(id: AccountID) {
        self.id = id
    }

    /// Merges another file's data of the same account, except its mechanisms, groups, note and icon.
    ///
    /// Values that are missing here are added, and so are policies and the lock.
    mutating func merge(_ other: ImportedAccount) {
        displayIssuer = displayIssuer ?? other.displayIssuer
        displayAccountName = displayAccountName ?? other.displayAccountName
        imageURL = imageURL ?? other.imageURL
        backgroundColor = backgroundColor ?? other.backgroundColor
        timeAdded = timeAdded ?? other.timeAdded
        policies.merge(other.policies) { own, _ in own }
        lockingPolicy = lockingPolicy ?? other.lockingPolicy
        unknownMembers = UnknownMembers(unknownMembers.values.merging(other.unknownMembers.values) { own, _ in own })
    }
}

/// A mechanism from a file.
public struct ImportedMechanism: Sendable, Hashable {
    /// The id by which a server knows the mechanism; nil when the format has none, and the import generates one.
    public var uid: String?
    /// The kind of the mechanism, with its settings.
    public var kind: Mechanism.Kind
    /// The time of enrollment, if the file has it.
    public var timeAdded: Date?
    /// The user's id on the server.
    public var userID: String?
    /// The device's id on the server.
    public var resourceID: String?
    /// True when the file does not name the hash function of the codes, so that SHA-1 is assumed.
    ///
    /// Some programs leave out other hash functions too. The codes of such an account are wrong.
    public var assumesSHA1 = false
    /// The members of the mechanism in a backup that this version does not know.
    package var unknownMembers = UnknownMembers()

    /// Creates a mechanism with only these values.
    public init(uid: String? = nil, kind: Mechanism.Kind) {
        self.uid = uid
        self.kind = kind
    }

    /// The name of ``kind``.
    public var kindName: Mechanism.KindName { Mechanism.KindName(kind) }
}

/// An entry that was not imported, for a report.
///
/// It contains no secrets.
public struct SkippedEntry: Sendable, Hashable {
    /// The reason why an entry was not imported.
    public enum Reason: String, Sendable, CaseIterable {
        /// The same secret is already stored under the same name.
        case duplicate
        /// Another secret is stored under the same name; an account has one mechanism of each kind.
        case nameTaken
        /// The type of the codes is not supported.
        case unsupportedType
        /// The hash function of the codes is not supported.
        case unsupportedAlgorithm
        /// The number of digits of the codes is not supported.
        case unsupportedDigits
        /// A part of the entry is missing or invalid.
        case invalid
        /// The entry is an invitation to register with a server, which an import does not do.
        case needsServer
        /// The entry is in a part of the export that was not given.
        case missingPart
        /// The entry belongs to a mechanism that is neither in the file nor in the store.
        case orphaned
        /// The store has a record in its place that cannot be read and must not be lost.
        case damagedRecord
        /// The export format cannot represent the entry.
        case notExpressible
        /// The account of the entry is locked.
        case locked
    }

    /// The account as `issuer: account`, or the number of the entry in the file.
    ///
    /// The text is safe to show.
    public let name: String
    /// The type of the entry, such as `totp`, `hotp`, `push`, `steam` or `notification`.
    public let type: String
    /// The reason why the entry was not imported.
    public let reason: Reason
    /// A description of the reason for people, with advice where there is some.
    public let detail: String

    init(_ name: String, type: String, _ reason: Reason, _ detail: String) {
        self.name = Self.shown(name)
        self.type = type
        self.reason = reason
        self.detail = detail
    }

    /// Returns the name without characters that could control a terminal, and limited in length.
    private static func shown(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(4 * maxNameLength).filter { String($0).isSafeToShow }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: safe.prefix(maxNameLength))
        return String(text)
    }

    private static let maxNameLength = 128
}

extension AccountID {
    /// The identity as `issuer: account`, the form of reports.
    var reportName: String { "\(issuer): \(accountName)" }
}

/// A builder of the content of a file.
///
/// It groups the entries by account.
struct ImportBuilder {
    private(set) var content = ImportContent()
    private var indices: [AccountID: Int] = [:]
    private var refused: Set<AccountID> = []

    /// Rejects all mechanisms of an account.
    ///
    /// Without the account's own entry its lock and policies are unknown.
    mutating func refuse(_ id: AccountID) {
        refused.insert(id)
        content.twins.removeAll { $0.account == id }
        guard let index = indices[id] else { return }
        for mechanism in content.accounts[index].mechanisms { skipOrphan(mechanism, of: id) }
        content.accounts[index].mechanisms = []
    }

    private mutating func skipOrphan(_ mechanism: ImportedMechanism, of id: AccountID) {
        skip(
            SkippedEntry(
                id.reportName, type: mechanism.kindName.rawValue, .invalid,
                "its account, which has its policies and its lock, cannot be imported"))
    }

    /// Adds a mechanism to its account, and creates the account if needed.
    ///
    /// A second mechanism of the same kind is skipped, and so are the details of its entry.
    /// - Parameters:
    ///   - mechanism: The mechanism.
    ///   - id: The account.
    ///   - details: The groups, the note and the icon of the entry.
    mutating func add(_ mechanism: ImportedMechanism, to id: AccountID, _ details: ImportedDetails = ImportedDetails()) {
        if refused.contains(id) { return skipOrphan(mechanism, of: id) }
        let index = index(of: id)
        guard let other = content.accounts[index].mechanisms.first(where: { $0.kindName == mechanism.kindName }) else {
            content.accounts[index].mechanisms.append(mechanism)
            for (name, count) in details.leftOut { content.leftOut[name, default: 0] += count }
            let isComplete = content.accounts[index].add(details)
            leaveOut("note", !isComplete)
            return
        }
        let entry = SkippedEntry.occupied(id, by: other.kind, offered: mechanism.kind, where: "in the file")
        if entry.reason == .nameTaken {
            content.twins.append(ImportContent.Twin(account: id, mechanism: mechanism, entry: entry, details: details))
        }
        skip(entry)
    }

    /// Changes the data of an account, and creates the account if needed.
    mutating func describe(_ id: AccountID, _ change: (inout ImportedAccount) -> Void) {
        change(&content.accounts[index(of: id)])
    }

    /// Adds the data of an account.
    /// - Parameters:
    ///   - account: The account with its names, its policies and its lock.
    ///   - timeAdded: The time of enrollment; nil when the file has none.
    ///   - icon: The picture of the account, if the file has it.
    mutating func add(_ account: Account, timeAdded: Date?, icon: AccountIcon? = nil) {
        describe(account.id) { imported in
            imported.displayIssuer = account.displayIssuer
            imported.displayAccountName = account.displayAccountName
            imported.imageURL = account.imageURL
            imported.backgroundColor = account.backgroundColor
            imported.timeAdded = timeAdded
            imported.policies = account.policies
            imported.lockingPolicy = account.lockingPolicy
            (imported.groups, imported.note) = (account.groups, account.note)
            (imported.iconName, imported.icon) = (account.iconName, icon)
            imported.unknownMembers = account.unknownMembers
        }
    }

    /// Adds a mechanism to its account, and creates the account if needed.
    ///
    /// A second mechanism of the same kind is skipped.
    /// - Parameters:
    ///   - mechanism: The mechanism, which names its account.
    ///   - timeAdded: The time of enrollment; nil when the file has none.
    ///   - assumesSHA1: True when the file does not name the hash function of the codes.
    mutating func add(_ mechanism: Mechanism, timeAdded: Date?, assumesSHA1: Bool = false) {
        var imported = ImportedMechanism(uid: mechanism.uid, kind: mechanism.kind)
        (imported.timeAdded, imported.userID, imported.resourceID) = (timeAdded, mechanism.userID, mechanism.resourceID)
        imported.unknownMembers = mechanism.unknownMembers
        imported.assumesSHA1 = assumesSHA1 && mechanism.oath?.encoding == .decimal
        add(imported, to: mechanism.account)
    }

    mutating func add(_ other: ImportContent) {
        for account in other.accounts {
            if indices[account.id] == nil {
                indices[account.id] = content.accounts.count
                content.accounts.append(account)
            } else {
                describe(account.id) { $0.merge(account) }
                for mechanism in account.mechanisms { add(mechanism, to: account.id, ImportedDetails(account)) }
            }
        }
        content.notifications += other.notifications
        content.skipped += other.skipped
        content.twins += other.twins
        content.leftOut.merge(other.leftOut, uniquingKeysWith: +)
    }

    mutating func add(_ notification: PushNotification) { content.notifications.append(notification) }

    mutating func skip(_ entry: SkippedEntry) { content.skipped.append(entry) }

    mutating func leaveOut(_ name: String, _ isThere: Bool = true) {
        if isThere { content.leftOut[name, default: 0] += 1 }
    }

    private mutating func index(of id: AccountID) -> Int {
        if let index = indices[id] { return index }
        content.accounts.append(ImportedAccount(id: id))
        indices[id] = content.accounts.count - 1
        return content.accounts.count - 1
    }
}

extension SkippedEntry {
    /// Returns the entry for a mechanism whose account already has one of the same kind, with the same or another secret.
    static func occupied(_ id: AccountID, by existing: Mechanism.Kind, offered: Mechanism.Kind, where location: String) -> Self {
        let type = Mechanism.KindName(offered).rawValue
        guard existing.hasSameSecret(as: offered) else {
            return SkippedEntry(
                id.reportName, type: type, .nameTaken,
                "another \(type) secret of this name is \(location) already; keep both with 'signet import --rename', or rename one "
                    + "where it comes from, and import it again")
        }
        return SkippedEntry(id.reportName, type: type, .duplicate, "it is \(location) already; what is there was left as it is")
    }
}
