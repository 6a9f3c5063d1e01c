import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import SignetVerifier
import TestSupport

/// A provider of access tokens without a network, and a verifier of a service that trusts it.
struct VerifierFixture: Sendable {
    typealias Members = [String: JSONValue]

    /// The state of the provider.
    struct Provider: Sendable {
        /// The published keys.
        var keys = [PublishedKey(.p256, "k1")]
        /// True when the provider answers each request with 503.
        var isDown = false
        /// The answers of the introspection endpoint by token; others are not active.
        var introspections: [String: Members] = [:]
        /// The numbers of requests by their address.
        var counts: [String: Int] = [:]
        /// The forms and the authorization of the requests to the introspection endpoint.
        var questions: [(form: [String: String], authorization: String?)] = []
    }

    static let issuer = "https://op.example.test"
    static let discovery = "\(issuer)/.well-known/openid-configuration"
    static let jwks = "\(issuer)/jwks"
    static let introspection = "\(issuer)/introspect"
    static let service = "https://api.example.test"
    static let start: Int64 = 1_800_000_000
    static let endpoints = OAuthEndpoints(issuer: issuer, discovery: discovery)
    static let policy = AccessTokenPolicy(audiences: [service])

    let provider: Mutex<Provider>
    let clock: ManualClock
    let transport: ScriptedTransport
    let verifier: AccessTokenVerifier
    /// The key of the client with which it makes DPoP proofs.
    let clientKey = P256.Signing.PrivateKey()

    init(
        _ verification: TokenVerification = .keys, policy: AccessTokenPolicy = policy,
        proofs: ProofPolicy? = ProofPolicy(baseURL: service)
    ) {
        let provider = Mutex(Provider())
        self.provider = provider
        clock = ManualClock(Date(timeIntervalSince1970: Double(Self.start)))
        transport = ScriptedTransport { request in Self.respond(to: request, provider) }
        verifier = AccessTokenVerifier(
            Self.endpoints, verification: verification, policy: policy, proofs: proofs, transport: transport, clock: clock)
    }

    /// Asks the provider as the client `api`.
    static func asking(rememberedFor lifetime: Duration = .seconds(30)) -> TokenVerification {
        .introspection(
            clientID: "api", authentication: .clientSecretBasic(Secret("s3cret".utf8)), rememberedFor: lifetime)
    }

    private static func respond(to request: HTTPRequest, _ provider: Mutex<Provider>) -> HTTPResponse {
        provider.withLock { provider -> HTTPResponse in
            provider.counts[request.url, default: 0] += 1
            if provider.isDown { return HTTPResponse(status: 503) }
            switch request.url {
            case discovery: return HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(metadata)))
            case jwks:
                let keys = JSONValue.object(["keys": .array(provider.keys.map(\.jwk))])
                return HTTPResponse(status: 200, body: JSON.encode(keys))
            case introspection:
                let form = FormCoding.decode(String(decoding: request.body, as: UTF8.self))
                provider.questions.append((form, request.headers["Authorization"]))
                let answer = provider.introspections[form["token"] ?? ""] ?? ["active": .bool(false)]
                return HTTPResponse(status: 200, body: JSON.encode(JSONValue.object(answer)))
            default: return HTTPResponse(status: 404)
            }
        }
    }

    private static let metadata: Members = [
        "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
        "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string(jwks),
        "introspection_endpoint": .string(introspection),
    ]

    /// Returns the number of requests to an address.
    func requests(to url: String) -> Int { provider.withLock { $0.counts[url] ?? 0 } }

    // MARK: Tokens

    static let header: Members = ["alg": .string("ES256"), "kid": .string("k1"), "typ": .string("at+jwt")]
    static let claims: Members = [
        "iss": .string(issuer), "aud": .string(service), "sub": .string("alice"), "client_id": .string("app"),
        "iat": .integer(start), "exp": .integer(start + 300), "jti": .string("token-1"), "scope": .string("orders profile"),
    ]

    /// Returns a token that is valid except for the changes.
    /// - Parameters:
    ///   - header: The changed members of the header; nil removes one.
    ///   - claims: The changed claims; nil removes one.
    ///   - key: The key that signs with the algorithm of the header.
    /// - Returns: The token in compact form.
    func token(
        header: [String: JSONValue?] = [:], claims: [String: JSONValue?] = [:], by key: ProviderKey = .p256
    ) -> String {
        let header = Self.changed(Self.header, header)
        let unsigned = UnsignedToken(header: header, claims: Self.changed(Self.claims, claims))
        return unsigned.signed(
            with: key.signature(of: unsigned.signingInput, algorithm: header["alg"]?.string ?? ""))
    }

    /// Returns a token that is bound to the key of the client.
    func boundToken(claims: [String: JSONValue?] = [:]) throws -> String {
        let thumbprint = try clientJWK().thumbprint
        return token(claims: claims.merging(["cnf": .object(["jkt": .string(thumbprint)])]) { given, _ in given })
    }

    static func changed(_ members: Members, _ changes: [String: JSONValue?]) -> Members {
        var members = members
        for (name, value) in changes { members[name] = value }
        return members
    }

    // MARK: Proofs

    /// Returns the public key of the client.
    func clientJWK() throws -> JSONWebKey { try Self.jwk(of: clientKey) }

    static func jwk(of key: P256.Signing.PrivateKey) throws -> JSONWebKey {
        let point = Array(key.publicKey.rawRepresentation)
        return try JSONWebKey(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
    }

    /// Returns a proof of the client for a request with a token.
    func proof(
        for token: String, method: String = "GET", url: String = "\(service)/orders", id: String = "proof-1",
        nonce: String? = nil, by key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let key = key ?? clientKey
        let request = DPoPRequest(method: method, url: url, accessToken: Secret(token.utf8))
        guard let request else { throw NoAddress() }
        let unsigned = DPoPProof.unsigned(
            for: request, key: try Self.jwk(of: key), algorithm: .es256, at: clock.now, id: id, nonce: nonce)
        return unsigned.signed(with: Array(try key.signature(for: Data(unsigned.bytes)).rawRepresentation))
    }

    /// An address that no proof can name.
    struct NoAddress: Error {}

    // MARK: Requests

    /// Returns a request for the orders.
    static func request(_ scheme: String, _ token: String, proofs: [String] = [], path: String = "/orders") -> ResourceRequest {
        ResourceRequest(method: "GET", path: path, authorization: ["\(scheme) \(token)"], proofs: proofs)
    }

    /// Verifies a request with a bearer token, and returns the code of the error; nil when it is accepted.
    func code(of token: String) async -> AccessTokenError.Code? { await code(of: Self.request("Bearer", token)) }

    /// Verifies a request, and returns the code of the error; nil when it is accepted.
    func code(of request: ResourceRequest) async -> AccessTokenError.Code? { await error(of: request)?.code }

    /// Verifies a request, and returns the error; nil when it is accepted.
    func error(of request: ResourceRequest) async -> AccessTokenError? {
        do throws(AccessTokenError) {
            _ = try await verifier.verify(request)
            return nil
        } catch {
            return error
        }
    }
}
