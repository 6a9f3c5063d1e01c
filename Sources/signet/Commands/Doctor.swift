import ArgumentParser
import Foundation
import SignetCore
import SignetStorage

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Report how the vault is protected, and its problems. The vault is not opened.",
        discussion: """
            Ends with 0 when there is a vault that could be opened here, with 78 when not, and with 74 when its file is damaged.

            EXAMPLES:
              signet doctor
              signet doctor --json
            """)

    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let directory = try Session.directory()
        let diagnosis = try Diagnosis(directory, Session.protectors(directory, options))
        if json {
            Console.line(JSONText.line(diagnosis.json))
        } else {
            for line in diagnosis.lines { Console.line(line) }
        }
        if let problem = diagnosis.problem { throw problem }
    }
}

/// The state of a vault that can be seen without opening it.
private struct Diagnosis {
    let directory: VaultDirectory
    var path: String { directory.path }
    /// The header of the vault, or the error that prevents reading it.
    let header: Result<VaultHeader, StoreError>
    /// The problems of the vault's directory; empty if it is safe.
    let permissionProblems: [String]
    let protectors: [(protection: Protection, availability: KeyProtectorAvailability)]
    /// The process that owns the Secret Service name on the session bus, or the error that prevents finding it.
    let secretServiceOwner: Result<SecretServiceOwner?, StoreError>
    /// The level that the operator requires.
    let required: ProtectionLevel

    init(_ directory: VaultDirectory, _ protectors: KeyProtectors) throws(StoreError) {
        required = try protectors.requiredLevel
        self.directory = directory
        header = Result { () throws(StoreError) in
            let header = try directory.header()
            try directory.checkRecords()
            return header
        }
        permissionProblems = directory.permissionProblems().map(\.description)
        self.protectors = Protection.allCases.map { ($0, protectors.availability($0)) }
        secretServiceOwner = Result { () throws(StoreError) in try SecretServiceProtector().owner() }
    }

    /// Returns the availability of a slot's key protector here.
    private func usability(of slot: VaultHeader.Slot) -> KeyProtectorAvailability {
        protectors.first { $0.protection.rawValue == slot.protector }?.availability
            ?? .unusable("this version does not know it")
    }

    /// The key protector that a new vault would get here.
    private var forNewVault: Protection {
        protectors.first { $0.protection.level >= required && $0.availability == .usable }?.protection ?? .keyfile
    }

    /// A key protector that works here and is stronger than the vault's, or nil.
    private func stronger(than protection: VaultProtection) -> Protection? {
        let automatic: [Protection] = [.tpm, .secretService, .credential]
        return protectors.first {
            automatic.contains($0.protection) && $0.protection.level > protection.level && $0.availability == .usable
        }?.protection
    }

    /// The reason that the vault cannot be opened here; nil if it can.
    var problem: Failure? {
        switch header {
        case .failure(let error): return Session.failure(error, in: directory)
        case .success(let header):
            if let problem = permissionProblems.first { return Failure(.notAllowed, "store.insecurePermissions", problem) }
            if let protection = header.protection, protection.level < required {
                return Failure(
                    .noVault, "store.protectionTooWeak",
                    "\(ProtectionLevel.environmentVariable) requires \(required.rawValue), and the vault has \(protection.level.rawValue)"
                )
            }
            if header.slots.contains(where: { usability(of: $0) == .usable }) { return nil }
            return Failure(.noVault, "store.keyUnavailable", "nothing that opens the vault works here")
        }
    }
}

// MARK: Text output

extension Diagnosis {
    var lines: [TerminalText] {
        var lines: [TerminalText] = ["vault            \(path)"] + headerLines + permissionLines
        lines += ["", "What can protect the key of a vault on this machine, in order of preference:"]
        lines += protectors.map { "  \($0.protection.rawValue.padded)\($0.availability.text)" }
        lines += ["", secretServiceLine]
        if problem == nil { lines.append("The vault can be opened here.") }
        return lines
    }

    private var secretServiceLine: TerminalText {
        switch secretServiceOwner {
        case .success(let owner?): return "The keyring (Secret Service) is that of \(owner.text)."
        case .success(nil): return "The keyring (Secret Service) is not running."
        case .failure(let error):
            let listed = protectors.first { $0.protection == .secretService }?.availability.reason
            // The list above has the reason, for example a library that is missing.
            guard error.reason != listed else { return "The keyring (Secret Service) cannot be asked." }
            return "The keyring (Secret Service) cannot be asked: \(error.reason)"
        }
    }

    private var headerLines: [TerminalText] {
        switch header {
        case .failure(let error):
            var lines: [TerminalText] = ["                 \(error.reason)"]
            if error.code == .noVault {
                let protection = forNewVault
                lines.append("                 a new one would be protected by \(protection.rawValue): \(protection.explanation)")
            }
            return lines
        case .success(let header):
            let slots: [TerminalText] = header.slots.map {
                "  \("\($0.number): \($0.protector)".padded)\(usability(of: $0).text)"
            }
            return [
                "store            SQLite, vault format \(header.format) (this version knows \(VaultHeader.currentFormat))",
                "id               \(header.id)",
                "last backup      \(header.backupTime ?? "none")",
            ] + protectionLines(header) + [
                "opened by any of these:"
            ] + slots + (header.isRotationDue ? ["  the key is due for rotation: signet vault key rotate"] : [])
        }
    }

    private func protectionLines(_ header: VaultHeader) -> [TerminalText] {
        guard let protection = header.protection else { return [] }
        let level: TerminalText =
            switch protection.level {
            case .hardware: "hardware: a copy of the vault is useless elsewhere"
            case .separateKey: "separate-key: the key is not in this directory"
            case .keyFile: "keyfile: warning: a copy of this directory can be read"
            }
        let recovery: TerminalText =
            protection.hasRecovery
            ? "yes" : "none: without its only key nothing in the vault can be read; create one: signet vault recovery-key"
        var lines: [TerminalText] = ["protection       \(level)", "recovery         \(recovery)"]
        if required > .keyFile {
            lines.append("required         \(required.rawValue) (\(ProtectionLevel.environmentVariable))")
        }
        if let stronger = stronger(than: protection) {
            lines.append(
                "stronger         \(stronger.rawValue) works here: signet vault key add \(stronger.rawValue), and remove the weaker slot"
            )
        }
        return lines
    }

    private var permissionLines: [TerminalText] {
        permissionProblems.isEmpty
            ? ["permissions      private: only this user can reach it"] : permissionProblems.map { "permissions      \($0)" }
    }
}

extension String {
    fileprivate var padded: String { self + String(repeating: " ", count: max(1, 18 - count)) }
}

extension KeyProtectorAvailability {
    fileprivate var text: String { reason.map { "does not work here: \($0)" } ?? "works here" }
    fileprivate var json: JSONValue { JSONText.object(["usable": .bool(isUsable), "reason": .string(reason)]) }
}

extension SecretServiceOwner {
    /// The name of the program, if the system provides it, and the process ID.
    fileprivate var text: String { "\(program ?? "an unknown program") (process \(processID))" }
}

extension VaultHeader {
    fileprivate var backupTime: String? {
        lastBackup.map { Date(timeIntervalSince1970: Double($0)).text }
    }
}

// MARK: JSON output

extension Diagnosis {
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "path": .string(path), "permissionProblems": .array(permissionProblems.map { .string($0) }),
            "protectors": .object(
                Dictionary(uniqueKeysWithValues: protectors.map { ($0.protection.rawValue, $0.availability.json) })),
            "secretServiceOwner": .string(secretServiceOwnerText), "required": .string(required.rawValue),
        ]
        switch header {
        case .failure(let error):
            members["vault"] = .object(["error": .string(error.code.rawValue), "reason": .string(error.reason)])
            if error.code == .noVault { members["newVault"] = .string(forNewVault.rawValue) }
        case .success(let header): members["vault"] = json(of: header)
        }
        return .object(members)
    }

    private var secretServiceOwnerText: String {
        switch secretServiceOwner {
        case .success(let owner): owner?.text ?? "no program"
        case .failure(let error): "unknown: \(error.reason)"
        }
    }

    private func json(of header: VaultHeader) -> JSONValue {
        let protection = header.protection
        return JSONText.object([
            "level": .string(protection?.level.rawValue), "isHardware": .bool(protection?.isHardware ?? false),
            "hasRecovery": .bool(protection?.hasRecovery ?? false),
            "stronger": .string(protection.flatMap(stronger)?.rawValue),
            "store": .string("sqlite"), "format": .integer(Int64(header.format)), "id": .string(header.id),
            "epoch": .integer(Int64(clamping: header.epoch)), "lastBackup": .string(header.backupTime),
            "rotationDue": .bool(header.isRotationDue),
            "slots": .array(
                header.slots.map { slot in
                    var members = slot.json.object ?? [:]
                    members.merge(usability(of: slot).json.object ?? [:]) { $1 }
                    return .object(members)
                }),
        ])
    }
}
