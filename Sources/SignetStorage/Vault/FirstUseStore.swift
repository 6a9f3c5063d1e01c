import Foundation
package import Logging
package import SignetCore

/// The vault in a directory; the first write creates a missing one.
///
/// Until then, each read finds nothing and creates nothing. The new vault is sealed by the strongest key protector that works
/// (docs/decisions/023-first-use.md), and appears together with the records of the first write. Two processes that write first end up with one
/// vault and the records of both.
///
/// An existing vault is opened and never changed by that. An error of opening it is not remembered.
package final class FirstUseStore: RecordStore, QuickReading, DeferredWriting {
    private let directory: VaultDirectory
    private let requirement: VaultRequirement
    private let protectors: [any KeyProtector]
    private let logger: Logger
    private let state = Mutex<Vault?>(nil)

    /// Creates a store for the vault in `directory`, without accessing it.
    /// - Parameters:
    ///   - directory: The directory of the vault.
    ///   - preferences: The app's requirements.
    ///   - environment: The environment of the process.
    ///   - protectors: The key protectors in order of preference; nil for the default ones.
    ///   - logger: The logger that records the creation of a vault.
    /// - Throws: ``StoreError/Code/invalid`` when the operator requires an unknown level.
    package init(
        _ directory: VaultDirectory, _ preferences: VaultPreferences = VaultPreferences(),
        environment: [String: String] = ProcessInfo.processInfo.environment, protectors: [any KeyProtector]? = nil,
        logger: Logger = Logger(label: "signet.storage")
    ) throws(StoreError) {
        self.directory = directory
        requirement = try VaultRequirement(preferences, environment: environment)
        self.protectors = protectors ?? DefaultKeyProtectors.all(environment: environment)
        self.logger = logger
    }

    /// Reads a consistent state of the vault, or of an empty store without a vault.
    package func read<R>(_ body: (any RecordReader) throws(StoreError) -> R) throws(StoreError) -> R {
        guard let vault = try opened() else { return try MemoryStore().read(body) }
        return try vault.read(body)
    }

    /// Reads and changes records in one transaction.
    ///
    /// Without a vault, a transaction that leaves a record creates it.
    package func write<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        if let vault = try opened() { return try vault.write(body) }
        let first = try directory.whileCreating(timeout: SQLiteStore.defaultTimeout) { () throws(StoreError) -> FirstWrite<R> in
            // Another process may have created the vault while this one waited.
            if directory.holdsVault { return .elsewhere }
            return .done(try writeFirst(body))
        }
        if case .done(let value) = first { return value }
        guard let vault = try opened() else {
            throw StoreError(.busy, "write", "another process removed the vault in \(directory.path) at the same time")
        }
        return try vault.write(body)
    }

    /// Reads and changes records in one transaction, which is deferred if the vault exists and allows it.
    package func writeDeferred<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        guard let vault = try opened() else { return try write(body) }
        return try vault.writeDeferred(body)
    }

    /// Returns the vault, and opens it if necessary; nil while the directory has no vault.
    package func opened() throws(StoreError) -> Vault? {
        let vault = try state.withLock { (state) throws(StoreError) -> Vault? in
            if let vault = state { return vault }
            guard try directory.findsVault() else { return nil }
            state = try directory.openVault(protectors: allProtectors)
            return state
        }
        guard let vault else { return nil }
        try vault.protection.require(requirement.level)
        return vault
    }

    /// True when this store has opened or created the vault.
    var isOpen: Bool { state.withLock { $0 != nil } }

    /// True when the vault is open and reads quickly.
    ///
    /// Opening it can wait for hardware or for the user.
    package var readsQuickly: Bool { state.withLockIfAvailable { $0?.readsQuickly ?? false } ?? false }

    private enum FirstWrite<R> {
        case done(R)
        case elsewhere
    }

    /// Runs a transaction on an empty store, and creates the vault with the records that it leaves.
    private func writeFirst<R>(_ body: (any RecordWriter) throws(StoreError) -> R) throws(StoreError) -> R {
        let memory = MemoryStore()
        let value = try memory.write(body)
        let records = try memory.allRecords()
        guard !records.isEmpty else { return value }
        let made = try directory.create(
            strongestOf: allProtectors, requiring: requirement.level, containing: records, timeout: SQLiteStore.defaultTimeout)
        state.withLock { $0 = made.vault }
        report(made)
        return value
    }

    private var allProtectors: [any KeyProtector] {
        protectors + (requirement.preferences.passphraseProtector.map { [$0] } ?? [])
    }

    private func report(_ made: NewVault) {
        let weakness = """
            whose key is a file beside it, because no key protector works here (\(made.refusals.joined(separator: "; "))); \
            a copy of the directory can be read
            """
        made.vault.reportCreation(
            in: directory.path, weakness: made.vault.protection.level == .keyFile ? weakness : nil,
            recovery: "VaultProvider.addRecoveryKey() or 'signet vault recovery-key'", to: logger)
    }
}

extension Vault {
    /// Logs that this process created the vault, as a warning if its protection has a weakness and otherwise as a notice.
    /// - Parameters:
    ///   - location: The location of the vault, for example its directory.
    ///   - weakness: The weakness of the protection, as a clause about the vault; nil for a protection without one.
    ///   - recovery: The calls that add a recovery key.
    ///   - logger: The logger.
    func reportCreation(in location: String, weakness: String?, recovery: String, to logger: Logger) {
        let recovery = "it has one key slot; add a recovery key: \(recovery)"
        guard let weakness else {
            return logger.notice("created a vault in \(location), sealed by \(protection.protector); \(recovery)")
        }
        logger.warning("created a vault in \(location) \(weakness); \(recovery)")
    }
}

/// An app's requirements for one or several vaults.
package final class VaultPreferences: Sendable {
    /// A closure that returns the user's passphrase.
    package typealias Question = @Sendable () throws(StoreError) -> Secret

    private let state = Mutex<(level: ProtectionLevel, ask: Question?)>((.keyFile, nil))

    /// Creates preferences that permit every level and have no passphrase.
    package init() {}

    /// The weakest level that is permitted.
    package var level: ProtectionLevel { state.withLock { $0.level } }

    /// Raises the weakest level that is permitted.
    ///
    /// It is never lowered.
    package func require(_ level: ProtectionLevel) { state.withLock { $0.level = max($0.level, level) } }

    /// Sets the closure that returns the passphrase.
    package func askForPassphrase(_ ask: @escaping Question) { state.withLock { $0.ask = ask } }

    var passphraseProtector: PassphraseProtector? { state.withLock { $0.ask }.map { PassphraseProtector(ask: $0) } }
}

extension VaultDirectory {
    /// Returns true when the directory holds a vault, and false when neither a vault nor a directory exists.
    /// - Throws: The error of a directory that cannot be accessed or is unsafe; ``StoreError/Code/noVault`` for the rest of a vault.
    fileprivate func findsVault() throws(StoreError) -> Bool {
        do throws(StoreError) {
            try PrivateFile.checkDirectory(path)
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
        try requireNoRemains()
        return holdsVault
    }
}

extension MemoryStore {
    /// Returns all records.
    fileprivate func allRecords() throws(StoreError) -> [NamedRecord] {
        try read { (reader: any RecordReader) throws(StoreError) in
            var records: [NamedRecord] = []
            for kind in RecordKind.allCases {
                try reader.forEachRecord(of: kind) { record throws(StoreError) in
                    records.append(NamedRecord(key: RecordKey(kind, name: record.name), bytes: try record.content.get()))
                }
            }
            return records
        }
    }
}
