import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet enroll --dry-run with the enrollment vectors")
struct DryRunTests {
    /// A row of `Tests/SignetCoreTests/Vectors/enrollment.json`.
    struct Row: Sendable, CustomTestStringConvertible {
        let members: [String: JSONValue]
        var uri: String { members["uri"]?.string ?? "" }
        var testDescription: String { members["name"]?.string ?? uri }

        static func all(_ list: String) throws -> [Row] {
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let file = try Data(contentsOf: tests.appending(path: "SignetCoreTests/Vectors/enrollment.json"))
            let rows = try #require(JSONDecoder().decode(JSONValue.self, from: file)[list]?.array).compactMap(\.object).map(
                Row.init)
            try #require(!rows.isEmpty)
            return rows
        }

        /// The values of parameters, both encoded as in the URI and decoded.
        func values(of names: Set<String>? = nil) -> [String] {
            let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            return query.split(separator: "&").flatMap { pair -> [String] in
                guard names?.contains(String(pair.prefix { $0 != "=" })) ?? true else { return [] }
                let value = String(pair.drop { $0 != "=" }.dropFirst())
                return [value, value.removingPercentEncoding ?? value]
            }.filter { !$0.isEmpty }
        }
    }

    /// The members of a row that `--json` also prints.
    static let reported: Set<String> = [
        "type", "issuer", "account", "digits", "period", "algorithm", "counter", "registrationEndpoint", "authenticationEndpoint",
        "loadBalancer", "image", "backgroundColor", "messageId", "policies", "uid", "oathResourceId", "pushResourceId",
    ]
    /// The members of a row that are secret, derived from secrets, or not part of an enrollment.
    static let unreported: Set<String> = ["name", "uri", "secretHex", "codeAt1735689600", "firstCodes"]

    @Test("signet enroll --dry-run shows the members of an accepted URI without its secrets", arguments: try Row.all("accept"))
    func showsAcceptedURI(row: Row) async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let json = try await cli.signet("enroll", "--dry-run", "--json", row.uri).succeeds()
            let shown = try #require(json.json.object)
            for (name, value) in row.members where !Self.unreported.contains(name) {
                #expect(Self.reported.contains(name), "the vectors have a member that is new here: \(name)")
                #expect(shown[name] == value, "\(name)")
            }
            let text = try await cli.signet("enroll", "--dry-run", "-", input: .text(row.uri + "\n")).succeeds()
            #expect(text.output.hasPrefix("Would enroll "))
            for outcome in [json, text] {
                for secret in try Self.secrets(of: row) {
                    #expect(!outcome.output.localizedCaseInsensitiveContains(secret), "\(outcome.output)")
                }
                #expect(outcome.errors == "")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test(
        "signet enroll --dry-run refuses a bad URI with 65, names the wrong part and repeats no content",
        arguments: try Row.all("refuse"))
    func refusesBadURI(row: Row) async throws {
        let part = try #require(row.members["wrong"]?.string)
        try await CommandLineFixture.with(vault: false) { cli in
            var outcomes = [
                try await cli.signet("enroll", "--dry-run", "-", input: .text(row.uri)),
                try await cli.signet("enroll", "--dry-run", "--json", "-", input: .text(row.uri + "\n")),
            ]
            let error = try #require(outcomes[1].jsonError?.object)
            #expect(Set(error.keys) == ["code", "message", "part"])
            #expect(error["part"]?.string == part)
            #expect(error["code"]?.string?.hasPrefix("enrollment.") == true)
            // Without `://` an argument is the name of a file.
            if row.uri.contains("://") { outcomes.append(try await cli.signet("enroll", "--dry-run", row.uri)) }
            for outcome in outcomes {
                outcome.fails(65, part)
                for value in row.values() where value.count > 5 {
                    #expect(!outcome.errors.localizedCaseInsensitiveContains(value), "\(outcome.errors)")
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: cli.directory.path) == [])
        }
    }

    @Test("signet enroll --dry-run neither changes nor opens an existing vault", arguments: [true, false])
    func dryRunIgnoresVault(isWhole: Bool) async throws {
        try await CommandLineFixture.with { cli in
            if !isWhole { try Data("noise".utf8).write(to: URL(filePath: cli.home + "/vault.sqlite")) }
            let before = try cli.vaultFiles()
            let row = try #require(try Row.all("accept").first)
            try await cli.signet("enroll", "--dry-run", row.uri).succeeds()
            #expect(try cli.vaultFiles() == before)
            if isWhole { #expect(try await cli.accounts().isEmpty) }
        }
    }

    @Test("signet enroll --dry-run opens no connection to the endpoint of the URI")
    func dryRunSendsNothing() async throws {
        let server = try RawServer { _ in Issue.record("a client connected") }
        let uri = try PushInvitation.sample(port: server.port).uri()
        try await CommandLineFixture.with(vault: false) { cli in
            let outcome = try await cli.signet("enroll", "--dry-run", "--json", uri).succeeds()
            #expect(outcome.json["registrationEndpoint"]?.string == "http://127.0.0.1:\(server.port)/register")
        }
    }

    @Test("Plain http to another host is refused unless the user allows that host by name")
    func refusesPlainHTTPUnlessHostIsAllowed() async throws {
        let invitation = try PushInvitation.sample(
            url: "http://am.example.test", policy: .allowingPlainHTTP(to: ["am.example.test"]))
        try await CommandLineFixture.with(vault: false) { cli in
            try await cli.signet("enroll", "--dry-run", invitation.uri()).fails(65, "r: ", "plain http")
            try await cli.signet("enroll", "--dry-run", "--allow-http", "other.test", invitation.uri()).fails(65, "plain http")
            try await cli.signet("enroll", "--dry-run", "--allow-http", "am.example.test", invitation.uri()).succeeds()
        }
    }

    /// The secrets of a row in every encoding that could leak.
    ///
    /// The vectors' challenge counts as one.
    private static func secrets(of row: Row) throws -> [String] {
        let enrollment = try EnrollmentURI.parse(row.uri)
        let secrets = [enrollment.oath?.secret, enrollment.push?.secret].compactMap(\.self).map { secret in
            secret.withUnsafeBytes { Array($0) }
        }
        let spellings = (secrets + [enrollment.push?.challenge].compactMap(\.self)).flatMap { bytes in
            [
                Base32.encode(bytes), Base64.encode(bytes, as: .standard), Base64.encode(bytes, as: .url),
                bytes.map { String(format: "%02x", Int($0)) }.joined(),
            ]
        }
        return spellings + row.values(of: ["secret", "s", "c"])
    }
}
