public import SignetCore
public import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What became of each entry of a file.
public struct ImportReport: Sendable, Hashable {
    /// A mechanism that was taken over.
    public struct Entry: Sendable, Hashable {
        /// Whose it is.
        public let account: AccountID
        /// What it does.
        public let kind: Mechanism.KindName
    }

    /// An account that came with a lock or with policies, which count for all its mechanisms, those that were here before too.
    public struct Restriction: Sendable, Hashable {
        /// Which one.
        public let account: AccountID
        /// The policy that it is locked by since; nil where it came with no lock, or was locked before.
        public let lock: String?
        /// The names of the policies that it did not have before.
        public let policies: [String]
    }

    /// The mechanisms that were taken over, in the order of the file.
    public internal(set) var imported: [Entry] = []
    /// The accounts without any mechanism that were taken over.
    public internal(set) var bareAccounts: [AccountID] = []
    /// The accounts that can be used less than before.
    public internal(set) var restrictions: [Restriction] = []
    /// How many push messages were taken over.
    public internal(set) var notificationCount = 0
    /// What was not taken over, and why.
    public internal(set) var skipped: [SkippedEntry] = []
    /// What entries had besides, which has no place here, by its name, and how often.
    public internal(set) var leftOut: [String: Int] = [:]
}

extension Authenticator {
    /// Stores what a file holds, in one transaction: either everything that the report names as imported is stored, or, when the
    /// store fails, nothing.
    ///
    /// What is there is never changed: a mechanism whose account has one of its kind, or whose id is taken, is skipped and
    /// named, and so no HOTP counter ever goes back. An account that is there keeps its names, and gets the policies it lacks and,
    /// unless it is locked by hand already, the lock of the file.
    /// - Parameters:
    ///   - content: What was read; see ``ImportFormat/read(_:passphrase:policy:)-type.method``.
    ///   - dryRun: Only say what would be stored.
    /// - Throws: What the store throws.
    public func importAccounts(_ content: ImportContent, dryRun: Bool = false) async throws(StoreError) -> ImportReport {
        let now = clock.now
        if dryRun {
            return try await store.read { (records: any AccountReader) throws(StoreError) in
                try ImportPlan(content, now: now, in: records).report
            }
        }
        return try await store.write { (records: any AccountWriter) throws(StoreError) in
            let plan = try ImportPlan(content, now: now, in: records)
            for account in plan.accounts { try records.save(account) }
            for mechanism in plan.mechanisms {
                try records.save(mechanism)
                try AccountRules.noteUntold(mechanism, in: records)
            }
            try records.save(plan.notifications)
            return plan.report
        }
    }
}

/// What an import would write into a store as it is.
struct ImportPlan {
    private(set) var accounts: [Account] = []
    private(set) var mechanisms: [Mechanism] = []
    private(set) var notifications: [PushNotification] = []
    private(set) var report = ImportReport()
    private var uids: Set<String> = []
    private var notificationIDs: Set<String> = []
    private let now: Date
    /// Whether some mechanism here cannot be read; nil where nobody has asked yet.
    private var hasDamagedMechanism: Bool?

    init(_ content: ImportContent, now: Date, in records: any AccountReader) throws(StoreError) {
        self.now = now
        report.skipped = content.skipped
        report.leftOut = content.leftOut
        let existing = Dictionary(grouping: try records.mechanisms(), by: \.account)
        for account in content.accounts { try add(account, beside: existing[account.id] ?? [], in: records) }
        for notification in content.notifications { try add(notification, in: records) }
    }

    // MARK: Accounts and mechanisms

    private mutating func add(
        _ imported: ImportedAccount, beside existing: [Mechanism], in records: any AccountReader
    ) throws(StoreError) {
        let id = imported.id
        guard let known = try Self.whole({ () throws(StoreError) in try records.account(id) }) else {
            for mechanism in imported.mechanisms { skip(.damaged(id.reportName, type: mechanism.kindName.rawValue)) }
            if imported.mechanisms.isEmpty { skip(.damaged(id.reportName, type: "account")) }
            return
        }
        let before = mechanisms.count
        for mechanism in imported.mechanisms {
            if let occupant = existing.first(where: { $0.kindName == mechanism.kindName }) {
                skip(.occupied(id, by: occupant.kind, offered: mechanism.kind, where: "here"))
            } else if mechanism.kindName == .hotp, try mayHoldDamagedMechanism(id, in: records) {
                skip(
                    SkippedEntry(
                        id.reportName, type: "hotp", .damagedRecord,
                        "a record here that cannot be read may be the same counter, which would go back; remove the account "
                            + "first if the file's counter is the newest"))
            } else {
                try add(mechanism, to: id, in: records)
            }
        }
        let isBare = imported.mechanisms.isEmpty
        guard mechanisms.count > before || (isBare && known == nil) else {
            if isBare {
                skip(SkippedEntry(id.reportName, type: "account", .duplicate, "it is here already, and was left as it is"))
            }
            return
        }
        if isBare { report.bareAccounts.append(id) }
        let account = known?.strengthened(by: imported) ?? Account(imported, now: now)
        if account != known { accounts.append(account) }
        if let restriction = ImportReport.Restriction(account, before: known) { report.restrictions.append(restriction) }
    }

    private mutating func add(
        _ imported: ImportedMechanism, to id: AccountID, in records: any AccountReader
    ) throws(StoreError) {
        let type = imported.kindName.rawValue
        if let uid = imported.uid {
            guard let holder = try Self.whole({ () throws(StoreError) in try records.mechanism(uid) }) else {
                return skip(.damaged(id.reportName, type: type))
            }
            guard holder == nil, !uids.contains(uid) else {
                let place = holder.map { "here as \($0.account.reportName)" } ?? "in the file twice"
                return skip(SkippedEntry(id.reportName, type: type, .duplicate, "its id is \(place) already"))
            }
        }
        let mechanism = Mechanism(
            uid: imported.uid ?? RandomID.uuid(), account: id, kind: imported.kind, timeAdded: imported.timeAdded ?? now,
            userID: imported.userID, resourceID: imported.resourceID)
        uids.insert(mechanism.uid)
        mechanisms.append(mechanism)
        report.imported.append(ImportReport.Entry(account: id, kind: mechanism.kindName))
    }

    /// Whether a mechanism of the account cannot be read, or one of which nobody knows whose it is.
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
        guard let records = records as? any RecordBackedReader,
            let uids = try MechanismIndex.uids(of: id, in: records.reader)
        else { return try records.account(id) != nil }
        for uid in uids where try Self.whole({ () throws(StoreError) in try records.mechanism(uid) }) == nil { return true }
        return false
    }

    // MARK: Notifications

    private mutating func add(_ notification: PushNotification, in records: any AccountReader) throws(StoreError) {
        let uid = notification.message.mechanismUID
        if !uids.contains(uid) {
            guard try Self.whole({ () throws(StoreError) in try records.mechanism(uid) }) != .some(nil) else {
                return skip(
                    SkippedEntry(
                        notification.shortName, type: "notification", .orphaned, "its mechanism is neither in the file nor here"))
            }
        }
        guard let known = try Self.whole({ () throws(StoreError) in try records.notification(id: notification.id) }) else {
            return skip(.damaged(notification.shortName, type: "notification"))
        }
        guard known == nil, notificationIDs.insert(notification.id).inserted else {
            return skip(
                SkippedEntry(
                    notification.shortName, type: "notification", .duplicate, "it is here already, and was left as it is"))
        }
        notifications.append(notification)
        report.notificationCount += 1
    }

    private mutating func skip(_ entry: SkippedEntry) { report.skipped.append(entry) }

    /// What a look-up finds; nil when a record is there and cannot be read, so that writing would destroy it.
    private static func whole<Value>(_ lookUp: () throws(StoreError) -> Value?) throws(StoreError) -> Value?? {
        do throws(StoreError) {
            return .some(try lookUp())
        } catch {
            guard error.code == .corrupt || error.code == .keyMismatch else { throw error }
            return nil
        }
    }
}

extension ImportReport.Restriction {
    /// Nil where nothing has come.
    fileprivate init?(_ account: Account, before: Account?) {
        self.account = account.id
        lock = before?.lockingPolicy == nil ? account.lockingPolicy : nil
        policies = account.policies.keys.filter { before?.policies[$0] == nil }.sorted()
        if lock == nil, policies.isEmpty { return nil }
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
    }

    /// With the rules of the file besides its own: a secret must not come under weaker rules than it had.
    fileprivate func strengthened(by imported: ImportedAccount) -> Account {
        var account = self
        account.policies.merge(imported.policies) { own, _ in own }
        account.lockingPolicy = lockingPolicy ?? imported.lockingPolicy
        return account
    }
}
