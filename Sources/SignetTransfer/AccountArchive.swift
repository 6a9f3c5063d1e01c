public import Foundation
import SignetAuthenticator
public import SignetCore
public import SignetStorage

/// A backup: all data of the accounts, encrypted with a passphrase (docs/reference/archive-format.md).
///
/// `Authenticator.archive(includingNotifications:skippingDamaged:)` creates one, ``sealed(with:cost:)`` returns its bytes, and
/// ``init(opening:with:)`` decrypts them. `Authenticator.importAccounts(_:dryRun:renamingTwins:)` imports
/// ``content``.
public struct AccountArchive: Sendable, Hashable {
    /// All accounts.
    public var accounts: [Account]
    /// All mechanisms, including push.
    public var mechanisms: [Mechanism]
    /// The push messages, if they were included.
    public var notifications: [PushNotification]
    /// The pictures that the accounts name.
    public var icons: [AccountIcon] = []
    /// The time at which the archive was created.
    public let createdAt: Date
    /// The entries of an opened archive that cannot be read.
    public private(set) var skipped: [SkippedEntry] = []

    /// The version of the format that is written, and the newest version that can be read.
    public static let currentVersion = 1
    /// The maximum size of an archive in bytes.
    public static let maxLength = 256 << 20

    /// Creates an archive of these values, without pictures.
    public init(accounts: [Account], mechanisms: [Mechanism], notifications: [PushNotification] = [], createdAt: Date) {
        self.accounts = accounts
        self.mechanisms = mechanisms
        self.notifications = notifications
        self.createdAt = createdAt
    }

    /// Returns true when the bytes begin like an archive.
    public static func isArchive(_ bytes: [UInt8]) -> Bool { bytes.starts(with: ArchiveHeader.magic) }

    /// Returns the bytes of an archive file, encrypted with a passphrase and new random values.
    /// - Parameters:
    ///   - passphrase: The passphrase that opens the archive. UTF-8 text is converted to Unicode's composed form.
    ///   - cost: The cost of computing the key from the passphrase.
    /// - Returns: The header, then the nonce, the ciphertext and the tag.
    /// - Throws: `StoreError` with `invalid` when the passphrase is empty or the archive would be larger than ``maxLength``, with
    ///   `failed` when there is not enough memory.
    public func sealed(with passphrase: Secret, cost: ScryptCost = .default) throws(StoreError) -> [UInt8] {
        guard passphrase.count > 0 else {
            throw StoreError(.invalid, "make backup", "the passphrase is empty; an empty one protects nothing")
        }
        let content = JSON.encode(.object(members))
        guard content.count <= Self.maxLength - ArchiveHeader.overhead else {
            throw StoreError(
                .invalid, "make backup", "it would be longer than \(Self.maxLength >> 20) MiB; leave out the notifications")
        }
        let salt = Secret.random(byteCount: ArchiveHeader.saltLength).bytes
        let keys = try ArchiveKeys(passphrase, salt: salt, cost: cost, operation: "make backup")
        let header = ArchiveHeader(cost: cost, salt: salt, contentLength: content.count, check: keys.check)
        return try header.bytes + Sealing.seal(content, with: keys.content, context: header.bytes)
    }

    /// Opens the bytes of an archive file.
    /// - Throws: ``ImportError``: ``ImportError/Code/malformed`` when the bytes are not an archive;
    ///   ``ImportError/Code/newerVersion``; ``ImportError/Code/damaged`` when the file was truncated or changed;
    ///   ``ImportError/Code/passphraseNeeded``; ``ImportError/Code/wrongPassphrase``; ``ImportError/Code/tooCostly`` when the
    ///   cost is out of bounds, before anything is computed, or when there is not enough memory.
    public init(opening bytes: [UInt8], with passphrase: Secret?) throws(ImportError) {
        let header = try ArchiveHeader(bytes)
        let passphrase = try ImportFormat.signet.needed(passphrase)
        let keys: ArchiveKeys
        do throws(StoreError) {
            keys = try ArchiveKeys(passphrase, salt: header.salt, cost: header.cost, operation: "open backup")
        } catch {
            throw ImportError(.tooCostly, .signet, "header", error.reason)
        }
        guard ConstantTime.areEqual(keys.check, header.check) else {
            throw ImportFormat.signet.wrongPassphrase("header")
        }
        let sealed = bytes[ArchiveHeader.length...]
        guard let content = Sealing.open(sealed, with: keys.content, context: header.bytes) else {
            throw ImportError(.damaged, .signet, "content", "it was changed since it was written; nothing of it can be trusted")
        }
        try self.init(members: JSONMembers(ImportFormat.signet.json(content, part: "content").object ?? [:]))
    }

    /// The content to import, with the policy `EndpointPolicy.secure` for push endpoints.
    public var content: ImportContent { content(policy: .secure) }

    /// Returns the content to import.
    ///
    /// Encryption does not make the content trusted: names, ids and addresses must satisfy the rules for enrollment URIs, and
    /// entries that don't are skipped.
    /// - Parameter policy: The rule for acceptable push endpoints.
    /// - Returns: The valid entries, and the skipped ones with the reasons.
    public func content(policy: EndpointPolicy) -> ImportContent {
        var builder = ImportBuilder()
        var known: Set<AccountID> = []
        let pictures = Dictionary(icons.map { ($0.id, $0) }) { first, _ in first }
        for account in accounts {
            guard account.isSafeToShow else {
                builder.refuse(account.id)
                builder.skip(.unsafe(account.id, type: "account"))
                continue
            }
            known.insert(account.id)
            let icon = account.iconID.flatMap { pictures[$0] }
            builder.leaveOut("icon", account.iconID != nil && icon == nil)
            builder.add(account, timeAdded: account.timeAdded, icon: icon)
        }
        for mechanism in mechanisms {
            if !known.contains(mechanism.account) { builder.refuse(mechanism.account) }
            if let fault = mechanism.fault(under: policy) {
                builder.skip(fault)
                continue
            }
            builder.add(mechanism, timeAdded: mechanism.timeAdded)
        }
        for notification in notifications {
            if notification.messageID.isSafeToShow {
                builder.add(notification)
            } else {
                builder.skip(SkippedEntry("notification", type: "notification", .invalid, SkippedEntry.unsafeText))
            }
        }
        for entry in skipped { builder.skip(entry) }
        return builder.content
    }
}

extension Account {
    /// True when all texts of the account are safe to show.
    var isSafeToShow: Bool {
        let texts = [
            id.issuer, id.accountName, displayIssuer, displayAccountName, imageURL, backgroundColor, lockingPolicy, iconName,
        ]
        return texts.allSatisfy { $0?.isSafeToShow ?? true } && groups.allSatisfy { $0.isSafeToShow }
    }
}

extension Mechanism {
    /// Returns the reason why the mechanism cannot be imported; nil when it can.
    fileprivate func fault(under policy: EndpointPolicy) -> SkippedEntry? {
        let type = kindName.rawValue
        guard [uid, userID, resourceID, push?.platform].allSatisfy({ $0?.isSafeToShow ?? true }) else {
            return .unsafe(account, type: type)
        }
        guard let push else { return nil }
        let endpoints = [push.registrationEndpoint, push.authenticationEndpoint, push.streamEndpoint, push.gatewayEndpoint]
        for endpoint in endpoints.compactMap({ $0 }) {
            do {
                _ = try Endpoint(endpoint.url, policy: policy)
            } catch {
                return SkippedEntry(account.reportName, type: type, .invalid, "endpoint: \(error.description)")
            }
        }
        return nil
    }
}

extension SkippedEntry {
    fileprivate static let unsafeText = "a text of it contains control characters or changes the direction of the text"

    fileprivate static func unsafe(_ id: AccountID, type: String) -> SkippedEntry {
        SkippedEntry(id.reportName, type: type, .invalid, unsafeText)
    }
}

// MARK: The content

extension AccountArchive {
    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "createdAt": .number(createdAt.timeIntervalSinceReferenceDate),
            "accounts": .array(accounts.map { .object($0.storedMembers) }),
            "mechanisms": .array(mechanisms.map { .object($0.storedMembers) }),
            "notifications": .array(notifications.map { .object($0.storedMembers) }),
        ]
        if !icons.isEmpty { members["icons"] = .array(icons.map { .object($0.storedMembers) }) }
        return members
    }

    private init(members: JSONMembers) throws(ImportError) {
        guard let seconds = try? members.number("createdAt") else {
            throw ImportFormat.signet.malformed("content", "createdAt is missing")
        }
        self.init(accounts: [], mechanisms: [], createdAt: Date(timeIntervalSinceReferenceDate: seconds))
        accounts = try values(Account.self, members, "accounts", type: "account")
        mechanisms = try values(Mechanism.self, members, "mechanisms", type: "mechanism")
        notifications = try values(PushNotification.self, members, "notifications", type: "notification")
        // Archives of version 0.1.0 have no pictures.
        if members["icons"] != nil { icons = try values(AccountIcon.self, members, "icons", type: "icon") }
    }

    /// Decodes the values of a list.
    ///
    /// Values that cannot be read are added to ``skipped``.
    private mutating func values<Value: StoredForm>(
        _ type: Value.Type, _ members: JSONMembers, _ name: String, type shown: String
    ) throws(ImportError) -> [Value] {
        guard let elements = members[name]?.array else { throw ImportFormat.signet.malformed("content", "\(name) is missing") }
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            do {
                guard let members = element.object else { throw UndecodableRecord() }
                values.append(try Value(stored: JSONMembers(members)))
            } catch {
                skipped.append(
                    SkippedEntry(
                        "\(shown) \(index + 1)", type: shown, .invalid, "it does not have the format that this version reads"))
            }
        }
        return values
    }
}
