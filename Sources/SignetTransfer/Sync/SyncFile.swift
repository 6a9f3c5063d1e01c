import SignetAuthenticator
package import SignetCore
package import SignetStorage

/// The file of one machine in the folder of a synchronization: an archive with the machine's state as content
/// (docs/reference/archive-format.md).
///
/// Each machine writes only its own file, so two machines never write one file.
package struct SyncFile: Sendable {
    /// The state of the machine.
    package let state: SyncState
    /// The pictures that accounts of the state name.
    package let icons: [AccountIcon]

    /// The version in the header, by which a file differs from a backup.
    static let version = 2

    /// Creates a file.
    package init(state: SyncState, icons: [AccountIcon]) {
        self.state = state
        self.icons = icons
    }

    /// Returns the bytes of the file.
    /// - Throws: `StoreError` with `invalid` when the file would be longer than ``AccountArchive/maxLength``.
    package func sealed(with key: SyncKey) throws(StoreError) -> [UInt8] {
        var members: [String: JSONValue] = ["state": .object(state.storedMembers)]
        if !icons.isEmpty { members["icons"] = .array(icons.map { .object($0.storedMembers) }) }
        let content = JSON.encode(.object(members))
        guard content.count <= AccountArchive.maxLength - ArchiveHeader.overhead else {
            throw StoreError(.invalid, "write the sync file", "it would be longer than \(AccountArchive.maxLength >> 20) MiB")
        }
        let header = ArchiveHeader(
            cost: key.cost, salt: key.salt, contentLength: content.count, check: key.check, version: Self.version)
        return try header.bytes + Sealing.seal(content, with: key.content, context: header.bytes)
    }

    /// Opens the bytes of a file.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - keys: The keys that this machine knows.
    /// - Throws: ``ImportError``: ``ImportError/Code/malformed`` for another kind of file; ``ImportError/Code/newerVersion``;
    ///   ``ImportError/Code/damaged`` for a file that was truncated or changed; ``ImportError/Code/wrongPassphrase`` for one of
    ///   another passphrase; ``ImportError/Code/passphraseNeeded`` for one whose key this machine has not derived yet.
    package init(opening bytes: [UInt8], with keys: [SyncKey]) throws(ImportError) {
        let header = try ArchiveHeader(bytes, version: Self.version)
        guard let key = keys.first(where: { $0.salt == header.salt && $0.cost == header.cost }) else {
            throw ImportError(
                .passphraseNeeded, .signet, "header",
                "another machine began this synchronization on its own; 'signet sync init' with the folder and the passphrase "
                    + "joins both")
        }
        guard ConstantTime.areEqual(key.check, header.check) else {
            throw ImportFormat.signet.wrongPassphrase("header", orDamaged: false)
        }
        guard
            let content = Sealing.open(bytes[ArchiveHeader.length...], with: key.content, context: header.bytes)
        else {
            throw ImportError(.damaged, .signet, "content", "it was changed since it was written, or is not complete yet")
        }
        do {
            let members = try JSON.members(of: content)
            state = try SyncState(stored: members.object("state"))
            let pictures = try members["icons"] == nil ? [] : members.objects("icons")
            // A picture is only decoration. One that cannot be read is left out.
            icons = pictures.compactMap { try? AccountIcon(stored: $0) }
        } catch {
            throw ImportFormat.signet.malformed("content", "it does not have the form that this version reads")
        }
    }
}

/// The key of the files of a synchronization.
///
/// All machines derive it from one passphrase with one salt, so that each of them opens the files of the others. The vault keeps
/// it, and a synchronization therefore asks for no passphrase.
package struct SyncKey: Sendable, Hashable {
    /// The cost of computing the key.
    package let cost: ScryptCost
    /// The salt.
    package let salt: [UInt8]
    /// The key that seals the content.
    package let content: Secret
    /// The bytes that show a wrong passphrase.
    package let check: [UInt8]

    /// Derives the key from a passphrase.
    /// - Parameters:
    ///   - passphrase: The passphrase. UTF-8 text is converted to Unicode's composed form.
    ///   - salt: The salt of the files; nil for a new one.
    ///   - cost: The cost of computing the key.
    /// - Throws: `StoreError` with `invalid` when the passphrase is empty, with `failed` when there is not enough memory.
    package init(
        _ passphrase: Secret, salt: [UInt8]? = nil, cost: ScryptCost = .default
    ) throws(StoreError) {
        let operation = "derive the key of the sync folder"
        guard passphrase.count > 0 else {
            throw StoreError(.invalid, operation, "the passphrase is empty; an empty one protects nothing")
        }
        let salt = salt ?? Secret.random(byteCount: ArchiveHeader.saltLength).bytes
        let root = try PassphraseKey.scrypt(
            PassphraseKey.composed(passphrase), salt: salt, cost: cost, operation: operation)
        self.cost = cost
        self.salt = salt
        content = Sealing.derive("signet sync content 1", from: root)
        check = Array(Sealing.derive("signet sync check 1", from: root).bytes.prefix(ArchiveKeys.checkLength))
    }

    /// Creates a key from its parts.
    init(cost: ScryptCost, salt: [UInt8], content: Secret, check: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.content = content
        self.check = check
    }

    /// Returns the key of a file with this passphrase.
    /// - Throws: ``ImportError`` for a file of another kind, and ``ImportError/Code/wrongPassphrase``.
    package static func key(of bytes: [UInt8], with passphrase: Secret) throws(ImportError) -> SyncKey {
        let header = try ArchiveHeader(bytes, version: SyncFile.version)
        let key: SyncKey
        do throws(StoreError) {
            key = try SyncKey(passphrase, salt: header.salt, cost: header.cost)
        } catch {
            // An empty passphrase is a wrong one.
            guard error.code == .failed else { throw ImportFormat.signet.wrongPassphrase("header", orDamaged: false) }
            throw ImportError(.tooCostly, .signet, "header", error.reason)
        }
        guard ConstantTime.areEqual(key.check, header.check) else {
            throw ImportFormat.signet.wrongPassphrase("header", orDamaged: false)
        }
        return key
    }
}

extension SyncKey: StoredForm {
    package var storedMembers: [String: JSONValue] {
        [
            "cost": .array([cost.logRounds, cost.blockSize, cost.parallelism].map { .integer(Int64($0)) }),
            "salt": .string(Base64.encode(salt, as: .standard)), "key": .string(Base64.encode(content.bytes, as: .standard)),
            "check": .string(Base64.encode(check, as: .standard)),
        ]
    }

    package init(stored members: JSONMembers) throws {
        let numbers = (members["cost"]?.array ?? []).compactMap(\.lenientInteger).compactMap { Int(exactly: $0) }
        guard numbers.count == 3,
            let cost = ScryptCost(logRounds: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
        else { throw UndecodableRecord() }
        self.init(
            cost: cost, salt: try Base64.decode(try members.text("salt")),
            content: Secret(try Base64.decode(try members.text("key"))),
            check: try Base64.decode(try members.text("check")))
    }
}
