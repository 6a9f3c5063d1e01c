import ArgumentParser
import SignetCore
import SignetStorage

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the vault.",
        discussion: """
            Without --protect, the first of these that works on this machine protects the key, and signet prints its name: tpm, \
            secret-service, credential, passphrase. A key file is used only with --protect keyfile. An existing vault is never \
            changed.

            EXAMPLES:
              signet init
              signet init --protect passphrase
            """)

    @Option(help: "The key protector of the vault.")
    var protect: Protection?

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: path, protection.")
    var json = false

    func run() throws {
        let directory = try Session.directory()
        guard !directory.holdsVault else {
            throw StoreError(.exists, "create vault", "there is a vault in \(directory.path) already; nothing was changed")
        }
        var source = PassphraseSource.forNewPassphrase(options.passphraseDescriptor, option: "--passphrase-fd")
        var protectors = Session.protectors(directory, options).asking(source)
        let level = try protectors.requiredLevel
        let protection = try protect ?? firstUsable(protectors, level)
        guard protection.level >= level else {
            throw StoreError(
                .protectionTooWeak, "create vault",
                "\(ProtectionLevel.environmentVariable) requires \(level.rawValue), and \(protection.rawValue) is weaker")
        }
        if protection == .passphrase, protect == nil, source.isTyped {
            source.introduction = { [protectors] in protectors.reasonForPassphrase }
            protectors = protectors.asking(source)
        }
        let protector = protectors.protector(protection)
        _ = try directory.createVault(protection == .keyfile ? .keyFile : .protector(protector))
        report(directory, protection)
    }

    /// Returns the first key protector that is usable here.
    ///
    /// Key files are skipped; they must be selected by name.
    private func firstUsable(_ protectors: KeyProtectors, _ level: ProtectionLevel) throws -> Protection {
        var reasons: [String] = []
        for protection in Protection.allCases where protection != .keyfile && protection.level >= level {
            guard let reason = protectors.availability(protection).reason else { return protection }
            reasons.append("\(protection.rawValue): \(reason)")
        }
        guard level == .keyFile else {
            throw StoreError(
                .protectionTooWeak, "create vault",
                "\(ProtectionLevel.environmentVariable) requires \(level.rawValue), and none works here. "
                    + reasons.joined(separator: ". "))
        }
        throw Failure(
            .noVault, "store.keyUnavailable",
            "no key protector works here, and nothing was created. \(reasons.joined(separator: ". ")). "
                + "To keep the key in a file beside the records: signet init --protect keyfile")
    }

    private func report(_ directory: VaultDirectory, _ protection: Protection) {
        if json {
            Console.line(
                JSONText.line(.object(["path": .string(directory.path), "protection": .string(protection.rawValue)])))
            return
        }
        Console.line("Made a vault in \(directory.path), sealed by \(protection.rawValue): \(protection.explanation).")
        if protection == .keyfile {
            Console.line("Keep \(directory.keyPath): without it nothing in the vault can be read.")
        } else {
            Console.line(
                "If that is ever lost, nothing in the vault can be read: 'signet vault recovery-key' adds a recovery key.")
        }
    }
}
