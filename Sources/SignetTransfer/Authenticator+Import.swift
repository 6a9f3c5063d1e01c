import Foundation
public import SignetAuthenticator
public import SignetCore
public import SignetStorage

/// The result of an import, with the outcome of each entry of the file.
public struct ImportReport: Sendable, Hashable {
    /// A mechanism that was imported.
    public struct Entry: Sendable, Hashable {
        /// The account of the mechanism.
        public let account: AccountID
        /// The kind of the mechanism.
        public let kind: Mechanism.KindName
        /// True when the file does not name the hash function of the codes, so that SHA-1 is assumed.
        ///
        /// Some programs leave out other hash functions too. The codes of such an account are wrong.
        public let assumesSHA1: Bool
        /// True when the codes are those of Steam, which are letters and digits.
        public let isSteam: Bool
        /// The account name in the file; nil when the mechanism was imported under that name.
        public internal(set) var renamedFrom: String?
    }

    /// An account that gets a lock or policies from the file.
    ///
    /// They apply to all mechanisms of the account, including those that existed before.
    public struct Restriction: Sendable, Hashable {
        /// The account.
        public let account: AccountID
        /// The policy by which the account is locked since the import; nil when the file has no lock for it, or when it was
        /// already locked.
        public let lock: String?
        /// The names of the policies that the account did not have before.
        public let policies: [String]
    }

    /// The groups, the note and the icon that an account gets from the file.
    public struct Details: Sendable, Hashable {
        /// The account.
        public let account: AccountID
        /// The groups that the account did not have before.
        public let groups: [String]
        /// True when the account gets a note.
        public let hasNote: Bool
        /// True when the account gets an icon: a picture, or the name of one.
        public let hasIcon: Bool
    }

    /// The imported mechanisms, in the order of the file.
    public internal(set) var imported: [Entry] = []
    /// The accounts that get groups, a note or an icon from the file.
    public internal(set) var details: [Details] = []
    /// The imported accounts without an imported mechanism.
    public internal(set) var bareAccounts: [AccountID] = []
    /// The accounts that are more restricted than before.
    public internal(set) var restrictions: [Restriction] = []
    /// The number of imported push messages.
    public internal(set) var notificationCount = 0
    /// The entries that were not imported, with the reasons.
    public internal(set) var skipped: [SkippedEntry] = []
    /// The number of properties of entries that an import does not support, by the name of the property.
    public internal(set) var leftOut: [String: Int] = [:]
}

extension Authenticator {
    /// Stores the content of a file in one transaction: either everything that the report names as imported is stored, or, when
    /// the store fails, nothing.
    ///
    /// Existing mechanisms are never changed. A mechanism is skipped and reported when its account already has a mechanism of the
    /// same kind, or when its id is in use; therefore no HOTP counter ever moves back. An existing account keeps its names. It
    /// gets the policies and groups that it doesn't have, a note and an icon if it has none and, unless it is already locked
    /// manually, the lock of the file.
    /// - Parameters:
    ///   - content: The content of a file; see ``ImportFormat/read(_:passphrase:policy:)-type.method``.
    ///   - dryRun: True to return the report without storing anything.
    ///   - renamingTwins: True to store a mechanism whose name is taken by another secret under a second account name, `name (2)`
    ///     or the next free number. The second name keeps the policies and the lock of the file. False to skip it.
    /// - Returns: The imported entries, and the skipped ones with the reasons.
    /// - Throws: The errors of the store.
    public func importAccounts(
        _ content: ImportContent, dryRun: Bool = false, renamingTwins: Bool = false
    ) async throws(StoreError) -> ImportReport {
        let now = clock.now
        if dryRun {
            return try await store.read { records throws(StoreError) in
                try ImportPlan(content, renamingTwins: renamingTwins, now: now, in: records).report
            }
        }
        return try await store.write { records throws(StoreError) in
            let plan = try ImportPlan(content, renamingTwins: renamingTwins, now: now, in: records)
            try plan.store(in: records)
            return plan.report
        }
    }
}

/// The changes that an import would make to the current content of a store.
struct ImportPlan {
    private(set) var accounts: [Account] = []
    private(set) var icons: [AccountIcon] = []
    private(set) var mechanisms: [Mechanism] = []
    private(set) var notifications: [PushNotification] = []
    private(set) var report = ImportReport()
    private var uids: Set<String> = []
    private var notificationIDs: Set<String> = []
    private let now: Date
    /// The mechanisms of each account: the stored ones, and those that this import adds.
    private var holders: [AccountID: [Mechanism]]
    /// The mechanisms to add under a second name; nil when they are skipped instead.
    private var twins: [ImportContent.Twin]?
    /// True when any stored mechanism cannot be read; nil before this was determined.
    private var hasDamagedMechanism: Bool?

    init(
        _ content: ImportContent, renamingTwins: Bool, now: Date, in records: any AccountReader
    ) throws(StoreError) {
        self.now = now
        let existing = Dictionary(grouping: try records.mechanisms(), by: \.account)
        holders = existing
        report.skipped = content.skipped
        report.leftOut = content.leftOut
        if renamingTwins {
            twins = content.twins
            report.skipped = Self.entries(content.skipped, without: content.twins.map(\.entry))
        }
        for account in content.accounts { try add(account, beside: existing[account.id] ?? [], in: records) }
        let sources = Dictionary(content.accounts.map { ($0.id, $0) }) { first, _ in first }
        for twin in twins ?? [] { try add(twin, of: sources, in: records) }
        for notification in content.notifications { try add(notification, in: records) }
    }

    /// Returns the entries without those of `others`, each as often as it is in `others`.
    private static func entries(_ entries: [SkippedEntry], without others: [SkippedEntry]) -> [SkippedEntry] {
        var counts = Dictionary(others.map { ($0, 1) }, uniquingKeysWith: +)
        return entries.filter { entry in
            guard let count = counts[entry], count > 0 else { return true }
            counts[entry] = count - 1
            return false
        }
    }

    /// Makes the changes.
    func store(in records: any AccountWriter) throws(StoreError) {
        for icon in icons { try records.save(icon) }
        for account in accounts { try records.save(account) }
        for mechanism in mechanisms {
            try records.save(mechanism)
            try records.markTokenOutstanding(mechanism)
        }
        try records.save(notifications)
    }

    // MARK: Accounts and mechanisms

    private mutating func add(
        _ imported: ImportedAccount, beside existing: [Mechanism], in records: any AccountReader
    ) throws(StoreError) {
        let id = imported.id
        let stored = try RecordLookup { () throws(StoreError) in try records.account(id) }.requiringKnownFormat()
        guard !stored.isUnreadable else {
            for mechanism in imported.mechanisms { skip(.damaged(id.reportName, type: mechanism.kindName.rawValue)) }
            if imported.mechanisms.isEmpty { skip(.damaged(id.reportName, type: "account")) }
            return
        }
        let (known, before) = (stored.value, mechanisms.count)
        for mechanism in imported.mechanisms {
            if let occupant = existing.first(where: { $0.kindName == mechanism.kindName }) {
                let entry = SkippedEntry.occupied(id, by: occupant.kind, offered: mechanism.kind, where: "here")
                if entry.reason == .nameTaken, twins != nil {
                    let details = ImportedDetails(imported)
                    twins?.append(ImportContent.Twin(account: id, mechanism: mechanism, entry: entry, details: details))
                } else {
                    skip(entry)
                }
            } else if mechanism.kindName == .hotp, try mayHoldDamagedMechanism(id, in: records) {
                skip(
                    SkippedEntry(
                        id.reportName, type: "hotp", .damagedRecord,
                        "the vault has a record that cannot be read and may have a newer counter of this account; remove the "
                            + "account first if the file's counter is the newest"))
            } else {
                try add(mechanism, to: id, in: records)
            }
        }
        let isBare = imported.mechanisms.isEmpty
        // The record of the account was lost when mechanisms here name it.
        guard mechanisms.count > before || (known == nil && (isBare || !existing.isEmpty)) else {
            if isBare {
                skip(SkippedEntry(id.reportName, type: "account", .duplicate, "it is here already, and was left as it is"))
            }
            return
        }
        if mechanisms.count == before { report.bareAccounts.append(id) }
        let account = known?.strengthened(by: imported) ?? Account(imported, now: now)
        if account != known { accounts.append(account) }
        if let icon = imported.icon, account.iconID == icon.id, known?.iconID != icon.id { icons.append(icon) }
        if let restriction = ImportReport.Restriction(account, before: known) { report.restrictions.append(restriction) }
        if let details = ImportReport.Details(account, before: known) { report.details.append(details) }
    }

    private mutating func add(
        _ imported: ImportedMechanism, to id: AccountID, in records: any AccountReader
    ) throws(StoreError) {
        let type = imported.kindName.rawValue
        if let uid = imported.uid {
            let holder = try RecordLookup { () throws(StoreError) in try records.mechanism(uid) }.requiringKnownFormat()
            guard !holder.isUnreadable else { return skip(.damaged(id.reportName, type: type)) }
            guard holder.isAbsent, !uids.contains(uid) else {
                let location = holder.value.map { "here as \($0.account.reportName)" } ?? "in the file twice"
                return skip(SkippedEntry(id.reportName, type: type, .duplicate, "its id is \(location) already"))
            }
        }
        var mechanism = Mechanism(
            uid: imported.uid ?? RandomID.uuid(), account: id, kind: imported.kind, timeAdded: imported.timeAdded ?? now,
            userID: imported.userID, resourceID: imported.resourceID)
        mechanism.unknownMembers = imported.unknownMembers
        uids.insert(mechanism.uid)
        mechanisms.append(mechanism)
        holders[id, default: []].append(mechanism)
        report.imported.append(
            ImportReport.Entry(
                account: id, kind: mechanism.kindName, assumesSHA1: imported.assumesSHA1,
                isSteam: mechanism.oath?.encoding == .steam))
    }

    /// Adds a mechanism whose name is taken under the first free one of `name (2)`, `name (3)` and so on.
    ///
    /// A mechanism that an earlier import stored under such a name is a duplicate.
    private mutating func add(
        _ twin: ImportContent.Twin, of sources: [AccountID: ImportedAccount], in records: any AccountReader
    ) throws(StoreError) {
        for id in twin.account.alternatives {
            let held = holders[id] ?? []
            if let holder = held.first(where: { $0.kind.hasSameSecret(as: twin.mechanism.kind) }) {
                let location = uids.contains(holder.uid) ? "in the file" : "here"
                return skip(.occupied(id, by: holder.kind, offered: twin.mechanism.kind, where: location))
            }
            guard held.isEmpty, sources[id] == nil else { continue }
            let stored = try RecordLookup { () throws(StoreError) in try records.account(id) }.requiringKnownFormat()
            guard stored.isAbsent else { continue }
            var account = ImportedAccount(id: id)
            if let source = sources[twin.account] { account.merge(source) }
            account.displayAccountName = nil
            account.replaceDetails(with: twin.details)
            account.mechanisms = [twin.mechanism]
            let count = report.imported.count
            try add(account, beside: [], in: records)
            if report.imported.count > count { report.imported[count].renamedFrom = twin.account.accountName }
            return
        }
        skip(twin.entry)
    }

    /// Returns true when a mechanism of the account may be among the records that cannot be read: the account's index names such
    /// a record, or the index itself is missing or cannot be read.
    private mutating func mayHoldDamagedMechanism(
        _ id: AccountID, in records: any AccountReader
    ) throws(StoreError) -> Bool {
        let isPossible: Bool
        if let hasDamagedMechanism {
            isPossible = hasDamagedMechanism
        } else {
            isPossible = try records.damagedRecords().contains { $0.kind == .mechanism }
            hasDamagedMechanism = isPossible
        }
        guard isPossible else { return false }
        guard let uids = try records.indexedMechanisms(of: id) else { return try records.account(id) != nil }
        for uid in uids where try RecordLookup({ () throws(StoreError) in try records.mechanism(uid) }).isUnreadable {
            return true
        }
        return false
    }

    // MARK: Notifications

    private mutating func add(_ notification: PushNotification, in records: any AccountReader) throws(StoreError) {
        let uid = notification.message.mechanismUID
        if !uids.contains(uid) {
            guard try !RecordLookup({ () throws(StoreError) in try records.mechanism(uid) }).isAbsent else {
                return skip(
                    SkippedEntry(
                        notification.shortName, type: "notification", .orphaned, "its mechanism is neither in the file nor here"))
            }
        }
        let stored = try RecordLookup { () throws(StoreError) in try records.notification(id: notification.id) }
            .requiringKnownFormat()
        guard !stored.isUnreadable else { return skip(.damaged(notification.shortName, type: "notification")) }
        guard stored.isAbsent, notificationIDs.insert(notification.id).inserted else {
            return skip(
                SkippedEntry(
                    notification.shortName, type: "notification", .duplicate, "it is here already, and was left as it is"))
        }
        notifications.append(notification)
        report.notificationCount += 1
    }

    private mutating func skip(_ entry: SkippedEntry) { report.skipped.append(entry) }
}

extension ImportReport.Restriction {
    /// Creates the restriction between two states of an account.
    ///
    /// Returns nil when the account has no new lock or policy.
    fileprivate init?(_ account: Account, before: Account?) {
        self.account = account.id
        lock = before?.lockingPolicy == nil ? account.lockingPolicy : nil
        policies = account.policies.keys.filter { before?.policies[$0] == nil }.sorted()
        if lock == nil, policies.isEmpty { return nil }
    }
}

extension ImportReport.Details {
    /// Creates the details that an account did not have before.
    ///
    /// Returns nil for an account without any.
    fileprivate init?(_ account: Account, before: Account?) {
        self.account = account.id
        groups = account.groups.filter { before?.groups.contains($0) != true }
        hasNote = account.note != nil && before?.note == nil
        hasIcon =
            (account.iconID != nil || account.iconName != nil) && before?.iconID == nil && before?.iconName == nil
        if groups.isEmpty, !hasNote, !hasIcon { return nil }
    }
}

extension PushNotification {
    fileprivate var shortName: String { "message \(id.prefix(8))" }
}

extension SkippedEntry {
    fileprivate static func damaged(_ name: String, type: String) -> SkippedEntry {
        SkippedEntry(
            name, type: type, .damagedRecord, "there is a record in its place that cannot be read; it was left as it is")
    }
}

extension Account {
    fileprivate init(_ imported: ImportedAccount, now: Date) {
        self.init(
            id: imported.id, displayIssuer: imported.displayIssuer, displayAccountName: imported.displayAccountName,
            imageURL: imported.imageURL, backgroundColor: imported.backgroundColor, timeAdded: imported.timeAdded ?? now,
            policies: imported.policies, lockingPolicy: imported.lockingPolicy)
        (groups, note) = (imported.groups, imported.note)
        (iconName, iconID) = (imported.iconName, imported.icon?.id)
        unknownMembers = imported.unknownMembers
    }

    /// Returns the account with the policies, the lock, the groups, the note and the icon of the file in addition to its own.
    ///
    /// An imported secret must not become usable under weaker rules than it had.
    fileprivate func strengthened(by imported: ImportedAccount) -> Account {
        var account = self
        account.policies.merge(imported.policies) { own, _ in own }
        account.lockingPolicy = lockingPolicy ?? imported.lockingPolicy
        account.groups += imported.groups.filter { !groups.contains($0) }
        account.note = note ?? imported.note
        if iconID == nil, iconName == nil { (account.iconName, account.iconID) = (imported.iconName, imported.icon?.id) }
        return account
    }
}
