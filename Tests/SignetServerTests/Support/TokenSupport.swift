import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A key with which a client signs its assertions.
struct TestClientKey: Sendable {
    let key: SigningKey
    let algorithm: JWSAlgorithm

    static let issuer = "http://127.0.0.1:8080/am/oauth2"

    init(_ algorithm: JWSAlgorithm = .es256) async throws {
        let found = SigningKey.Kind.allCases.first { $0.algorithms.contains(algorithm) }
        let kind = try #require(found)
        let shared = kind == .rsa ? TestServer.signingKey : nil
        let secret: Secret
        if let shared { secret = shared } else { secret = try await SigningKey.generate(kind) }
        key = try SigningKey(StoredSigningKey(kind: kind, secret: secret))
        self.algorithm = algorithm
    }

    /// The public key, as the client registers it.
    var jwk: JSONWebKey {
        get throws { try JSONWebKey(key.publicKey.numbers, identifier: key.id(for: algorithm)) }
    }

    /// Returns the claims of an assertion, with changes; nil removes a claim.
    static func claims(
        _ client: String = "daemon", at now: Date, _ changes: [String: JSONValue?] = [:]
    ) -> [String: JSONValue] {
        let seconds = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue?] = [
            "iss": .string(client), "sub": .string(client), "aud": .string(issuer), "jti": .string(UUID().uuidString),
            "iat": .integer(seconds), "exp": .integer(seconds + 60),
        ]
        return claims.merging(changes) { $1 }.compactMapValues { $0 }
    }

    /// Returns an assertion for a client.
    func assertion(
        _ client: String = "daemon", at now: Date, _ changes: [String: JSONValue?] = [:]
    ) async throws -> String {
        try await key.sign(Self.claims(client, at: now, changes), algorithm, type: "JWT")
    }
}

extension TestServer {
    /// Runs a server with further clients.
    static func run(
        clients: [RegisteredClient], _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run(.sample { $0.clients += clients }, body)
    }

    /// Sends a token request with an assertion.
    func authenticate(
        with assertion: String, _ changes: [String: String?] = [:], path: String = "access_token"
    ) async throws -> Reply {
        let parameters: [String: String?] = [
            "grant_type": "client_credentials", "client_assertion_type": ClientAssertion.type, "client_assertion": assertion,
        ]
        return try await postForm(path, parameters.merging(changes) { $1 })
    }

    /// Requests a token of a client with a secret for itself.
    func ownToken(_ client: String, _ secret: String, _ changes: [String: String?] = [:]) async throws -> Reply {
        let parameters: [String: String?] = [
            "grant_type": "client_credentials", "client_id": client, "client_secret": secret,
        ]
        return try await postForm("access_token", parameters.merging(changes) { $1 })
    }

    /// Describes a token to the client that may introspect all tokens.
    func introspect(_ token: String) async throws -> JSONValue {
        try await postForm(
            "introspect", ["token": token, "client_id": "resource-server", "client_secret": "rs"]
        ).json
    }

    /// Returns true when a token is active.
    func isActive(_ token: String) async throws -> Bool { try await introspect(token)["active"] == .bool(true) }
}

extension SignedToken {
    /// Returns a token with other claims and the signature of a text.
    static func forged(_ text: String, header: [String: JSONValue]? = nil, claims: [String: JSONValue] = [:]) throws -> String {
        let token = try #require(SignedToken(text))
        let unsigned = UnsignedToken(header: header ?? token.header, claims: token.claims.merging(claims) { $1 })
        let signature = text.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        return "\(unsigned.signingInput).\(signature)"
    }
}
