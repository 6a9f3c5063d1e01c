public import SignetAuthenticator
import SignetCore
public import SignetStorage

/// Accounts as `otpauth` URIs, which other authenticators can read.
///
/// The URIs contain the secrets in plain text.
public struct URIExport: Sendable {
    /// The URIs.
    public let uris: [String]
    /// The mechanisms that are not exported: those that the format cannot represent, those of locked accounts, and records that
    /// cannot be read.
    public let skipped: [SkippedEntry]
    /// The number of properties of exported accounts that the format cannot represent, by the name of the property.
    public let leftOut: [String: Int]

    /// The number of records that cannot be read.
    ///
    /// A number above 0 shows that the list is incomplete.
    public var damagedCount: Int { skipped.count { $0.reason == .damagedRecord } }
}

extension Authenticator {
    /// Returns an archive of all data, to be sealed as a backup.
    /// - Parameters:
    ///   - includingNotifications: True to include the push messages.
    ///   - skippingDamaged: True to leave out the records that cannot be read.
    /// - Returns: An archive with all accounts and mechanisms, and the current time.
    /// - Throws: `StoreError` with `corrupt` when there are such records and they are not to be skipped, because an incomplete
    ///   backup must not be mistaken for a complete one.
    public func archive(
        includingNotifications: Bool = false, skippingDamaged: Bool = false
    ) async throws(StoreError) -> AccountArchive {
        let now = clock.now
        return try await store.read { records throws(StoreError) in
            let damaged = try records.damagedRecords()
            guard skippingDamaged || damaged.isEmpty else {
                throw StoreError(
                    .corrupt, "make backup",
                    "\(damaged.count) records cannot be read; only a backup with skippingDamaged (--skip-damaged) leaves them out"
                )
            }
            let accounts = try records.accounts()
            var archive = AccountArchive(
                accounts: accounts, mechanisms: try records.mechanisms(),
                notifications: includingNotifications ? try records.notifications() : [], createdAt: now)
            for id in Set(accounts.compactMap(\.iconID)).sorted() {
                if let icon = try records.icon(id) { archive.icons.append(icon) }
            }
            return archive
        }
    }

    /// Returns the one-time-code mechanisms as `otpauth` URIs.
    ///
    /// Push mechanisms cannot be exported, because a URI has no place for the data by which the server knows the device.
    /// Mechanisms of locked accounts are not exported.
    public func otpauthURIs() async throws -> URIExport {
        var uris: [String] = []
        var skipped: [SkippedEntry] = []
        var leftOut: [String: Int] = [:]
        for enrolled in try await accounts() {
            let id = enrolled.account.id
            let before = uris.count
            for mechanism in enrolled.mechanisms {
                let type = mechanism.kindName.rawValue
                guard let oath = mechanism.oath else {
                    skipped.append(
                        SkippedEntry(
                            id.reportName, type: type, .notExpressible,
                            "a list of URIs has no place for push; 'signet backup create' takes everything"))
                    continue
                }
                guard enrolled.lock == nil else {
                    skipped.append(SkippedEntry(id.reportName, type: type, .locked, "its account is locked"))
                    continue
                }
                uris.append(
                    EnrollmentURI.printListed(
                        Enrollment(
                            account: id, oath: oath, oathResourceID: mechanism.resourceID, userID: mechanism.userID,
                            imageURL: enrolled.account.imageURL, backgroundColor: enrolled.account.backgroundColor,
                            policies: enrolled.account.policies)))
            }
            if uris.count > before, enrolled.account.displayIssuer != nil || enrolled.account.displayAccountName != nil {
                leftOut["display name", default: 0] += 1
            }
        }
        for record in try await damagedRecords() where record.kind == .account || record.kind == .mechanism {
            skipped.append(
                SkippedEntry(
                    "a record", type: record.kind.rawValue, .damagedRecord,
                    "it cannot be read, and what belongs to it is not in the list; it was left as it is"))
        }
        return URIExport(uris: uris, skipped: skipped, leftOut: leftOut)
    }
}
