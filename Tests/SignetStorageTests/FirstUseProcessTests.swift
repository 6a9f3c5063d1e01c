#if canImport(Glibc)
import Foundation
import SignetTesting
import TestSupport
import Testing

@testable import SignetStorage

@Suite("The default storage on a new machine, as a process")
struct FirstUseProcessTests {
    /// A machine with an empty home directory and an environment of its own.
    private struct Machine {
        let home: TemporaryDirectory
        var environment: [String: String] = [
            "SIGNET_TCTI": "device:/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        ]

        var vault: VaultDirectory { VaultDirectory(path: home.file(".local/share/signet")) }

        /// Runs the worker, and returns its line and its log.
        func run(_ arguments: String..., adding additions: [String: String] = [:]) async throws -> (line: String, log: String) {
            let ended = try await outcome(arguments, additions)
            return (ended.line, ended.errors)
        }

        /// Runs the worker, and expects it to print this line.
        func expect(_ arguments: String..., gives line: String, location: SourceLocation = #_sourceLocation) async throws {
            let ended = try await outcome(arguments, [:])
            #expect(ended.line == line, "\(ended.errors)", sourceLocation: location)
        }

        private func outcome(_ arguments: [String], _ additions: [String: String]) async throws -> TestProcess.Outcome {
            let own = [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "SWIFT_BACKTRACE": "enable=no", "HOME": home.path,
            ]
            let all = environment.merging(own) { $1 }.merging(additions) { $1 }
            return try await TestProcess.run(Programs.built("FirstUseWorker"), arguments, environment: all)
        }

        var isEmpty: Bool { (try? FileManager.default.contentsOfDirectory(atPath: home.path)) == [] }
    }

    @Test("Reading with every default client finds nothing and creates nothing")
    func readingByDefaultClientsCreatesNothing() async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            try await machine.expect("get", "pet", gives: "ok nothing")
            try await machine.expect("delete", "pet", gives: "ok deleted")
            try await machine.expect("accounts", gives: "ok 0 0 0")
            try await machine.expect("protection", gives: "ok nothing")
            #expect(machine.isEmpty)
        }
    }

    @Test("Without any key protector the first item is stored under a key file, with a warning")
    func usesKeyFile() async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            let saved = try await machine.run("save", "pet", "Lucky")
            #expect(saved.line == "ok saved")
            #expect(saved.log.contains("warning") && saved.log.contains("key is a file"), "\(saved.log)")
            try await machine.expect("get", "pet", gives: "ok Lucky")
            try await machine.expect("protection", gives: "ok keyfile keyfile false false")
            let recovery = try await machine.run("recovery")
            #expect(recovery.line.count == "ok ".count + 39 && recovery.log == "")
            try await machine.expect("protection", gives: "ok keyfile keyfile false true")
            #expect(try FileManager.default.attributesOfItem(atPath: machine.vault.path)[.posixPermissions] as? Int == 0o700)
        }
    }

    @Test(
        "The first account of each default client makes the vault, and the others find it", arguments: ["oath", "authenticator"])
    func storesAccounts(command: String) async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            let stored = try await machine.run(command)
            #expect(stored.line.hasPrefix("ok "), "\(stored.line)")
            #expect(machine.vault.holdsVault)
            try await machine.expect("accounts", gives: "ok 1 0 1")
            try await machine.expect("push", gives: "ok stored")
        }
    }

    @Test("A required level without such hardware fails with the way to it, and creates nothing")
    func requiresHardware() async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            for (line, _) in [
                try await machine.run("require", "hardware", "pet", "Lucky"),
                try await machine.run("save", "pet", "Lucky", adding: ["SIGNET_REQUIRE": "hardware"]),
            ] {
                #expect(line.hasPrefix("error protectionTooWeak a key in hardware is required"), "\(line)")
                #expect(line.contains("tpm: there is no /nonexistent"), "\(line)")
            }
            #expect(machine.isEmpty)
        }
    }

    @Test("The app's passphrase is preferred to a key file")
    func prefersPassphraseToKeyFile() async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            try await machine.expect("passphrase", "correct horse", "pet", "Lucky", gives: "ok saved")
            #expect(!FileManager.default.fileExists(atPath: machine.vault.keyPath))
            let locked = try await machine.run("get", "pet")
            #expect(locked.line.hasPrefix("error keyUnavailable"), "\(locked.line)")
            try await machine.expect("passphrase", "correct horse", "toy", "Ball", gives: "ok saved")
        }
    }

    @Test("Eight processes that save first at the same time end with one vault and all items")
    func createsOneVaultByEightProcesses() async throws {
        try await TemporaryDirectory.with { home in
            let machine = Machine(home: home)
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<8 { group.addTask { try await machine.run("save", "item\(number)", "\(number)").line } }
                for try await line in group { #expect(line == "ok saved") }
            }
            for number in 0..<8 { try await machine.expect("get", "item\(number)", gives: "ok \(number)") }
            #expect(try machine.vault.header().slots.count == 1)
        }
    }

    @Test("With a TPM the first item is sealed by it", .enabled(if: TPMSupport.isHere, "no swtpm here"))
    func sealsFirstItemByTPM() async throws {
        try await TemporaryDirectory.with { home in
            try await SoftwareTPM.with { tpm in
                var machine = Machine(home: home)
                machine.environment.merge(tpm.environment) { $1 }
                machine.environment["SIGNET_TCTI"] = tpm.tcti
                try await machine.expect("require", "hardware", "pet", "Lucky", gives: "ok saved")
                try await machine.expect("protection", gives: "ok tpm hardware true false")
                try await machine.expect("get", "pet", gives: "ok Lucky")
            }
            let lost = try await Machine(home: home).run("get", "pet")
            #expect(lost.line.hasPrefix("error keyUnavailable"), "\(lost.line)")
        }
    }

    @Test(
        "An unlocked keyring seals the first item, and a locked one is neither used nor asked to unlock",
        .enabled(if: Keyring.missingPrograms.isEmpty, "no keyring here"))
    func usesUnlockedKeyring() async throws {
        for isLocked in [false, true] {
            try await TemporaryDirectory.with { home in
                try await Keyring.with(password: "unlocked") { keyring in
                    if isLocked { try await keyring.lock() }
                    var machine = Machine(home: home)
                    machine.environment.merge(keyring.environment) { $1 }
                    machine.environment["XDG_DATA_HOME"] = nil
                    try await machine.expect("save", "pet", "Lucky", gives: "ok saved")
                    let protector = isLocked ? "keyfile keyfile" : "secret-service separate-key"
                    try await machine.expect("protection", gives: "ok \(protector) false false")
                }
            }
        }
    }
}
#endif
