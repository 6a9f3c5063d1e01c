import ArgumentParser
import SignetCore
import SignetStorage

/// The key protectors by name, in order of preference.
enum Protection: String, ExpressibleByArgument, CaseIterable {
    case tpm
    case secretService = "secret-service"
    case credential
    case passphrase
    case keyfile

    /// A short description of the key protector.
    var explanation: String {
        switch self {
        case .tpm: "this machine's TPM 2.0"
        case .secretService: "the desktop's keyring"
        case .credential: "a credential that systemd hands over"
        case .passphrase: "a passphrase that you type"
        case .keyfile: "a file of mode 0600 beside the records; it protects what is copied without it"
        }
    }
}

extension Protection {
    /// The level of the key protector.
    var level: ProtectionLevel {
        switch self {
        case .tpm: .hardware
        case .secretService, .credential, .passphrase: .separateKey
        case .keyfile: .keyFile
        }
    }
}

/// The key protectors of this machine and this process.
struct KeyProtectors {
    let directory: VaultDirectory
    let environment: [String: String]
    private let passphrase: PassphraseSource
    private let memory: PassphraseMemory

    init(directory: VaultDirectory, environment: [String: String], passphrase: PassphraseSource) {
        self.directory = directory
        self.environment = environment
        self.passphrase = passphrase
        memory = passphrase.remembered()
    }

    /// Returns these key protectors with another source of passphrases.
    func asking(_ passphrase: PassphraseSource) -> KeyProtectors {
        KeyProtectors(directory: directory, environment: environment, passphrase: passphrase)
    }

    /// Returns key protectors that ask for the passphrase again.
    ///
    /// Returns nil unless the error can be that of a passphrase that the user mistyped at the terminal.
    func askingAgain(after error: StoreError) -> KeyProtectors? {
        guard [.keyMismatch, .keyUnavailable].contains(error.code), memory.typed != nil else { return nil }
        var source = passphrase
        source.introduction = { "The vault does not open with this passphrase. Try again." }
        return asking(source)
    }

    /// The passphrase that the user has typed at the terminal; nil before that.
    var typedPassphrase: Secret? { memory.typed }

    func protector(_ protection: Protection) -> any KeyProtector {
        switch protection {
        case .tpm: tpm
        case .secretService: SecretServiceProtector()
        case .credential: SystemdCredentialProtector(environment: environment)
        case .passphrase: PassphraseProtector { [memory] () throws(StoreError) in try memory.passphrase() }
        case .keyfile: KeyFile(path: directory.keyPath)
        }
    }

    /// The key protectors that can open a vault, in the order in which they are asked.
    ///
    /// Only those with a slot in the vault are asked. The key file isn't included, because `openVault` adds it.
    var all: [any KeyProtector] { Protection.allCases.filter { $0 != .keyfile }.map(protector) }

    /// The key protectors for a new vault, in order of preference.
    ///
    /// The passphrase is one of them only if there is a terminal or a descriptor to read it from. The key file isn't included.
    var forNewVault: [any KeyProtector] {
        Protection.allCases.filter { $0 != .keyfile && ($0 != .passphrase || passphrase.isUsable) }.map(protector)
    }

    /// The level that the operator requires of the vault.
    /// - Throws: `StoreError` for an unknown level.
    var requiredLevel: ProtectionLevel {
        get throws(StoreError) { try ProtectionLevel.required(by: environment) }
    }

    /// Returns the availability of a key protector.
    ///
    /// It asks the user for nothing.
    func availability(_ protection: Protection) -> KeyProtectorAvailability {
        switch protection {
        case .tpm: tpm.availability()
        case .secretService: SecretServiceProtector().availability()
        case .credential: SystemdCredentialProtector(environment: environment).availability()
        case .passphrase:
            passphrase.isUsable ? .usable : .unusable("there is no terminal to ask at, and no --passphrase-fd was given")
        case .keyfile:
            directory.holdsVault && !PrivateFile.exists(directory.keyPath)
                ? .unusable("there is no \(directory.keyPath)") : .usable
        }
    }

    /// Returns the lines that precede the question for the passphrase of a new vault, if the user did not choose a passphrase.
    ///
    /// They name each key protector that comes before the passphrase, with the reason why it does not work here.
    var reasonForPassphrase: TerminalText {
        let earlier = Protection.allCases.prefix { $0 != .passphrase }
        let refusals = earlier.compactMap { protection in
            availability(protection).reason.map { "\n  \(protection.rawValue): \($0)" as TerminalText }
        }
        let intention: TerminalText =
            "A passphrase will protect the vault in \(directory.path), and every command that opens the vault will ask for it."
        guard !refusals.isEmpty else { return intention }
        return "\(intention)\nsignet chose it because these do not work here:\(refusals.joined(separator: ""))"
    }

    private var tpm: TPMProtector {
        environment[DefaultKeyProtectors.tctiVariable].map { TPMProtector(tcti: $0) } ?? TPMProtector()
    }
}
