import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet without a vault")
struct NoVaultTests {
    /// Every command that needs a vault and does not store something first, with typical arguments.
    static let commands: [[String]] = [
        ["accounts"], ["accounts", "--json"], ["code", "mira"], ["code", "mira", "--type", "totp", "--json"],
        ["codes"], ["codes", "mira", "--json"], ["show", "mira"], ["show", "mira", "--secret", "--yes", "--json"],
        ["push", "listen"], ["push", "listen", "mira", "--once", "--timeout", "1"], ["push", "list"],
        ["push", "list", "--all", "--json"],
        ["vault", "key", "list"], ["vault", "key", "list", "--json"], ["vault", "key", "add", "keyfile", "--json"],
        ["vault", "key", "remove", "1"],
        ["vault", "key", "rotate"],
        ["login"], ["login", "--json"], ["token"], ["token", "--offline", "--json"],
        ["userinfo", "--json"], ["devices"], ["devices", "rename", "a", "b"], ["devices", "remove", "a", "--json"],
        ["logout"], ["logout", "--all", "--json"],
        ["push", "approve", "0"], ["push", "approve", "0", "--number", "7"], ["push", "deny", "0"],
    ]

    @Test(
        "Every command that only reads or changes what is stored says how to make a vault, and creates nothing",
        arguments: commands)
    func explainsMissingVault(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await run(arguments, at: cli)
            outcome.fails(78, "signet init --protect keyfile")
            if arguments.contains("--json") {
                #expect(outcome.jsonError?["code"]?.string == "store.noVault")
                #expect(outcome.jsonError?["message"]?.string?.contains("signet init --protect keyfile") == true)
            }
            try nothingExists(at: cli)
        }
    }

    @Test("Without SIGNET_HOME the vault is under XDG_DATA_HOME if absolute, else under HOME")
    func choosesVaultLocation() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let folder = cli.directory.path
            let rows: [([String: String], String)] = [
                (["SIGNET_HOME": "", "XDG_DATA_HOME": folder + "/data"], folder + "/data/signet"),
                (["SIGNET_HOME": "", "XDG_DATA_HOME": "data"], folder + "/.local/share/signet"),
                (["SIGNET_HOME": ""], folder + "/.local/share/signet"),
            ]
            for (environment, path) in rows {
                try await cli.signet("accounts", environment: environment).fails(78, path, "signet init --protect keyfile")
            }
            try nothingExists(at: cli)
            let made = try await cli.signet("init", "--protect", "keyfile", "--json", environment: rows[0].0).succeeds()
            #expect(made.json["path"]?.string == rows[0].1)
            for path in [folder + "/data", rows[0].1] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o700, "\(path)")
            }
        }
    }

    @Test("Without SIGNET_HOME and HOME, signet names the variable to set")
    func explainsMissingHome() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("accounts", environment: ["SIGNET_HOME": "", "HOME": ""])
            outcome.fails(78, "SIGNET_HOME")
        }
    }

    @Test(
        "signet --help and --version open and create nothing",
        arguments: [
            ["--help"], ["-h"], ["help"], ["--version"], ["help", "push", "listen"], ["demo", "--help"], ["serve", "--help"],
            ["init", "--help"],
            ["enroll", "--help"], ["accounts", "--help"], ["code", "--help"], ["push", "--help"], ["push", "listen", "--help"],
            ["push", "list", "--help"], ["push", "approve", "--help"], ["push", "deny", "--help"], ["enroll", "--version"],
        ])
    func printsHelpWithoutVault(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            // A vault that cannot be opened would show an attempt to open it.
            let outcome = try await run(arguments, at: cli, environment: ["SIGNET_HOME": "/proc/none"]).succeeds()
            #expect(outcome.errors == "")
            let isVersion = arguments.contains("--version")
            #expect(outcome.output.hasPrefix(isVersion ? "signet 0." : "OVERVIEW: "), "\(outcome.output)")
            try nothingExists(at: cli)
        }
    }

    @Test(
        "Wrong usage of a command exits with 64 and creates nothing",
        arguments: [
            ["no-such-command"], ["help", "no-such-command"], ["code"], ["enroll"], ["accounts", "extra"],
            ["code", "mira", "--type", "push"],
            ["--no-such-option"],
            ["init", "--protect", "hope"], ["init", "--protect"], ["serve", "--port", "65536"], ["serve", "--port", "x"],
            ["serve", "--push-timeout", "0"], ["serve", "--log-level", "loud"], ["push", "listen", "--timeout", "0"],
            ["push", "approve"],
            ["push", "approve", "1", "--number", "many"], ["push", "deny"],
        ])
    func refusesWrongUsage(arguments: [String]) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            try await run(arguments, at: cli).fails(64, "Usage: signet")
            try nothingExists(at: cli)
        }
    }

    @Test("signet init makes a vault that only its owner can reach, and leaves an existing one untouched")
    func createsPrivateVault() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let first = try await cli.signet("init", "--protect", "keyfile").succeeds()
            #expect(first.output.contains(cli.home) && first.output.contains("keyfile"))
            let files = try cli.vaultFiles()
            #expect(Set(files.keys) == ["vault.sqlite", "vault.key"])
            for (path, wanted) in [
                (cli.home, 0o700), (cli.home + "/vault.sqlite", 0o600), (cli.home + "/vault.key", 0o600),
            ] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == wanted, "\(path)")
            }
            let second = try await cli.signet("init", "--protect", "keyfile", "--json")
            second.fails(73, cli.home)
            #expect(second.jsonError?["code"]?.string == "store.exists")
            #expect(try cli.vaultFiles() == files)
        }
    }

    @Test("Of eight processes that make the same vault at the same time one succeeds and seven exit with 73")
    func createsVaultOnceInParallel() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
                for _ in 0..<8 { group.addTask { try await cli.start(["init", "--protect", "keyfile"]).end() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.map(\.status).sorted() == [0] + Array(repeating: 73, count: 7), "\(outcomes.map(\.errors))")
            try await cli.signet("accounts").succeeds()
        }
    }

    private func run(_ arguments: [String], at cli: CommandLineFixture, environment: [String: String] = [:]) async throws
        -> Outcome
    {
        try await TaskLimiter.processes.pass { try await cli.start(arguments, environment: environment).end() }
    }

    private func nothingExists(at cli: CommandLineFixture) throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
    }

    @Test("An enrollment URI in the wrong argument position is not repeated in the error")
    func hidesMisplacedURI() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let uri = OATHSample.uri()
            let outcome = try await cli.signet("enroll", "x.png", uri)
            outcome.fails(64, "<URI>")
            #expect(!outcome.errors.contains("secret="))
            let json = try await cli.signet("enroll", "x.png", uri, "--json")
            #expect(json.jsonError?["code"]?.string == "usage")
            #expect(!json.errors.contains("secret="))
        }
    }

    @Test("Control characters in an enrollment URI are escaped in the text and the JSON of a dry run")
    func escapesControlCharactersOfURI() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let policies = "{\"x\u{9B}31mEVIL\u{202E}\":{}}"
            let uri = OATHSample.uri() + "&policies=" + Base64.encode(Array(policies.utf8), as: .url)
            for arguments in [["enroll", "--dry-run", uri], ["enroll", "--dry-run", "--json", uri]] {
                let output = try await cli.start(arguments).end().succeeds().output
                let isSafe = output.unicodeScalars.allSatisfy { $0 == "\n" || String($0).isSafeToShow }
                #expect(isSafe)
                #expect(output.contains("\\u009b31mEVIL\\u202e"))
            }
        }
    }
}
