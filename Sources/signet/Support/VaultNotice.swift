import SignetCore
import SignetStorage

/// The notice that a command created the vault, for standard error.
struct VaultNotice {
    private let path: String
    private let protection: VaultProtection
    /// The reasons why a stronger key protector wasn't used.
    private let refusals: [String]

    init(_ made: NewVault, path: String) {
        self.path = path
        protection = made.vault.protection
        refusals = made.refusals
    }

    /// Prints the notice as one line.
    func report(json: Bool) {
        Console.error(json ? JSONText.line(.object(["vault": self.json])) : text)
    }

    private var isWarning: Bool { protection.level == .keyFile }

    private var text: TerminalText {
        let recovery = "It has one key slot; add a recovery key: signet vault recovery-key"
        guard isWarning else { return "signet: made a vault in \(path), sealed by \(protection.protector). \(recovery)" }
        return """
            signet: warning: made a vault in \(path) with its key in a file beside it, because no key protector works here \
            (signet doctor says why): a copy of that directory can be read. \(recovery)
            """
    }

    private var json: JSONValue {
        var members = protection.json
        members["path"] = .string(path)
        if isWarning { members["refusals"] = .array(refusals.map { .string($0) }) }
        return .object(members)
    }
}

extension VaultProtection {
    /// The members of the protection in JSON output.
    var json: [String: JSONValue] {
        [
            "protection": .string(protector), "level": .string(level.rawValue), "isHardware": .bool(isHardware),
            "hasRecovery": .bool(hasRecovery),
        ]
    }
}
