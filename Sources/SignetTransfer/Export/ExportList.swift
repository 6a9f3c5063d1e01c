import SignetAuthenticator
import SignetCore
import SignetStorage

/// The one-time-code mechanisms that are exported, and the entries that are not, with the reasons.
struct ExportList {
    /// A mechanism with its account.
    struct Entry {
        let account: Account
        let mechanism: Mechanism
        let settings: OATHSettings
    }

    private(set) var entries: [Entry] = []
    private(set) var skipped: [SkippedEntry] = []

    /// Gathers the mechanisms of accounts.
    /// - Parameters:
    ///   - authenticator: The authenticator with the accounts.
    ///   - ids: The accounts to export; nil for all.
    ///   - format: The format that must have a place for each mechanism.
    /// - Throws: `StoreError`.
    init(of authenticator: Authenticator, ids: Set<AccountID>?, as format: ExportFormat) async throws {
        for enrolled in try await authenticator.accounts() where ids?.contains(enrolled.account.id) ?? true {
            for mechanism in enrolled.mechanisms { add(mechanism, of: enrolled, as: format) }
        }
        for record in try await authenticator.damagedRecords() where record.kind == .account || record.kind == .mechanism {
            skipped.append(
                SkippedEntry(
                    "a record", type: record.kind.rawValue, .damagedRecord,
                    "it cannot be read, and what belongs to it is not in the list; it was left as it is"))
        }
    }

    private mutating func add(_ mechanism: Mechanism, of enrolled: EnrolledAccount, as format: ExportFormat) {
        let id = enrolled.account.id
        func skip(_ reason: SkippedEntry.Reason, _ detail: String) {
            skipped.append(SkippedEntry(id.reportName, type: mechanism.kindName.rawValue, reason, detail))
        }
        guard let settings = mechanism.oath else { return skip(.notExpressible, format.pushRefusal) }
        if let refusal = format.refusal(of: settings) { return skip(.notExpressible, refusal) }
        guard enrolled.lock == nil else { return skip(.locked, "its account is locked") }
        entries.append(Entry(account: enrolled.account, mechanism: mechanism, settings: settings))
    }

    /// The accounts of the exported mechanisms, each once.
    var accounts: [Account] {
        var known: Set<AccountID> = []
        return entries.map(\.account).filter { known.insert($0.id).inserted }
    }

    /// Returns the number of accounts with each property that a format does not have.
    func leftOut(in format: ExportFormat) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for account in accounts {
            var names: [String] = []
            if account.displayIssuer != nil || account.displayAccountName != nil { names.append("display name") }
            if account.iconName != nil || account.iconID != nil { names.append("icon") }
            if format == .otpauth {
                if account.note != nil { names.append("note") }
                if !account.groups.isEmpty { names.append("group") }
            } else {
                if account.imageURL != nil { names.append("image") }
                if account.backgroundColor != nil { names.append("color") }
                if !account.policies.isEmpty { names.append("policy") }
            }
            for name in names { numbers[name, default: 0] += 1 }
        }
        return numbers
    }
}
