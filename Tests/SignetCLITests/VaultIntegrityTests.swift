import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// Records that were changed behind the program's back, by a user who can write the file and has no key.
@Suite(
    "signet with records that were damaged, removed or put back",
    .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
struct VaultIntegrityTests {
    private func change(_ cli: CommandLineFixture, _ statement: String) async throws {
        try await SQLite.run(cli.home + "/vault.sqlite", statement)
    }

    @Test("A used HOTP code is not printed again when the old record is put back, until the user accepts it")
    func refusesOldCounter() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            try await change(cli, "CREATE TABLE kept AS SELECT * FROM record WHERE kind = 'mechanism'")
            let code = try HOTP.code(secret: OATHSample.secret, counter: 0)
            #expect(try await cli.signet("code", "mira").line == code)
            try await change(cli, "INSERT OR REPLACE INTO record SELECT * FROM kept")
            let path = cli.directory.file("backup")
            for arguments in [["code", "mira"], ["accounts"], ["backup", "create", path], ["vault", "key", "rotate"]] {
                let outcome = try await TaskLimiter.processes.pass { try await cli.start(arguments).end() }
                outcome.fails(78, "put back from an older copy", "signet vault accept-rollback")
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            try await cli.signet("vault", "accept-rollback").succeeds()
            #expect(try await cli.signet("code", "mira").line == code)
        }
    }

    @Test(
        "Removed records are noticed", arguments: ["kind = 'mechanism'", "kind = 'account'", "kind = 'index'", "kind <> 'vault'"])
    func noticesRemovedRecords(condition: String) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            try await change(cli, "DELETE FROM record WHERE \(condition)")
            try await cli.signet("accounts").fails(78, "removed")
            try await cli.signet("accounts", "--json").fails(78, "store.rolledBack")
        }
    }

    @Test(
        "With a damaged record accounts lists the others and ends with 74, and no backup is made",
        arguments: ["account", "mechanism"])
    func reportsDamagedRecords(kind: String) async throws {
        try await CommandLineFixture.with { cli in
            for name in ["mira", "noa"] { try await cli.signet("enroll", OATHSample.uri(account: name)).succeeds() }
            try await change(
                cli,
                "UPDATE record SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) AS BLOB) WHERE kind = '\(kind)' "
                    + "AND name = (SELECT min(name) FROM record WHERE kind = '\(kind)')")
            let plain = try await cli.signet("accounts")
            #expect(plain.status == 74 && plain.errors.contains("1 record cannot be read"), "\(plain.errors)")
            let json = try await cli.signet("accounts", "--json")
            #expect(json.status == 74)
            let mechanisms = json.jsonLines.map { $0["mechanisms"]?.array?.count }
            #expect(kind == "account" ? mechanisms == [1] : Set(mechanisms) == [0, 1])
            let path = cli.directory.file("backup")
            try await cli.signet("backup", "create", path).fails(74, "cannot be read")
            #expect(!FileManager.default.fileExists(atPath: path))
            let doctor = try await cli.signet("doctor", "--json").succeeds().json
            #expect(doctor["vault"]?["format"]?.lenientInteger == 2 && doctor["vault"]?["lastBackup"] == nil)
        }
    }

    @Test(
        "Without a match, code and push listen end with 74 when an account or a mechanism cannot be read, and with 66 otherwise",
        arguments: ["account", "mechanism", "notification"])
    func reportsDamageInPlaceOfMissingAccount(kind: String) async throws {
        let isNotification = kind == "notification"
        let server = try FakePushServer()
        defer { server.stop() }
        try await CommandLineFixture.with { cli in
            for name in ["mira", "noa"] { try await cli.signet("enroll", OATHSample.uri(account: name)).succeeds() }
            if isNotification {
                try await cli.signet("enroll", server.uri()).succeeds()
                server.send(try server.message(id: "M1"), id: "1")
                try await cli.start(["push", "listen", "--once"]).end().succeeds()
            }
            try await cli.signet("code", "pat").fails(66, "no account called 'pat'")
            try await change(
                cli,
                "UPDATE record SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) AS BLOB) WHERE kind = '\(kind)' "
                    + "AND name = (SELECT min(name) FROM record WHERE kind = '\(kind)')")
            #expect(try await cli.signet("accounts").status == 74)
            for command in [["code", "pat"], ["push", "listen", "pat"]] {
                let outcome = try await TaskLimiter.processes.pass { try await cli.start(command).end() }
                outcome.fails(isNotification ? 66 : 74, "no account called 'pat'")
                let advice = outcome.errors.contains("1 record cannot be read") && outcome.errors.contains("signet accounts")
                #expect(advice != isNotification, "\(outcome.errors)")
            }
            // The names of the records are hidden: the damaged one belongs to either account.
            var statuses: Set<Int32> = []
            for name in ["mira", "noa"] {
                let outcome = try await cli.signet("code", name, "--json")
                statuses.insert(outcome.status)
                if outcome.status == 0 {
                    #expect(outcome.json["code"]?.string?.count == 6 && outcome.errors.isEmpty)
                } else {
                    #expect(outcome.jsonError?["code"]?.string == "damagedRecords" && outcome.output.isEmpty)
                }
            }
            let expected: Set<Int32> = isNotification ? [0] : [0, 74]
            #expect(statuses == expected)
        }
    }

    @Test("With a damaged page the error names the way out: a backup of the rest, and a restore in place of the damaged file")
    func salvagesDamagedFile() async throws {
        try await CommandLineFixture.with { cli in
            let uris = (0..<40).map { OATHSample.uri(account: "user\($0)") }.joined(separator: "\n")
            try await cli.signet("import", cli.write(uris.utf8, to: "list.txt")).succeeds()
            let (whole, rest) = (cli.directory.file("whole"), cli.directory.file("rest"))
            let reading = ["--file-passphrase-fd", "0"]
            func run(_ arguments: [String]) async throws -> Outcome {
                try await TaskLimiter.processes.pass { try await cli.start(arguments, input: .text("a passphrase")).end() }
            }
            try await run(["backup", "create", whole] + reading).succeeds()
            try damageLeaf(of: cli)
            try await cli.signet("accounts").fails(74, "damaged", "signet backup create --skip-damaged")
            #expect(try await cli.signet("doctor").status == 74)
            try await run(["backup", "create", rest] + reading).fails(74, "signet backup create --skip-damaged")
            let made = try await run(["backup", "create", rest, "--skip-damaged", "--json"] + reading).succeeds()
            let saved = try #require(made.json["accounts"]?.lenientInteger)
            #expect(saved > 10 && made.json["recorded"] == .bool(false))
            #expect((made.json["damaged"]?.lenientInteger ?? 0) > 0 && made.errors.contains("cannot be read from the file"))
            let exported = try await cli.signet("export", cli.directory.file("exported"), "--yes")
            #expect(exported.status == 74 && FileManager.default.fileExists(atPath: cli.directory.file("exported")))
            try await run(["backup", "restore", whole] + reading).fails(74, "damaged")
            let restored = try await run(["backup", "restore", whole, "--replace-damaged"] + reading).succeeds()
            #expect(restored.errors.contains("vault.sqlite.damaged"))
            let accounts = try await cli.accounts()
            #expect(accounts.count == 40)
            let mechanisms = accounts.map { $0["mechanisms"]?.array?.count }
            #expect(mechanisms == Array(repeating: 1, count: 40))
            try await run(["backup", "restore", whole, "--replace-damaged"] + reading).fails(65, "not damaged")
        }
    }

    /// Overwrites the last page that holds records of mechanisms and not the header.
    private func damageLeaf(of cli: CommandLineFixture) throws {
        var bytes = try Data(contentsOf: URL(filePath: cli.home + "/vault.sqlite"))
        let leaves = (1..<bytes.count / 4_096).filter { page in
            let content = bytes[page * 4_096..<(page + 1) * 4_096]
            return content.first == 0x0A && content.range(of: Data("mechanism".utf8)) != nil
                && content.range(of: Data("\"check\"".utf8)) == nil
        }
        let leaf = try #require(leaves.last)
        bytes.replaceSubrange(leaf * 4_096..<(leaf + 1) * 4_096, with: Data(repeating: 0x5A, count: 4_096))
        _ = try cli.write(bytes, to: "vault/vault.sqlite")
    }

    @Test("A vault whose file was cut ends doctor and every command that opens it with 74")
    func reportsCutFile() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri()).succeeds()
            let bytes = try Data(contentsOf: URL(filePath: cli.home + "/vault.sqlite"))
            _ = try cli.write(bytes.dropLast(900), to: "vault/vault.sqlite")
            let doctor = try await cli.signet("doctor")
            #expect(doctor.status == 74 && doctor.errors.contains("damaged"), "\(doctor.errors)")
            try await cli.signet("accounts").fails(74, "damaged")
            try await cli.signet("backup", "create", cli.directory.file("backup")).fails(74, "damaged")
        }
    }

    #if os(Linux)
    @Test("A vault on a read-only file system is listed, and a change ends with 77", .enabled(if: SmallDisk.isPossible))
    func readsReadOnlyVault() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await SmallDisk.with(cli.home, kilobytes: 512) { disk in
                try await cli.signet("init", "--protect", "keyfile").succeeds()
                try await cli.signet("enroll", OATHSample.uri()).succeeds()
                try await cli.signet("enroll", OATHSample.uri("hotp", account: "noa")).succeeds()
                try disk.makeReadOnly()
                #expect(try await cli.accounts().count == 2)
                try await cli.signet("code", "mira").succeeds()
                try await cli.signet("code", "noa").fails(77)
                try await cli.signet("enroll", OATHSample.uri(account: "pat")).fails(77)
                try await cli.signet("doctor").succeeds()
            }
        }
    }
    #endif
}
