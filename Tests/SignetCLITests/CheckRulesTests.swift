import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The comparison of a provider's metadata with RFC 9700")
struct CheckRulesTests {
    static let issuer = "https://id.example.test"
    /// The metadata of a provider that follows every recommendation.
    static let good: [String: JSONValue] = [
        "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
        "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string("\(issuer)/jwks"),
        "pushed_authorization_request_endpoint": .string("\(issuer)/par"),
        "authorization_response_iss_parameter_supported": .bool(true),
        "code_challenge_methods_supported": .texts(["S256"]), "response_types_supported": .texts(["code"]),
        "grant_types_supported": .texts(["authorization_code", "refresh_token"]),
        "dpop_signing_alg_values_supported": .texts(["ES256"]),
        "token_endpoint_auth_methods_supported": .texts(["private_key_jwt"]),
        "token_endpoint_auth_signing_alg_values_supported": .texts(["ES256"]),
        "id_token_signing_alg_values_supported": .texts(["ES256"]),
    ]

    static func findings(_ changes: [String: JSONValue?]) -> [CheckFinding] {
        var members = good
        for (name, value) in changes { members[name] = value }
        let metadata = ProviderMetadata(address: "\(issuer)/.well-known/openid-configuration", members: members)
        return MetadataRules(metadata: metadata).findings
    }

    @Test("A provider that follows each recommendation passes each comparison, and each has a name of its own")
    func passesGoodProvider() {
        let findings = Self.findings([:])
        let others = findings.filter { $0.result != .pass }
        #expect(others.isEmpty && findings.count == 15)
        #expect(Set(findings.map(\.id)).count == findings.count)
    }

    /// Metadata with one deviation, and the comparison that shows it.
    struct Deviation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let changes: [String: JSONValue?]
        let id: String
        let result: CheckFinding.Result

        init(_ name: String, _ changes: [String: JSONValue?], _ id: String, _ result: CheckFinding.Result) {
            (testDescription, self.changes, self.id, self.result) = (name, changes, id, result)
        }
    }

    static let deviations: [Deviation] = [
        Deviation("no iss in responses", ["authorization_response_iss_parameter_supported": nil], "issuer-parameter", .warn),
        Deviation("no pushed requests", ["pushed_authorization_request_endpoint": nil], "pushed-requests", .warn),
        Deviation("no list of challenge methods", ["code_challenge_methods_supported": nil], "pkce", .warn),
        Deviation("no S256", ["code_challenge_methods_supported": .texts(["plain"])], "pkce", .fail),
        Deviation("plain beside S256", ["code_challenge_methods_supported": .texts(["S256", "plain"])], "pkce-plain", .warn),
        Deviation("the implicit grant", ["response_types_supported": .texts(["code", "token"])], "implicit", .fail),
        Deviation("a hybrid flow with a token", ["response_types_supported": .texts(["code id_token token"])], "implicit", .fail),
        Deviation("no list of response types", ["response_types_supported": nil], "implicit", .warn),
        Deviation("an implicit grant without a type", ["grant_types_supported": .texts(["implicit"])], "implicit", .warn),
        Deviation("a hybrid flow", ["response_types_supported": .texts(["code id_token"])], "hybrid", .warn),
        Deviation("bearer tokens only", ["dpop_signing_alg_values_supported": nil], "sender-constraint", .warn),
        Deviation(
            "proofs without a signature", ["dpop_signing_alg_values_supported": .texts(["none"])], "dpop-algorithms", .fail),
        Deviation("proofs with a shared key", ["dpop_signing_alg_values_supported": .texts(["HS256"])], "dpop-algorithms", .fail),
        Deviation("the password grant", ["grant_types_supported": .texts(["password"])], "password-grant", .fail),
        Deviation(
            "secrets only", ["token_endpoint_auth_methods_supported": .texts(["client_secret_basic", "none"])],
            "client-authentication", .warn),
        Deviation("the default method", ["token_endpoint_auth_methods_supported": nil], "client-authentication", .warn),
        Deviation(
            "unsigned assertions", ["token_endpoint_auth_signing_alg_values_supported": .texts(["none"])],
            "assertion-algorithms", .fail),
        Deviation(
            "assertions with a secret", ["token_endpoint_auth_signing_alg_values_supported": .texts(["HS256"])],
            "assertion-algorithms", .warn),
        Deviation("no issuer", ["issuer": nil], "issuer", .fail),
        Deviation("another issuer", ["issuer": .string("https://evil.example.test")], "issuer", .fail),
        Deviation("plain http", ["token_endpoint": .string("http://id.example.test/token")], "https", .fail),
        Deviation("plain http on this machine", ["token_endpoint": .string("http://127.0.0.1/token")], "https", .warn),
        Deviation("keys elsewhere", ["jwks_uri": .string("https://cdn.example.test/jwks")], "jwks-origin", .warn),
        Deviation("no keys", ["jwks_uri": nil], "jwks-origin", .warn),
        Deviation(
            "unsigned ID tokens", ["id_token_signing_alg_values_supported": .texts(["RS256", "none"])], "signature-algorithms",
            .fail),
        Deviation(
            "ID tokens with a secret", ["id_token_signing_alg_values_supported": .texts(["HS256"])], "signature-algorithms",
            .warn),
    ]

    @Test("A deviation from RFC 9700 is shown by one comparison", arguments: deviations)
    func showsDeviation(_ deviation: Deviation) throws {
        let findings = Self.findings(deviation.changes)
        let named = findings.first { $0.id == deviation.id }
        let finding = try #require(named)
        #expect(finding.result == deviation.result, "\(finding.reason)")
    }

    @Test("Mutual TLS binds access tokens too, and plain JSON of userinfo does not count as an unsigned token")
    func acceptsOtherWays() {
        let findings = Self.findings([
            "dpop_signing_alg_values_supported": nil, "tls_client_certificate_bound_access_tokens": .bool(true),
            "userinfo_signing_alg_values_supported": .texts(["none", "RS256"]),
        ])
        let others = findings.filter { $0.result != .pass }
        #expect(others.isEmpty)
    }

    static let keySets: [(name: String, keys: [[String: JSONValue]]?, result: CheckFinding.Result)] = [
        ("public keys", [ProviderKey.p256.members, ProviderKey.shared.first?.members ?? [:]], .pass),
        ("no key", [], .fail), ("no key set", nil, .fail),
        ("a private key", [ProviderKey.p256.members.merging(["d": .string("AA")]) { $1 }], .fail),
        ("a shared key", [["kty": .string("oct"), "k": .string("AA")]], .fail),
        ("a short RSA key", [ProviderKey.short?.members ?? [:]], .fail),
    ]

    @Test("A key set must have public keys of sufficient length only", arguments: keySets)
    func checksKeySet(name: String, keys: [[String: JSONValue]]?, result: CheckFinding.Result) {
        let set: [String: JSONValue] = keys.map { ["keys": .array($0.map { .object($0) })] } ?? [:]
        let finding = KeySetRules(response: HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(set)))).finding
        #expect(finding.result == result, "\(name): \(finding.reason)")
    }

    // MARK: Metadata

    @Test("The metadata is read at the address of OpenID Connect, and otherwise at that of RFC 8414")
    func findsMetadata() async throws {
        let inserted = "\(Self.issuer)/.well-known/oauth-authorization-server/realms/staff"
        let document = JSON.encode(JSONValue.object(["issuer": .string("\(Self.issuer)/realms/staff")]))
        let transport = ScriptedTransport { request in
            request.url == inserted ? HTTPResponse(status: 200, body: document) : HTTPResponse(status: 404, body: [])
        }
        let found = try await ProviderMetadata.requested(of: "\(Self.issuer)/realms/staff/", over: transport, policy: .secure)
        #expect(found.address == inserted && found.namesOwnIssuer)
        let nowhere = ScriptedTransport { _ in HTTPResponse(status: 404) }
        await #expect(throws: ProfileError.self) {
            try await ProviderMetadata.requested(of: Self.issuer, over: nowhere, policy: .secure)
        }
        await #expect(throws: ProfileError.self) {
            try await ProviderMetadata.requested(of: "http://id.example.test", over: nowhere, policy: .secure)
        }
    }

    // MARK: Output

    @Test("The report lists the sections in order, and the JSON has the number of each result")
    func formatsReport() {
        let findings = [
            CheckFinding("b", .other, .fail, "no\u{1B}[31m"), CheckFinding("a", .redirects, .pass, "yes"),
            CheckFinding("c", .codeGrant, .skipped, "later"),
        ]
        let report = CheckReport(issuer: Self.issuer, document: "\(Self.issuer)/doc", findings: findings)
        let text = report.lines.map(\.description)
        #expect(text.first == "https://id.example.test beside RFC 9700 (https://id.example.test/doc):")
        #expect(text.contains("2.1 redirect-based flows") && text.contains("  pass     a: yes"))
        #expect(text.contains("  fail     b: no\\u{1B}[31m") && text.last == "1 passed, 0 warnings, 1 failed, 1 skipped")
        let summary: JSONValue = .object([
            "pass": .integer(1), "warn": .integer(0), "fail": .integer(1), "skipped": .integer(1),
        ])
        #expect(report.json["summary"] == summary && report.json["findings"]?.array?.count == 3)
        #expect(report.json["findings"]?.array?.first?["section"] == .string("2.6"))
    }
}
