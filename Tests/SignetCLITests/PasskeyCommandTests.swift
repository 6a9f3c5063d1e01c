import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet login with passkeys, and signet passkeys")
struct PasskeyCommandTests {
    private static let consent = ["--answer", "passkey=yes"]

    private func withServer(_ body: (RunningServer, CommandLineFixture) async throws -> Void) async throws {
        try await LoginTests.withServer { server, cli in try await body(server, cli) }
    }

    /// Registers a passkey of the server's user.
    private func register(_ server: RunningServer, _ cli: CommandLineFixture) async throws -> Outcome {
        try await server.logIn(cli, "--journey", "WebAuthnRegistration", "--answer", "passkey=yes")
    }

    private func passkeys(_ cli: CommandLineFixture) async throws -> [JSONValue] {
        try await cli.signet("passkeys", "--json").succeeds().jsonLines
    }

    @Test(
        "A journey registers a passkey in the vault and logs in with it, in each form of the request",
        arguments: ["", "70", "65"])
    func logsInWithVaultPasskey(form: String) async throws {
        try await withServer { server, cli in
            try await server.logIn(cli, "--journey", "WebAuthnRegistration\(form)", "--answer", "passkey=yes").succeeds()
            let login = try await server.logIn(cli, "--journey", "WebAuthnLogin\(form)", "--answer", "passkey=yes").succeeds()
            #expect(login.output.contains("Logged in at \(server.url)"))
            let listed = try await passkeys(cli)
            #expect(listed.count == 1 && listed[0]["relyingParty"] == .string("localhost"))
            #expect(listed[0]["user"] == .string(server.browser.user) && listed[0]["algorithm"] == .string("ES256"))
            #expect(listed[0]["signatures"] == .integer(1) && listed[0]["lastUsedAt"] != nil)
            let text = try await cli.signet("passkeys").succeeds().output
            #expect(text.hasPrefix("\(server.browser.user)@localhost  [ES256]  "))
        }
    }

    @Test("A user that says no registers no passkey, and one with --no-passkeys is not asked", arguments: [true, false])
    func registersNothingWithoutConsent(isAsked: Bool) async throws {
        try await withServer { server, cli in
            let options = isAsked ? ["--answer", "passkey=no"] : ["--no-passkeys", "--answer", "passkey=yes"]
            let (known, password) = server.credentials
            let arguments = ["login", server.url, "--journey", "WebAuthnRegistration"] + known + options
            let login = try await cli.start(arguments, input: .text(password)).end()
            #expect(login.status == 77)
            #expect(login.errors.contains(isAsked ? "the user declined" : "--no-passkeys"))
            #expect(try await passkeys(cli).isEmpty)
        }
    }

    @Test("Without a terminal and without an answer, the server is told that there is no passkey")
    func reportsMissingTerminal() async throws {
        try await withServer { server, cli in
            try await register(server, cli).succeeds()
            let login = try await server.logIn(cli, "--journey", "WebAuthnLogin")
            #expect(login.status == 77 && login.errors.contains("--answer passkey=yes"))
            #expect(try await passkeys(cli).first?["signatures"] == .integer(0))
        }
    }

    @Test(
        "With --security-key and no key, the login ends with the reason and the vault gets no passkey",
        .enabled(if: !FileManager.default.fileExists(atPath: "/dev/hidraw0"), "this machine may have a security key"))
    func reportsMissingSecurityKey() async throws {
        try await withServer { server, cli in
            let login = try await server.logIn(cli, "--journey", "WebAuthnRegistration", "--security-key")
            #expect(login.status == 77)
            #expect(login.errors.contains("no security key is connected") || login.errors.contains("libfido2"))
            #expect(try await passkeys(cli).isEmpty)
            try await cli.signet("login", server.url, "--security-key", "--no-passkeys").fails(64, "exclude each other")
        }
    }

    @Test("A second registration ends with the reason, and keeps the first passkey only")
    func registersOnce() async throws {
        try await withServer { server, cli in
            try await register(server, cli).succeeds()
            // With its session the user would not be asked again.
            try await cli.signet("logout").succeeds()
            let again = try await register(server, cli)
            #expect(again.status == 77 && again.errors.contains("the vault already holds a passkey for this account"))
            #expect(try await passkeys(cli).count == 1)
        }
    }

    @Test("A damaged passkey is reported here, ends the list with 74, and can be removed")
    func reportsDamagedPasskey() async throws {
        try await withServer { server, cli in
            try await register(server, cli).succeeds()
            let id = try #require(try await passkeys(cli).first?["id"]?.string)
            let vault = try VaultDirectory(path: cli.home).openVault(protectors: [])
            try vault.write { (records: any RecordWriter) throws(StoreError) in
                try records.put(Array("{}".utf8), RecordKey(.item, "signet", "passkey", id))
            }
            let login = try await server.logIn(cli, "--journey", "WebAuthnLogin", "--answer", "passkey=yes")
            #expect(login.status == 77 && login.errors.contains("the passkeys of the vault cannot be used"))
            try await cli.signet("passkeys").fails(74, id, "damaged", "nothing was changed")
            try await cli.signet("passkeys", "remove", id, "--yes").succeeds()
            #expect(try await passkeys(cli).isEmpty)
        }
    }

    @Test("signet passkeys remove asks, and without a terminal and --yes it ends with 77 and removes nothing")
    func removesPasskeyAfterAsking() async throws {
        try await withServer { server, cli in
            let user = server.browser.user
            try await cli.signet("passkeys", "remove", user, "--yes").fails(66, user)
            try await register(server, cli).succeeds()
            let id = try #require(try await passkeys(cli).first?["id"]?.string)
            try await cli.signet("passkeys", "remove", user).fails(77, "\(user)@localhost", "--yes")
            #expect(try await passkeys(cli).count == 1)
            // An id can begin with a hyphen.
            try await cli.signet("passkeys", "remove", "--yes", "--", String(id.prefix(5))).fails(66, "signet passkeys")
            let removed = try await cli.signet("passkeys", "remove", "--yes", "--json", "--", String(id.prefix(8))).succeeds()
            #expect(removed.json["id"] == .string(id))
            #expect(try await cli.signet("passkeys").succeeds().line.hasPrefix("No passkeys yet."))
            try await cli.signet("passkeys", "remove", "localhost", "--yes").fails(66, "localhost")
        }
    }

    @Test("A name of several passkeys removes none of them")
    func refusesAmbiguousName() async throws {
        try await withServer { server, cli in
            try await register(server, cli).succeeds()
            try await LoginTests.withServer { other, _ in
                let (known, password) = other.credentials
                let arguments = ["login", other.url, "--journey", "WebAuthnRegistration", "--profile", "other"]
                try await cli.start(arguments + known + Self.consent, input: .text(password)).end().succeeds()
            }
            let listed = try await passkeys(cli)
            try #require(listed.count == 2)
            try await cli.signet("passkeys", "remove", "localhost", "--yes").fails(65, "several", "id")
            #expect(try await passkeys(cli).count == 2)
        }
    }

    @Test(
        "At a terminal the user is asked, and verified by the passphrase of a vault that has one",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"))
    func asksAtTerminalForPasskey() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let passphrase = "correct horse battery staple"
            try await cli.signet(
                "init", "--protect", "passphrase", "--passphrase-fd", "0", input: .text("\(passphrase)\n")
            ).succeeds()
            try await RunningServer.with(cli) { server in
                let login = try cli.startAtTerminal(
                    ["login", server.url, "--journey", "WebAuthnRegistration", "--answer", "name=\(server.browser.user)"])
                func answer(_ prompt: String, _ text: String) async throws {
                    try await login.waitForOutput { output, _ in output.contains(prompt) }
                    login.type(text + "\n")
                }
                try await answer("Passphrase: ", passphrase)
                try await answer("Password: ", server.browser.password)
                try await answer("Create a passkey for '\(server.browser.user)' at localhost in this vault [y/n]: ", "y")
                try await answer("Passphrase of the vault, to verify you: ", "another one")
                try await answer("This is not the passphrase of the vault. Try again.", passphrase)
                let outcome = await login.end()
                #expect(outcome.status == 0, "\(outcome.output)")
                #expect(outcome.output.contains("The passkey is in the vault."))
                #expect(!outcome.output.contains(passphrase))
            }
        }
    }
}
