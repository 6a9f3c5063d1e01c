import SignetCore
public import SignetStorage

/// Accounts as `otpauth` URIs, which every other authenticator reads. They hold the secrets in clear.
public struct URIExport: Sendable {
    /// The URIs.
    public let uris: [String]
    /// What the format has no place for, what must not leave a lock, and what cannot be read.
    public let skipped: [SkippedEntry]
    /// What accounts of the list have besides, which the format has no place for, by its name, and how often.
    public let leftOut: [String: Int]

    /// How many records cannot be read, so that nobody takes the list for a whole one.
    public var damagedCount: Int { skipped.count { $0.reason == .damagedRecord } }
}

extension Authenticator {
    /// Everything here, to be sealed as a backup.
    /// - Parameters:
    ///   - includingNotifications: Whether push messages that came are kept.
    ///   - skippingDamaged: Go on without the records that cannot be read.
    /// - Throws: `StoreError` with `corrupt` when there are such records, unless they are skipped: a backup without them must
    ///   not pass for a whole one.
    public func archive(
        includingNotifications: Bool = false, skippingDamaged: Bool = false
    ) async throws(StoreError) -> AccountArchive {
        let now = clock.now
        return try await store.read { (records: any AccountReader) throws(StoreError) in
            let damaged = try records.damagedRecords()
            guard skippingDamaged || damaged.isEmpty else {
                throw StoreError(
                    .corrupt, "make backup", "\(damaged.count) records cannot be read; a backup without them must be asked for")
            }
            return AccountArchive(
                accounts: try records.accounts(), mechanisms: try records.mechanisms(),
                notifications: includingNotifications ? try records.notifications() : [], createdAt: now)
        }
    }

    /// The one-time-code mechanisms as `otpauth` URIs. Push mechanisms cannot be among them, since a server knows its device by
    /// what no URI has; and what is locked is not given out.
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
                    EnrollmentURI.print(
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
