import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// The user's vault, opened for one command.
struct Session {
    let vault: Vault
    /// The key protectors, which can also be asked again.
    let protectors: KeyProtectors
    /// The path of the file with the certificate authorities for servers; nil for those of the system.
    var authorityFile: String?
    private let clock = SystemWallClock()

    private init(vault: Vault, protectors: KeyProtectors, authorityFile: String?) {
        self.vault = vault
        self.protectors = protectors
        self.authorityFile = authorityFile
    }

    /// Returns the default directory of the vault.
    static func directory() throws -> VaultDirectory {
        guard let directory = VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw Failure(.noVault, "noHome", "no directory for the vault is known: set SIGNET_HOME")
        }
        return directory
    }

    /// Returns the key protectors for a vault.
    static func protectors(_ directory: VaultDirectory, _ options: VaultOptions?) -> KeyProtectors {
        KeyProtectors(
            directory: directory, environment: ProcessInfo.processInfo.environment,
            passphrase: options?.passphrase ?? PassphraseSource())
    }

    /// Opens an existing vault.
    ///
    /// It blocks, because the process has no other work meanwhile.
    /// - Parameters:
    ///   - options: The options for the vault.
    ///   - trust: The options for servers' certificates.
    ///   - acceptingRollback: True to accept an older copy of the vault.
    ///   - anyLevel: True for a command that can raise the protection, which the operator's requirement must not prevent.
    ///   - lookup: True for a command that finds one account through the index of names. The verification of a vault with many
    ///     records is postponed until the command reads a record that the index does not prove.
    /// - Returns: The open vault.
    /// - Throws: `StoreError`; ``Failure`` when no directory for the vault is known.
    static func open(
        _ options: VaultOptions? = nil, trust: TrustOptions? = nil, acceptingRollback: Bool = false, anyLevel: Bool = false,
        lookup: Bool = false
    ) throws -> Session {
        let authorityFile = try trust?.authorityFile()
        let directory = try directory()
        let protectors = protectors(directory, options)
        let level = try protectors.requiredLevel
        do throws(StoreError) {
            let (vault, used) = try opened(with: protectors) { (protectors) throws(StoreError) in
                if lookup { return try directory.openVaultForLookup(protectors: protectors.all) }
                return try directory.openVault(protectors: protectors.all, acceptingRollback: acceptingRollback)
            }
            if !anyLevel { try vault.protection.require(level) }
            return Session(vault: vault, protectors: used, authorityFile: authorityFile)
        } catch {
            throw failure(error, in: directory)
        }
    }

    /// Opens a vault, and opens it again after each passphrase that the user mistyped at the terminal.
    /// - Parameters:
    ///   - protectors: The key protectors to begin with.
    ///   - open: Opens the vault. It is called at most ``PassphraseSource/maxTries`` times.
    /// - Returns: The result of `open`, and the key protectors with the passphrase that was right.
    /// - Throws: The error of the last call.
    private static func opened<R>(
        with protectors: KeyProtectors, _ open: (KeyProtectors) throws(StoreError) -> R
    ) throws(StoreError) -> (R, KeyProtectors) {
        var protectors = protectors
        for _ in 1..<PassphraseSource.maxTries {
            do throws(StoreError) {
                return (try open(protectors), protectors)
            } catch {
                guard let next = protectors.askingAgain(after: error) else { throw error }
                protectors = next
            }
        }
        return (try open(protectors), protectors)
    }

    /// Opens an existing vault without asking the user for anything, for the agent.
    ///
    /// A vault that only a passphrase opens stays closed, and so does a locked keyring. It blocks.
    /// - Parameter directory: The directory of the vault.
    /// - Returns: The open vault; nil without a vault, and for one that cannot be opened in this way.
    static func openUnattended(in directory: VaultDirectory) -> Session? {
        guard directory.holdsVault else { return nil }
        let protectors = Session.protectors(directory, nil)
        let unattended = Protection.allCases.filter { $0 != .keyfile && $0 != .passphrase }.map(protectors.protector)
        guard let level = try? protectors.requiredLevel,
            let vault = try? directory.openVault(protectors: unattended),
            (try? vault.protection.require(level)) != nil
        else { return nil }
        return Session(vault: vault, protectors: protectors, authorityFile: nil)
    }

    /// Opens an existing vault with a passphrase, for the agent.
    static func open(_ directory: VaultDirectory, withPassphrase passphrase: Secret) throws(StoreError) -> Session {
        let protectors = protectors(directory, nil)
        let vault = try directory.openVault(protectors: [PassphraseProtector { () throws(StoreError) in passphrase }])
        try vault.protection.require(protectors.requiredLevel)
        return Session(vault: vault, protectors: protectors, authorityFile: nil)
    }

    /// Returns this session without the passphrase with which the vault was opened.
    func forgettingPassphrase() -> Session {
        Session(vault: vault, protectors: Self.protectors(protectors.directory, nil), authorityFile: authorityFile)
    }

    /// Opens an existing vault to save what can be read of it.
    ///
    /// It reports the damage, if there is any, on standard error.
    /// - Parameter options: The options of the vault.
    /// - Returns: The session, and the number of records that cannot be read from the file; nil when the vault is not damaged.
    /// - Throws: `StoreError` when the vault cannot be opened, when not even its header can be read, or when its protection is
    ///   too weak.
    static func salvage(_ options: VaultOptions) throws -> (session: Session, lostCount: Int?) {
        let directory = try directory()
        let protectors = protectors(directory, options)
        let level = try protectors.requiredLevel
        let (salvaged, used) = try opened(with: protectors) { (protectors) throws(StoreError) in
            try directory.salvageVault(protectors: protectors.all)
        }
        try salvaged.vault.protection.require(level)
        report(salvaged)
        return (
            Session(vault: salvaged.vault, protectors: used, authorityFile: nil),
            salvaged.damage == nil ? nil : salvaged.lostCount
        )
    }

    /// Replaces the damaged file of a vault with what can be read of it, and opens the vault.
    static func replacingDamaged(_ options: VaultOptions) throws -> Session {
        let directory = try directory()
        let protectors = protectors(directory, options)
        let level = try protectors.requiredLevel
        // A vault that is too weak is not replaced, if its header can be read from the damaged file.
        if let protection = try? directory.header().protection { try protection.require(level) }
        let (salvaged, used) = try opened(with: protectors) { (protectors) throws(StoreError) in
            try directory.replaceDamagedRecords(protectors: protectors.all)
        }
        report(salvaged)
        Console.error("signet: the vault has a new file; the damaged one is kept as \(directory.damagedPath)")
        try salvaged.vault.protection.require(level)
        return Session(vault: salvaged.vault, protectors: used, authorityFile: nil)
    }

    private static func report(_ salvaged: SalvagedVault) {
        guard let damage = salvaged.damage else { return }
        Console.error("signet: \(damage)")
        Console.error(
            "signet: \(salvaged.lostCount.of("record")) cannot be read from the file; those that can may be older ones, and codes of "
                + "counters in them may have been used")
    }

    /// Makes the index of names again when it is out of date.
    ///
    /// A failure changes nothing for the command: without the index an account is found among all accounts.
    func refreshNames() { try? AccountRecords(vault).refreshNames() }

    /// Verifies the file of the vault and its records, also those of a large vault.
    func verifyRecords() throws {
        do throws(StoreError) {
            try vault.verifyRecords()
        } catch {
            throw Self.failure(error, in: try Self.directory())
        }
    }

    /// Returns the failure for a vault that cannot be opened; for a damaged one with the command that saves what can be read.
    static func failure(_ error: StoreError, in directory: VaultDirectory) -> Failure {
        var failure = Failure(error)
        // Without the key, and without the header, nothing can be read.
        let isSalvageable = error.operation != "open vault" && !error.operation.hasSuffix(directory.keyPath)
        if error.code == .corrupt, isSalvageable {
            failure.message += ": signet backup create --skip-damaged FILE saves what can be read"
        }
        return failure
    }

    /// Opens the vault for a command that stores something, and creates a missing one first.
    ///
    /// The new vault is sealed by the strongest key protector that works here. A line on standard error reports that.
    /// - Parameters:
    ///   - options: The options for the vault.
    ///   - trust: The options for servers' certificates.
    ///   - json: True when the command prints JSON.
    /// - Returns: The open vault.
    /// - Throws: The errors of ``open(_:trust:acceptingRollback:anyLevel:)`` and of creating a vault.
    static func openOrCreate(_ options: VaultOptions, trust: TrustOptions? = nil, json: Bool) throws -> Session {
        let directory = try directory()
        guard !directory.holdsVault else { return try open(options, trust: trust) }
        let authorityFile = try trust?.authorityFile()
        let protectors = protectors(directory, options)
        var source = PassphraseSource.forNewPassphrase(options.passphraseDescriptor, option: "--passphrase-fd")
        source.prompt = "New passphrase for the vault: "
        source.introduction = { protectors.reasonForPassphrase }
        do throws(StoreError) {
            let made = try directory.createVault(
                strongestOf: protectors.asking(source).forNewVault, requiring: protectors.requiredLevel)
            VaultNotice(made, path: directory.path).report(json: json)
            return Session(vault: made.vault, protectors: protectors, authorityFile: authorityFile)
        } catch {
            // Another process has created the vault just now.
            guard error.code == .exists else { throw error }
            return try open(options, trust: trust)
        }
    }

    var now: Date { clock.now }

    /// Runs `body` with an empty authenticator in memory, to show the effect of a command on a new vault.
    static func withTemporaryStore<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        try await body(
            Authenticator(
                store: AccountRecords(unsealed: MemoryStore()), transport: NoTransport(),
                device: PushDevice(token: "none", name: "none")))
    }

    /// Runs `body` with an authenticator without network access, for commands that don't need it.
    func offline<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        do {
            return try await body(authenticator(NoTransport()))
        } catch let error as StoreError {
            // A vault that was opened for a lookup reports here what opening another one reports.
            throw vault.isVerificationDue ? Self.failure(error, in: protectors.directory) : error
        }
    }

    /// Runs `body` with an authenticator with network access.
    func online<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        try await AsyncHTTPTransport(authorities: .init(file: authorityFile)).use { transport in
            try await body(authenticator(transport))
        }
    }

    private func authenticator(_ transport: any HTTPTransport) -> Authenticator {
        // The vault's ID is random and permanent, so it serves as the push address of a desktop.
        let device = PushDevice(token: "signet-\(vault.header.id)", name: Self.hostName, opensPushStream: true)
        return Authenticator(store: AccountRecords(vault), transport: transport, device: device, clock: clock)
    }

    /// This machine's name.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "Signet" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
