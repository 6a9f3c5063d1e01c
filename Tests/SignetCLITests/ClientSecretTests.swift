import Foundation
import SignetCore
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet login with a client that has a secret, against signet serve")
struct ClientSecretTests {
    private static let secret = "s3:cret %ü"
    private static let configuration = """
        users: [{name: demo}]
        clients:
          - {id: web, secret: "\(secret)", redirectURIs: ["http://127.0.0.1/callback"]}
          - {id: other, redirectURIs: ["http://127.0.0.1/callback"]}
        """

    private func withServer(_ body: (RunningServer, CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            let options = ["--config", try cli.write(Self.configuration.utf8, to: "server.yaml"), "--state", "memory"]
            try await RunningServer.with(cli, options) { server in try await body(server, cli) }
        }
    }

    /// Writes the settings of a profile for the client, with more lines of the client.
    private func settings(_ url: String, _ lines: [String], _ cli: CommandLineFixture) throws -> String {
        let client = ["id: web", "redirectUri: http://127.0.0.1/callback"] + lines
        let text = "url: \(url)\nclient:\n" + client.map { "  \($0)\n" }.joined()
        return try cli.write(text.utf8, to: "settings.yaml")
    }

    @Test("A login stores the secret of its client in the vault, and later commands do not need the file")
    func keepsClientSecretInVault() async throws {
        try await withServer { server, cli in
            let file = try cli.write("\(Self.secret)\n".utf8, to: "client.secret")
            let login = try await server.logIn(cli, "--client", "web", "--client-secret-file", file, "--json").succeeds()
            #expect(login.json["subject"]?.string == "demo")
            try FileManager.default.removeItem(atPath: file)

            let renewed = try await cli.signet("token", "--refresh", "--json").succeeds()
            let again = try await cli.signet("login", "--scope", "openid email", "--json").succeeds()
            let scopes = again.json["scope"]?.string?.split(separator: " ").sorted()
            #expect(scopes == ["email", "openid"])
            let information = try await cli.signet("userinfo", "--json").succeeds()
            let isInFiles = try cli.vaultFiles().values.contains { $0.range(of: Data(Self.secret.utf8)) != nil }
            #expect(!isInFiles)
            let logout = try await cli.signet("logout", "--json").succeeds()
            #expect(logout.json["complete"]?.bool == true && logout.json["tokens"]?.string == "done")
            for result in [login, renewed, again, information, logout] {
                let shown = result.output + result.errors
                #expect(!shown.contains(Self.secret))
            }
        }
    }

    @Test("The secret of a client is the first line of standard input, before the answers to the journey")
    func readsClientSecretFromStandardInput() async throws {
        try await withServer { server, cli in
            let (known, password) = server.credentials
            let arguments = ["login", server.url, "--client", "web", "--client-secret-file", "-"] + known
            try await cli.start(arguments, input: .text("\(Self.secret)\n\(password)")).end().succeeds()
            try await cli.signet("token", "--refresh").succeeds()
        }
    }

    @Test("A settings file names the method and the file of the secret, and a login without that file keeps the secret")
    func readsClientSecretOfSettings() async throws {
        try await withServer { server, cli in
            let file = try cli.write(Self.secret.utf8, to: "client.secret")
            let method = "authentication: client_secret_post"
            let first = try settings(server.url, [method, "secretFile: \(file)"], cli)
            let (known, password) = server.credentials
            try await cli.start(["login", "--settings", first] + known, input: .text(password)).end().succeeds()
            try FileManager.default.removeItem(atPath: file)
            try await cli.signet("token", "--refresh").succeeds()
            for lines in [[method], []] {
                let later = try settings(server.url, lines, cli)
                try await cli.signet("login", "--settings", later).succeeds()
                try await cli.signet("token", "--refresh").succeeds()
            }
            // Another client is a public one until it gets a secret of its own.
            try await server.logIn(cli, "--client", "other").succeeds()
            try await cli.signet("token", "--refresh").succeeds()
        }
    }

    @Test("A wrong or missing secret exits with 77 and advises to check it, and nothing is kept")
    func refusesWrongClientSecret() async throws {
        try await withServer { server, cli in
            let wrong = "wrong " + Self.secret
            let file = try cli.write(wrong.utf8, to: "client.secret")
            let refused = try await server.logIn(cli, "--client", "web", "--client-secret-file", file)
            refused.fails(77, "invalid_client", "nothing was kept", "--client-secret-file")
            #expect(!refused.errors.contains(Self.secret))
            let unauthenticated = try await server.logIn(cli, "--client", "web")
            unauthenticated.fails(77, "nothing was kept")
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test(
        "A login with a wrong secret leaves the earlier login as it is, and the next right secret replaces its tokens",
        arguments: [[], ["--force"]] as [[String]])
    func keepsLoginAfterWrongSecret(options: [String]) async throws {
        try await withServer { server, cli in
            let right = try cli.write(Self.secret.utf8, to: "right.secret")
            try await server.logIn(cli, "--client", "web", "--client-secret-file", right).succeeds()
            let before = try await cli.signet("token", "--offline").succeeds().output

            let wrong = try cli.write("wrong".utf8, to: "wrong.secret")
            let (known, password) = server.credentials
            let arguments = ["login", "--client-secret-file", wrong] + options + known
            let refused = try await cli.start(arguments, input: .text(password)).end()
            // With --force there is a new session, whose tokens the known secret gets.
            refused.fails(77, "invalid_client", options.isEmpty ? "the earlier login was kept" : " was kept")
            #expect(!refused.errors.contains("did not end everything"))
            let after = try await cli.signet("token").succeeds().output
            if options.isEmpty { #expect(after == before) }
            try await cli.signet("token", "--refresh").succeeds()

            let file = try settings(server.url, ["authentication: client_secret_post", "secretFile: \(right)"], cli)
            let replaced = try await cli.start(["login", "--settings", file] + known, input: .text(password)).end().succeeds()
            #expect(!replaced.errors.contains("did not end everything"))
            let last = try await cli.signet("token", "--offline").succeeds().output
            #expect(last != before && last != after)
            try await cli.signet("token", "--refresh").succeeds()
        }
    }

    @Test("A secret file that is not private or has no secret is refused before a request is sent")
    func refusesUnsafeSecretFile() async throws {
        try await CommandLineFixture.with { cli in
            let login = ["login", "https://a.test", "--client", "web", "--client-secret-file"]
            let file = try cli.write(Self.secret.utf8, to: "client.secret", mode: 0o644)
            try await cli.start(login + [file]).end().fails(77, "client.secret", "mode 0644", "chmod 600")
            let later = try settings("https://a.test", ["secretFile: \(file)"], cli)
            try await cli.signet("login", "--settings", later).fails(65, "settings.yaml:5:", "client.secretFile", "mode 0644")
            let link = cli.directory.file("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
            try await cli.start(login + [link]).end().fails(77, "link")
            try await cli.start(login + [cli.directory.file("none")]).end().fails(66, "none")
            let empty = try cli.write("\n".utf8, to: "empty")
            try await cli.start(login + [empty]).end().fails(65, "one line")
            let relative = try settings("https://a.test", ["secretFile: client.secret"], cli)
            try await cli.signet("login", "--settings", relative).fails(65, "client.secretFile", "absolute path")

            let usable = try cli.write(Self.secret.utf8, to: "usable")
            try await cli.signet("login", "https://a.test", "--client-secret-file", usable).fails(64, "--client ID")
            let none = try settings("https://a.test", ["authentication: none"], cli)
            try await cli.signet("login", "--settings", none, "--client-secret-file", usable).fails(65, "client.authentication")
        }
    }

    @Test("A systemd credential provides the secret of a client, and without it a logout still ends the login here")
    func readsClientSecretFromCredential() async throws {
        try await withServer { server, cli in
            let folder = cli.directory.file("credentials")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try #require(chmod(folder, 0o700) == 0)
            _ = try cli.write("\(Self.secret)\n".utf8, to: "credentials/signet-client-secret")
            let environment = ["CREDENTIALS_DIRECTORY": folder]
            let file = try settings(server.url, ["authentication: client_secret_basic"], cli)
            let (known, password) = server.credentials
            let arguments = ["login", "--settings", file] + known
            try await cli.start(arguments, input: .text(password)).end().fails(65, "settings.yaml", "signet-client-secret")
            try await cli.start(arguments, input: .text(password), environment: environment).end().succeeds()
            try await cli.signet("token", "--refresh", environment: environment).succeeds()

            // A stored token is valid without the secret, and a failed renewal uses nothing up.
            let token = try await cli.signet("token").succeeds().output
            try await cli.signet("userinfo").succeeds()
            try await cli.signet("token", "--refresh").fails(65, "client.authentication", "signet-client-secret")
            let stored = try await cli.signet("token", "--offline").succeeds().output
            #expect(stored == token)
            try await cli.signet("token", "--refresh", environment: environment).succeeds()
            let logout = try await cli.signet("logout", "--json")
            #expect(logout.status == 77 && logout.json["local"]?.string == "done" && logout.json["tokens"]?.string == "failed")
            try await cli.signet("token", environment: environment).fails(77, "no user is logged in here")
        }
    }

    @Test("A login profile is read from the vault with its client secret, which its descriptions do not show")
    func readsStoredClientSecret() throws {
        let client: [String: JSONValue] = [
            "id": .string("web"), "redirectUri": .string("app://cb"), "authentication": .string("client_secret_basic"),
        ]
        let entry: [String: JSONValue] = [
            "name": .string("a"), "settings": .object(["url": .string("https://a.test"), "client": .object(client)]),
            "plainHTTP": .array([]), "clientSecret": .string(Self.secret),
        ]
        let store = ProfileStore(json: .object(["version": .integer(1), "profiles": .array([.object(entry)])]))
        let profile = try #require(store?.profiles.first)
        let authentication = try profile.server().client?.authentication
        #expect(authentication == ClientAuthentication.clientSecretBasic(Secret(Self.secret.utf8)))
        var dumped = ""
        dump(profile, to: &dumped)
        for text in ["\(profile)", String(reflecting: profile), dumped] { #expect(!text.contains(Self.secret)) }
    }
}
