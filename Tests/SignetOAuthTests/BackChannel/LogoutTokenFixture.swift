import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

/// A provider that signs logout tokens, without a network, and a verifier of an app that trusts it.
struct LogoutTokenFixture: Sendable {
    typealias Members = [String: JSONValue]

    /// The state of the provider.
    struct Provider: Sendable {
        /// The published keys by their ID.
        var keys = ["k1": P256.Signing.PrivateKey()]
        /// True when the provider answers each request with 503.
        var isDown = false
        var metadata: Members = [
            "issuer": .string(LogoutTokenFixture.issuer),
            "authorization_endpoint": .string("\(LogoutTokenFixture.issuer)/authorize"),
            "token_endpoint": .string("\(LogoutTokenFixture.issuer)/token"),
            "jwks_uri": .string("\(LogoutTokenFixture.issuer)/jwks"),
        ]
        /// The requests by their address.
        var counts: [String: Int] = [:]
    }

    static let issuer = "https://op.example.test"
    static let discovery = "\(issuer)/.well-known/openid-configuration"
    static let jwks = "\(issuer)/jwks"
    static let start: Int64 = 1_800_000_000
    static let endpoints = OAuthEndpoints(issuer: issuer, discovery: discovery)

    let provider: Mutex<Provider>
    let clock: ManualClock
    let transport: ScriptedTransport
    let verifier: LogoutTokenVerifier

    init(
        memory: any LogoutTokenMemory = ProcessLogoutTokenMemory(), policy: LogoutTokenPolicy = LogoutTokenPolicy(),
        endpoints: OAuthEndpoints = endpoints
    ) {
        let provider = Mutex(Provider())
        self.provider = provider
        clock = ManualClock(Date(timeIntervalSince1970: Double(Self.start)))
        transport = ScriptedTransport { request in Self.respond(to: request, provider) }
        verifier = LogoutTokenVerifier(
            endpoints, clientID: "app", memory: memory, transport: transport, policy: policy, clock: clock)
    }

    private static func respond(to request: HTTPRequest, _ provider: Mutex<Provider>) -> HTTPResponse {
        provider.withLock { provider -> HTTPResponse in
            provider.counts[request.url, default: 0] += 1
            if provider.isDown { return HTTPResponse(status: 503) }
            switch request.url {
            case discovery: return HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(provider.metadata)))
            case jwks:
                let keys = provider.keys.map { id, key in Self.jwk(id, key) }
                return HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(["keys": .array(keys)])))
            default: return HTTPResponse(status: 404)
            }
        }
    }

    private static func jwk(_ id: String, _ key: P256.Signing.PrivateKey) -> JSONValue {
        let point = key.publicKey.rawRepresentation
        return .object([
            "kty": .string("EC"), "crv": .string("P-256"), "use": .string("sig"), "kid": .string(id),
            "x": .string(Base64.encode(Array(point.prefix(32)), as: .url)),
            "y": .string(Base64.encode(Array(point.suffix(32)), as: .url)),
        ])
    }

    /// Returns the number of requests for the keys.
    var keyRequests: Int { provider.withLock { $0.counts[Self.jwks] ?? 0 } }

    // MARK: Tokens

    static let header: Members = ["alg": .string("ES256"), "kid": .string("k1"), "typ": .string("logout+jwt")]
    static let event: JSONValue = .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])])
    static let claims: Members = [
        "iss": .string(issuer), "aud": .string("app"), "iat": .integer(start), "exp": .integer(start + 120),
        "jti": .string("token-1"), "events": event, "sub": .string("alice"), "sid": .string("session-1"),
    ]

    /// Returns a token that is valid except for the changes.
    /// - Parameters:
    ///   - header: The changed members of the header; nil removes one.
    ///   - claims: The changed claims; nil removes one.
    ///   - key: The key that signs; nil for the key of the provider with the ID `k1`.
    /// - Returns: The token in compact form.
    func token(
        header: [String: JSONValue?] = [:], claims: [String: JSONValue?] = [:], by key: P256.Signing.PrivateKey? = nil
    ) -> String {
        signed(Self.text(Self.header, header), Self.text(Self.claims, claims), by: key)
    }

    /// Returns a token with the texts of its header and its claims.
    func signed(_ header: String, _ claims: String, by key: P256.Signing.PrivateKey? = nil) -> String {
        let input = [header, claims].map { Base64.encode(Array($0.utf8), as: .url) }.joined(separator: ".")
        let signer = key ?? provider.withLock { $0.keys["k1"] }
        let signature = (try? signer?.signature(for: Data(input.utf8)))?.rawRepresentation ?? Data()
        return "\(input).\(Base64.encode(Array(signature), as: .url))"
    }

    /// Returns an object as text after changes of its members.
    static func text(_ members: Members, _ changes: [String: JSONValue?] = [:]) -> String {
        var members = members
        for (name, value) in changes { members[name] = value }
        return JSON.text(of: JSONValue.object(members))
    }

    // MARK: Requests

    /// Returns the body of a request with a token.
    static func body(_ token: String) -> [UInt8] { Array(FormCoding.encode([("logout_token", token)]).utf8) }

    /// Verifies a token, ends no session, and returns the code of the error; nil when the token is accepted.
    func code(of token: String) async -> LogoutTokenError.Code? { await error(of: token)?.code }

    /// Returns the error of a token, which has no sessions to end; nil when the token is accepted.
    func error(of token: String) async -> LogoutTokenError? {
        do throws(LogoutTokenError) {
            try await verifier.finish(try await verifier.verify(token))
            return nil
        } catch {
            return error
        }
    }
}

/// A logout token, and the code of the error with which it is refused; nil when it is accepted.
struct LogoutTokenCase: Sendable, CustomTestStringConvertible {
    let name: String
    let code: LogoutTokenError.Code?
    let policy: LogoutTokenPolicy
    let token: @Sendable (LogoutTokenFixture) -> String

    var testDescription: String { name }

    /// Creates a row with a token of its own.
    init(
        _ name: String, _ code: LogoutTokenError.Code?, policy: LogoutTokenPolicy = LogoutTokenPolicy(),
        _ token: @escaping @Sendable (LogoutTokenFixture) -> String
    ) {
        self.name = name
        self.code = code
        self.policy = policy
        self.token = token
    }

    /// Returns a row with changes of a valid token.
    static func changing(
        _ name: String, _ code: LogoutTokenError.Code?, header: [String: JSONValue?] = [:], claims: [String: JSONValue?] = [:],
        policy: LogoutTokenPolicy = LogoutTokenPolicy()
    ) -> LogoutTokenCase {
        LogoutTokenCase(name, code, policy: policy) { $0.token(header: header, claims: claims) }
    }
}
