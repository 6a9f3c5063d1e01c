import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet ask, and proofs of signet token")
struct AskTests {
    /// Writes the settings of a client with a secret at the provider.
    private func settings(_ server: FakeProvider, _ cli: CommandLineFixture, _ lines: [String] = []) throws -> String {
        let file = try cli.write("s3cret\n".utf8, to: "client.secret", mode: 0o600)
        let client = ["id: app", "redirectUri: http://127.0.0.1/callback", "scopes: [openid]", "secretFile: \(file)"] + lines
        let discovery = "endpoints:\n  discovery: \(server.url)/.well-known/openid-configuration\n"
        let text = "url: \(server.url)\n\(discovery)client:\n" + client.map { "  \($0)\n" }.joined()
        return try cli.write(text.utf8, to: "settings.yaml")
    }

    @Test("signet ask ends with 0 after the approval, revokes its tokens, and needs no vault with --settings")
    func endsWithZeroAfterApproval() async throws {
        let server = try FakeProvider {
            $0.devicePolls = [.error("400 Bad Request", "authorization_pending", "The user has not answered yet")]
        }
        try await CommandLineFixture.with(vault: false) { cli in
            let file = try settings(server, cli)
            let asked = try await cli.signet(
                "ask", "--settings", file, "--user", "alice", "--timeout", "60", "--json", "deploy 4711?"
            ).succeeds()
            #expect(asked.json["approved"]?.bool == true && asked.json["user"]?.string == "alice")
            #expect(asked.json["subject"]?.string == "alice" && server.revoked.count == 1)
            let form = server.deviceRequest
            #expect(form["binding_message"] == "deploy 4711?" && form["login_hint"] == "alice")
            #expect(form["requested_expiry"] == "60")
            let isThere = FileManager.default.fileExists(atPath: cli.home)
            #expect(!isThere)
        }
    }

    /// The errors of the server that end the wait, and the codes of the command's errors.
    static let ends = [("access_denied", "denied the request"), ("expired_token", "did not answer in time")]

    @Test("signet ask ends with 77 after a denial, and without an answer in time", arguments: ends)
    func endsWithNotAllowed(name: String, words: String) async throws {
        let server = try FakeProvider { $0.devicePolls = [.error("400 Bad Request", name, "no")] }
        try await CommandLineFixture.with(vault: false) { cli in
            let file = try settings(server, cli)
            let asked = try await cli.signet("ask", "--settings", file, "--user", "alice", "deploy?")
            asked.fails(77, "alice", words)
            #expect(asked.output.isEmpty && server.revoked.isEmpty)
        }
    }

    @Test("signet ask asks the user who is logged in, and the login stays as it is")
    func asksLoggedInUser() async throws {
        let server = try FakeProvider()
        try await CommandLineFixture.with { cli in
            let file = try settings(server, cli)
            try await cli.signet("login", "--settings", file, "--issuer", server.url, "--device").succeeds()
            let token = try await cli.signet("token").succeeds().line
            let asked = try await cli.signet("ask", "deploy 4711?").succeeds()
            #expect(asked.line == "Approved by alice." && asked.errors.contains("Waiting for the answer of alice."))
            let after = try await cli.signet("token").succeeds().line
            #expect(after == token && server.revoked.count == 1)
        }
    }

    /// Wrong arguments, and a word of the error.
    static let wrong: [(arguments: [String], word: String)] = [
        (["ask", ""], "empty"), (["ask", "a\nb"], "one line"), (["ask", "--timeout", "0", "x"], "--timeout"),
        (["ask", "--settings", "f", "x"], "--user"),
        (["ask", "--settings", "f", "--profile", "p", "--user", "u", "x"], "exclude"),
        (["token", "--method", "POST"], "--dpop"), (["token", "--dpop", "/orders"], "--dpop"),
        (["token", "--dpop", "https://api.example.com", "--method", "A B"], "--method"),
        (["token", "--dpop", "https://api.example.com", "--nonce", "a b"], "--nonce"),
    ]

    @Test("Wrong arguments of signet ask and signet token are refused", arguments: wrong)
    func refusesWrongArguments(arguments: [String], word: String) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await TaskLimiter.processes.pass { try await cli.start(arguments).end() }
            outcome.fails(64, word)
        }
    }

    @Test("signet token --dpop prints the two header fields of a request with a bound token")
    func printsHeaderFields() async throws {
        let server = try FakeProvider { $0.isBinding = true }
        try await CommandLineFixture.with { cli in
            let file = try settings(server, cli, ["dpop: software"])
            try await cli.signet("login", "--settings", file, "--issuer", server.url, "--device").succeeds()
            let url = "https://api.example.com/orders"
            let token = try await cli.signet("token").succeeds().line
            let printed = try await cli.signet("token", "--dpop", "\(url)?page=2", "--method", "post", "--nonce", "n-1")
                .succeeds()
            let lines = printed.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines.first == "Authorization: DPoP \(token)")
            let proof = try DPoPProof(String(try #require(lines.last).trimmingPrefix("DPoP: ")))
            let request = try #require(DPoPRequest(method: "POST", url: url, accessToken: Secret(token.utf8)))
            try proof.check(for: request, at: Date())
            #expect(proof.nonce == "n-1")
            let json = try await cli.signet("token", "--offline", "--dpop", url, "--json").succeeds().json
            let second = try DPoPProof(try #require(json["proof"]?.string))
            #expect(json["tokenType"]?.string == "DPoP" && second.thumbprint == proof.thumbprint && second.id != proof.id)
        }
    }

    @Test("signet token --dpop is refused for a bearer token")
    func refusesProofOfBearerToken() async throws {
        let server = try FakeProvider()
        try await CommandLineFixture.with { cli in
            try await cli.signet("login", "--issuer", server.url, "--client", "app", "--device").succeeds()
            try await cli.signet("token", "--dpop", "https://api.example.com").fails(65, "not bound")
        }
    }
}
