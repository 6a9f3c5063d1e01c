#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// Changes to the files of a vault by an attacker, or a disk, without its key.
@Suite("Attacks: files of a vault", .serialized, .timeLimit(.minutes(10)))
struct VaultAttacks {
    /// The bits that are flipped in one run, and the lengths to which the file is cut.
    private static let flips = AttackRun.rounds(24, 250)
    private static let cuts = AttackRun.rounds(8, 100)

    @Test(
        "A vault with flipped bits anywhere in SQLite's pages lists every account or reports the damage",
        arguments: AttackRun.seeds)
    func flipsBits(seed: UInt64) async throws {
        try await AttackedVault.with(accounts: 5) { vault in
            let whole = try await vault.recordBytes()
            let listed = try await vault.succeed("accounts", "--json").output
            var random = SeededGenerator(seed: seed)
            var reported = 0
            for number in 0..<Self.flips {
                var bytes = whole
                // Half of the bits are in the heads of the pages, which SQLite's format has no checksum for.
                let page = 4096 * Int.random(in: 0..<max(1, bytes.count / 4096), using: &random)
                let offset =
                    number.isMultiple(of: 2)
                    ? page + Int.random(in: 0..<64, using: &random) : Int.random(in: 0..<bytes.count, using: &random)
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                if try await isReported(bytes, listed, at: vault) { reported += 1 }
            }
            print("vault: seed \(seed), \(reported) of \(Self.flips) flipped bits were reported")
        }
    }

    @Test("A vault that is cut off at any length reports the damage", arguments: AttackRun.seeds)
    func cutsFile(seed: UInt64) async throws {
        try await AttackedVault.with(accounts: 5) { vault in
            let whole = try await vault.recordBytes()
            let listed = try await vault.succeed("accounts", "--json").output
            var random = SeededGenerator(seed: seed)
            for number in 0..<Self.cuts {
                // Also the ends of pages.
                let length =
                    number.isMultiple(of: 4)
                    ? 4096 * Int.random(in: 0..<whole.count / 4096, using: &random)
                    : Int.random(in: 0..<whole.count, using: &random)
                #expect(try await isReported(Array(whole.prefix(length)), listed, at: vault), "cut at \(length), seed \(seed)")
            }
        }
    }

    /// Lists the accounts of a changed vault, and requires the whole list or an error.
    /// - Parameters:
    ///   - bytes: The changed file of the records.
    ///   - listed: The list of the unchanged vault.
    ///   - vault: The vault.
    /// - Returns: True when the change was reported.
    /// - Throws: An error of the file system, or of a program that cannot be started.
    private func isReported(_ bytes: [UInt8], _ listed: String, at vault: AttackedVault) async throws -> Bool {
        try vault.replaceRecords(bytes)
        let outcome = try await vault.run(["accounts", "--json"])
        #expect(outcome.isDocumented, "\(outcome.status)")
        if outcome.status == 0 {
            #expect(outcome.output == listed)
            return false
        }
        #expect(!outcome.errors.isEmpty)
        return true
    }

    @Test("A backup of a damaged vault is never incomplete without an error")
    func backsUpDamagedVault() async throws {
        try await AttackedVault.with(accounts: 3) { vault in
            let whole = try await vault.recordBytes()
            let head = try #require(Self.leafHead(in: whole))
            let passphrase = vault.directory.file("passphrase")
            try Data("a passphrase of the backup\n".utf8).write(to: URL(filePath: passphrase))
            var refused = 0
            // Every bit of the 8 bytes of the head; in a short run one bit of each byte.
            for bit in stride(from: 0, to: 64, by: AttackRun.rounds(9, 1)) {
                var bytes = whole
                bytes[head + bit / 8] ^= 1 << UInt8(bit % 8)
                try vault.replaceRecords(bytes)
                let archive = vault.directory.file("backup.\(bit)")
                let script = "exec 3<\"$1\"; exec \"$2\" backup create \"$3\" --file-passphrase-fd 3 --json"
                let made = try await TestProcess.run(
                    "sh", ["-c", script, "sh", passphrase, AttackedProgram.path, archive], environment: vault.environment)
                #expect(made.isDocumented)
                guard made.status == 0 else {
                    #expect(!FileManager.default.fileExists(atPath: archive), "bit \(bit)")
                    refused += 1
                    continue
                }
                let report = try JSON.value(of: Array(made.output.utf8))
                #expect(
                    report["accounts"]?.lenientInteger == 3 && report["hotp"]?.lenientInteger == 3,
                    "bit \(bit): \(made.output)")
            }
            // A wrong type of the page, at least, is damage.
            #expect(refused > 0)
        }
    }

    /// Returns the offset of the last leaf page that has records of mechanisms; nil when there is none.
    ///
    /// Its first 8 bytes have the type of the page, the number of its cells and their place. SQLite's format has no checksum for
    /// them: with some flipped bits a page seems to have fewer records.
    private static func leafHead(in bytes: [UInt8]) -> Int? {
        Array(stride(from: 4096, to: bytes.count, by: 4096)).last { page in
            let content = Data(bytes[page..<min(page + 4096, bytes.count)])
            return [0x0A, 0x0D].contains(bytes[page]) && content.range(of: Data("mechanism".utf8)) != nil
        }
    }

    @Test("A record of an older copy of the vault, put back, does not make a counter-based code appear again")
    func rollsBackRecord() async throws {
        try await AttackedVault.with(accounts: 2) { vault in
            _ = try await vault.recordBytes()
            let old = vault.directory.file("old.sqlite")
            try FileManager.default.copyItem(atPath: vault.records, toPath: old)
            let used = try await vault.succeed("code", "user0").line
            _ = try await vault.recordBytes()
            try await vault.change(
                """
                UPDATE record SET bytes = (SELECT bytes FROM old.record o WHERE o.kind = record.kind AND o.name = record.name)
                WHERE kind != 'vault' AND EXISTS (SELECT 1 FROM old.record o WHERE o.kind = record.kind AND o.name = record.name)
                """, old: old)
            let outcome = try await vault.run(["code", "user0"])
            #expect(outcome.isDocumented && outcome.line != used)
            #expect(outcome.status != 0 && !outcome.errors.isEmpty)
        }
    }

    @Test("Records that are deleted below the vault are missed", arguments: ["", "LIMIT 1"])
    func deletesRecords(limit: String) async throws {
        try await AttackedVault.with(accounts: 2) { vault in
            _ = try await vault.recordBytes()
            try await vault.change(
                """
                DELETE FROM record WHERE (kind, name) IN
                (SELECT kind, name FROM record WHERE kind != 'vault' ORDER BY kind DESC, name \(limit))
                """)
            let outcome = try await vault.run(["accounts", "--json"])
            #expect(outcome.isDocumented && outcome.status != 0 && !outcome.errors.isEmpty, "\(outcome.output)")
        }
    }

    @Test("Writers that are killed at any time leave a vault that opens, and no code is printed twice")
    func killsWriters() async throws {
        try await AttackedVault.with(accounts: 1) { vault in
            var random = SeededGenerator(seed: 11)
            var printed: [String] = []
            for _ in 0..<AttackRun.rounds(10, 80) {
                let writers = try (0..<3).map { _ in
                    try TestProcess(AttackedProgram.path, ["code", "user0"], environment: vault.environment)
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...60, using: &random)))
                for writer in writers where Bool.random(using: &random) { writer.signal(SIGKILL) }
                for writer in writers {
                    let outcome = await writer.end()
                    #expect(outcome.status == -SIGKILL || outcome.status == 0 || outcome.status == 75, "\(outcome.errors)")
                    if !outcome.line.isEmpty { printed.append(outcome.line) }
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: vault.home)
            #expect(
                Set(left).isSubset(of: ["vault.sqlite", "vault.sqlite-wal", "vault.sqlite-shm", "vault.key", "vault.lock"]),
                "\(left)")
            printed.append(try await vault.succeed("code", "user0").line)
            #expect(Set(printed).count == printed.count)
        }
    }

    @Test(
        "A vault on a read-only file system is listed", .enabled(if: SmallDisk.isPossible, "no file system can be mounted here"))
    func listsReadOnlyVault() async throws {
        try await AttackedVault.with(accounts: 1) { vault in
            _ = try await vault.recordBytes()
            let listed = try await vault.succeed("accounts", "--json").output
            _ = try await vault.recordBytes()
            let script = "mount --bind -o ro \"$1\" \"$1\" && exec \"$2\" accounts --json"
            let outcome = try await TestProcess.run(
                "unshare", ["-m", "sh", "-c", script, "sh", vault.home, AttackedProgram.path], environment: vault.environment)
            #expect(outcome.status == 0 && outcome.output == listed, "\(outcome.status) \(outcome.errors)")
        }
    }
}
#endif
