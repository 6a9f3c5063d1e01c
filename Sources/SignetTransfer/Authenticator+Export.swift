public import SignetAuthenticator
public import SignetCore
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

/// One-time-code mechanisms in a file for another program.
///
/// `Authenticator.exportFile(as:of:passphrase:)` creates it.
public struct FileExport: Sendable {
    /// The bytes of the file, which contain the secrets unless they are encrypted.
    public let content: Secret
    /// The number of mechanisms in the file.
    public let count: Int
    /// The mechanisms that are not exported: those that the format cannot represent, those of locked accounts, and records that
    /// cannot be read.
    public let skipped: [SkippedEntry]
    /// The number of properties of exported accounts that the format cannot represent, by the name of the property.
    public let leftOut: [String: Int]

    /// The number of records that cannot be read.
    ///
    /// A number above 0 shows that the file is incomplete.
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

    /// Returns the one-time-code mechanisms of all accounts as `otpauth` URIs.
    ///
    /// Push mechanisms cannot be exported, because a URI has no place for the data by which the server knows the device.
    /// Mechanisms of locked accounts are not exported.
    public func otpauthURIs() async throws -> URIExport { try await otpauthURIs(of: nil) }

    private func otpauthURIs(of ids: Set<AccountID>?) async throws -> URIExport {
        let list = try await ExportList(of: self, ids: ids, as: .otpauth)
        let uris = list.entries.map { entry in
            EnrollmentURI.printListed(
                Enrollment(
                    account: entry.account.id, oath: entry.settings, oathResourceID: entry.mechanism.resourceID,
                    userID: entry.mechanism.userID, imageURL: entry.account.imageURL,
                    backgroundColor: entry.account.backgroundColor, policies: entry.account.policies))
        }
        return URIExport(uris: uris, skipped: list.skipped, leftOut: list.leftOut(in: .otpauth))
    }

    /// Returns one-time-code mechanisms in a file for another program.
    ///
    /// Push mechanisms, those of locked accounts, and those that the format cannot represent are not exported; the result has them
    /// with the reasons.
    /// - Parameters:
    ///   - format: The format of the file.
    ///   - ids: The accounts to export; nil for all.
    ///   - passphrase: The passphrase that encrypts the file, for a format that can be encrypted; nil for a file with the secrets
    ///     in plain text. Programs for mobile devices take passphrases of printable characters.
    /// - Returns: The file. It has no mechanisms when none can be exported.
    /// - Throws: `StoreError`, with `invalid` for an empty passphrase, and for a passphrase with a format that cannot be encrypted.
    public func exportFile(
        as format: ExportFormat, of ids: Set<AccountID>? = nil, passphrase: Secret? = nil
    ) async throws -> FileExport {
        guard passphrase == nil || format.canBeEncrypted else {
            throw StoreError(.invalid, "export", "a file of the format \(format.rawValue) cannot be encrypted")
        }
        if format == .otpauth {
            let list = try await otpauthURIs(of: ids)
            let text = list.uris.map { $0 + "\n" }.joined()
            return FileExport(content: Secret(text.utf8), count: list.uris.count, skipped: list.skipped, leftOut: list.leftOut)
        }
        let list = try await ExportList(of: self, ids: ids, as: format)
        let bytes: [UInt8]
        if format == .aegis {
            bytes = try AegisWriter.file(of: list.entries, passphrase: passphrase)
        } else {
            bytes = CXFWriter.file(of: list.entries, now: clock.now)
        }
        return FileExport(
            content: Secret(bytes), count: list.entries.count, skipped: list.skipped, leftOut: list.leftOut(in: format))
    }
}
