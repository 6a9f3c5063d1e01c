import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

/// A vault with so many accounts that `signet code` reads only the one that it prints.
@Suite(
    "signet code with many accounts, whose records were damaged, removed or put back",
    .enabled("python3 has no sqlite3 here") { await Python.hasSQLite })
struct ManyAccountsTests {
    private func withAccounts(_ body: (CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            let uris = (0..<400).map { OATHSample.uri(issuer: "Issuer \($0 / 4)", account: "user\($0)") }.joined(separator: "\n")
            try await cli.signet("import", cli.write(uris.utf8, to: "list.txt")).succeeds()
            try await body(cli)
        }
    }

    private func change(_ cli: CommandLineFixture, _ statement: String) async throws {
        try await SQLite.run(cli.home + "/vault.sqlite", statement)
    }

    @Test("A name selects an account as it does with few accounts")
    func selectsAccount() async throws {
        try await withAccounts { cli in
            try await cli.signet("accounts", "rename", "user7", "--issuer", "Quay").succeeds()
            for name in ["user7", "USER7", "Issuer 1:user7", "issuer 1: USER7", "quay", "Quay: user7"] {
                let found = try await cli.signet("code", name, "--json").succeeds().json
                #expect(found["account"]?.string == "user7", "\(name)")
            }
            try await cli.signet("code", "Issuer 2").fails(65, "several mechanisms match", "Issuer 2:user8", "Issuer 2:user11")
            try await cli.signet("code", "user400").fails(66, "no account called 'user400'", "did you mean")
            try await cli.signet("accounts", "remove", "user7", "--yes").succeeds()
            try await cli.signet("code", "quay").fails(66, "no account called 'quay'")
            try await cli.signet("vault", "key", "rotate").succeeds()
            try await cli.signet("code", "user8").succeeds()
        }
    }

    @Test("An older record of the account is refused, and one of another account by 'signet accounts'")
    func refusesOlderRecord() async throws {
        try await withAccounts { cli in
            try await change(cli, "CREATE TABLE kept AS SELECT * FROM record WHERE kind = 'account'")
            try await cli.signet("accounts", "rename", "user7", "--issuer", "Quay").succeeds()
            try await change(cli, "INSERT OR REPLACE INTO record SELECT * FROM kept")
            try await cli.signet("code", "user7").fails(78, "put back from an older copy", "signet vault accept-rollback")
            try await cli.signet("code", "user8").succeeds()
            try await cli.signet("accounts").fails(78, "put back from an older copy")
            try await cli.signet("code", "user400").fails(78, "put back from an older copy")
            try await cli.signet("vault", "accept-rollback").succeeds()
            let found = try await cli.signet("code", "user7", "--json").succeeds().json
            #expect(found["issuer"]?.string == "Issuer 1")
        }
    }

    @Test("Removed accounts and a removed index are noticed", arguments: ["account", "mechanism", "index"])
    func noticesRemoval(kind: String) async throws {
        try await withAccounts { cli in
            try await change(cli, "DELETE FROM record WHERE kind = '\(kind)'")
            try await cli.signet("code", "user7").fails(78, "removed")
            try await cli.signet("code", "user7", "--json").fails(78, "store.rolledBack")
        }
    }
}
