public import Foundation
import SignetAuthenticator
public import SignetCore
public import SignetStorage

/// A reader of the accounts that the ForgeRock SDK for iOS and Ping's modules stored for the same app.
///
/// It reads the accounts, mechanisms and notifications of FRAuthenticator, the credentials of PingOath, and the credentials and
/// notifications of PingPush, each in its default place. It changes nothing.
///
///     let content = try LegacyAccounts.read(LegacyArchive(bytes))
///     let report = try await authenticator.importAccounts(content)
public enum LegacyAccounts {
    static let forgeRockService = "com.forgerock.ios.authenticator.keychainservice.local"

    /// Reads all accounts.
    /// - Parameters:
    ///   - store: The keychain or the archive.
    ///   - policy: The rule for acceptable push endpoints.
    /// - Returns: The valid entries, and in ``ImportContent/skipped`` the damaged ones with the reasons. An account whose own
    ///   record is damaged is skipped with its mechanisms, because its lock and its policies are unknown.
    /// - Throws: The errors of the store.
    public static func read(
        _ store: any LegacyStore, policy: EndpointPolicy = .secure
    ) throws(StoreError) -> ImportContent {
        var forgeRock = ImportBuilder()
        try readForgeRock(store, policy: policy, into: &forgeRock)
        var ping = ImportBuilder()
        try PingRecords.read(store, policy: policy, into: &ping)
        return ImportContent.combined([forgeRock.content, ping.content])
    }

    /// The record that says that the accounts were taken over.
    ///
    /// No item of a storage has a name of two parts.
    private static let mark = RecordKey(.item, "signet", "taken over accounts")

    /// Stores all accounts of another SDK in a vault, once.
    ///
    /// All of them are stored in one transaction, and a record remembers that. Afterwards, a call does nothing, so that an account
    /// that was removed since does not come back. What is in the vault already stays as it is, and so does what is in `source`.
    /// - Parameters:
    ///   - source: The keychain or the archive.
    ///   - records: The vault.
    ///   - policy: The rule for acceptable push endpoints.
    ///   - now: The time of accounts without one.
    /// - Returns: The imported entries, and the skipped ones with the reasons; nil when there is nothing to take over, or when it
    ///   was taken over before.
    /// - Throws: The errors of both stores. Nothing was stored then, and the next call tries again.
    @discardableResult
    public static func takeOver(
        from source: any LegacyStore, into records: any RecordStore, policy: EndpointPolicy = .secure, now: Date
    ) throws(StoreError) -> ImportReport? {
        guard try records.read({ records throws(StoreError) in try records.record(mark) }) == nil else { return nil }
        let content = try read(source, policy: policy)
        guard content != ImportContent() else { return nil }
        let report = try AccountRecords(unsealed: records).write { records throws(StoreError) in
            let plan = try ImportPlan(content, renamingTwins: false, now: now, in: records)
            try plan.store(in: records)
            return plan.report
        }
        // If the process ends before this, the next call finds everything stored.
        try records.write { records throws(StoreError) in try records.put(Array("\(report.imported.count)".utf8), mark) }
        return report
    }

    /// Stores all accounts of another SDK in a keychain, once; see ``takeOver(from:into:policy:now:)``.
    package static func takeOver(
        from source: any LegacyStore, into keychain: VaultProvider, policy: EndpointPolicy = .secure, now: Date
    ) async throws(StoreError) -> ImportReport? {
        let records = try await keychain.store()
        return try await Blocking.run { () throws(StoreError) in
            try takeOver(from: source, into: records, policy: policy, now: now)
        }
    }

    private static func readForgeRock(
        _ store: any LegacyStore, policy: EndpointPolicy, into builder: inout ImportBuilder
    ) throws(StoreError) {
        var records: [LegacySDKFile.Record] = []
        var damagedAccounts: Set<String> = []
        for type in ["account", "mechanism", "notification", "pushDeviceToken"] {
            let items = try store.items(of: "\(forgeRockService).\(type)", sealedBy: .forgeRockAuthenticator)
            guard items.count <= ImportFormat.maxEntries else {
                throw StoreError(.invalid, "take over accounts", "more than \(ImportFormat.maxEntries) items of one kind")
            }
            for item in items {
                do throws(ArchiveError) {
                    records.append(try record(item, type))
                } catch {
                    if type == "account" { damagedAccounts.insert(item.name) }
                    builder.skip(
                        SkippedEntry("item of the ForgeRock SDK", type: type, .invalid, "it is damaged (\(error.description))"))
                }
            }
        }
        // The name of an account's item is its issuer and its name, joined by a hyphen.
        for case .mechanism(let members) in records {
            guard let id = try? AccountID(forgeRock: members), damagedAccounts.contains("\(id.issuer)-\(id.accountName)")
            else { continue }
            builder.refuse(id)
        }
        LegacySDKFile.add(records, policy: policy, to: &builder)
    }

    private static func record(_ item: LegacyItem, _ type: String) throws(ArchiveError) -> LegacySDKFile.Record {
        guard let content = item.content else { throw ArchiveError("item", "the SDK's key does not decrypt it") }
        guard let root = try KeyedArchive(Array(content)).roots().first, let object = root else {
            throw ArchiveError("root", "it is not an object")
        }
        let record = try LegacySDKFile.Record(object)
        switch (record, type) {
        case (.account, "account"), (.mechanism, "mechanism"), (.notification, "notification"),
            (.deviceToken, "pushDeviceToken"):
            return record
        default: throw ArchiveError("root", "it is an object of another class")
        }
    }
}

/// A file with exported keychain items, or with a single keyed archive.
enum KeychainItemsFile {
    private static let format = ImportFormat.keychain

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        do throws(ArchiveError) {
            let list = try BinaryPropertyList.value(of: bytes)
            if KeyedArchive.isOne(list) { return try read(try KeyedArchive(list), policy: policy) }
            let archive = try LegacyArchive(list: list)
            guard !archive.services.isDisjoint(with: knownServices) else {
                throw ArchiveError("file", "it holds no account, mechanism or notification of a known SDK")
            }
            return try read(archive, policy: policy)
        } catch {
            throw ImportError(.malformed, format, error.part, error.reason)
        }
    }

    private static func read(_ archive: LegacyArchive, policy: EndpointPolicy) throws(ArchiveError) -> ImportContent {
        do throws(StoreError) {
            return try LegacyAccounts.read(archive, policy: policy)
        } catch {
            throw ArchiveError("items", error.reason)
        }
    }

    private static func read(_ archive: KeyedArchive, policy: EndpointPolicy) throws(ArchiveError) -> ImportContent {
        var (builder, records) = (ImportBuilder(), [LegacySDKFile.Record]())
        for root in try archive.roots() {
            guard let root else {
                records.append(.unknown("it is not an object"))
                continue
            }
            do throws(ArchiveError) {
                records.append(try LegacySDKFile.Record(root))
            } catch {
                // A damaged account may be the lock of any mechanism of the archive, so nothing of the archive is imported.
                guard root.className != "Account" else { throw error }
                records.append(.unknown("it is damaged (\(error.description))"))
            }
        }
        guard records.contains(where: \.isKnown) else {
            throw ArchiveError("root", "it holds no account, mechanism or notification of the ForgeRock SDK")
        }
        LegacySDKFile.add(records, policy: policy, to: &builder)
        return builder.content
    }

    private static let knownServices = Set(
        ["account", "mechanism", "notification"].map { "\(LegacyAccounts.forgeRockService).\($0)" } + PingRecords.services)
}
