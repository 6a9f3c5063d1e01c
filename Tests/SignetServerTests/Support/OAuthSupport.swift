import CryptoExtras
import Foundation
import HTTPTypes
import JWTKit
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

extension TestServer {
    /// The signing key, created once because key generation takes longer than most tests.
    static let signingKey = (try? _RSA.Signing.PrivateKey(keySize: .bits2048)).map { Secret($0.pemRepresentation.utf8) }

    static let redirectURI = "org.example.app://callback"

    static let clients: [RegisteredClient] = [
        RegisteredClient(id: "app", redirectURIs: [redirectURI, "http://127.0.0.1/callback"]) {
            $0.postLogoutRedirectURIs = ["https://app.example.test/bye"]
        },
        RegisteredClient(id: "app", redirectURIs: [redirectURI]) { $0.realm = "/alpha" },
        RegisteredClient(id: "other", redirectURIs: [redirectURI]),
        RegisteredClient(id: "keeper", redirectURIs: [redirectURI]) { $0.refreshTokens = .reuse },
        RegisteredClient(id: "fleeting", redirectURIs: [redirectURI]) { $0.refreshTokens = .none },
        RegisteredClient(id: "patient", redirectURIs: [redirectURI]) { $0.refreshTokens = .rotate(grace: .seconds(10)) },
        RegisteredClient(id: "web", secret: Secret("s3cret: +%".utf8), redirectURIs: ["https://web.example.test/cb?x=1"]) {
            $0.requiresPKCE = false
        },
        RegisteredClient(id: "asking", redirectURIs: [redirectURI]) { $0.requiresConsent = true },
        RegisteredClient(id: "short", redirectURIs: [redirectURI]) {
            $0.lifetimes = TokenLifetimes {
                $0.authorizationCode = 10
                $0.accessToken = 60
                $0.refreshToken = 600
                $0.idToken = 30
                $0.deviceCode = 20
            }
        },
        RegisteredClient(id: "resource-server", secret: Secret("rs".utf8)) { $0.scopes = ["am-introspect-all-tokens"] },
    ]

    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let oauth = "/am/oauth2/realms/root"

    /// Logs in and returns the session's token.
    func session(name: String = "mira", password: String = password, at path: String = authenticate) async throws -> String {
        let reply = try await logIn("Login", name: name, password: password, at: path)
        return try #require(reply.json["tokenId"]?.string)
    }

    /// Sends an authorization request as the SDKs do, with `changes` to its parameters; a nil removes a parameter.
    func authorize(
        _ session: String?, client: String = "app", _ changes: [String: String?] = [:], at path: String = oauth,
        headers: [String: String]? = nil
    ) async throws -> Reply {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": client, "scope": "openid profile", "redirect_uri": Self.redirectURI,
            "state": "st/&te", "code_challenge": ProofKey.challenge(for: Self.verifier), "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { $1 }
        return try await send(
            .get, "\(path)/authorize?\(Self.form(parameters))",
            headers: headers ?? session.map { ["iPlanetDirectoryPro": $0, "Accept-API-Version": "resource=2.1,protocol=1.0"] }
                ?? [:])
    }

    static func form(_ parameters: [String: String?]) -> String {
        parameters.compactMapValues { $0 }.map { "\($0.key.percentEncoded())=\($0.value.percentEncoded())" }.sorted()
            .joined(separator: "&")
    }

    func postForm(
        _ path: String, _ parameters: [String: String?], headers: [String: String] = [:], at base: String = oauth
    ) async throws -> Reply {
        let all = headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { own, _ in own }
        return try await send(.post, "\(base)/\(path)", headers: all, body: Self.form(parameters))
    }

    func code(_ session: String, client: String = "app", _ changes: [String: String?] = [:]) async throws -> String {
        let reply = try await authorize(session, client: client, changes)
        return try #require(try reply.location["code"])
    }

    func exchange(
        _ code: String, client: String = "app", _ changes: [String: String?] = [:], headers: [String: String] = [:],
        at base: String = oauth
    ) async throws -> Reply {
        var parameters: [String: String?] = [
            "grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": Self.redirectURI,
            "code_verifier": Self.verifier,
        ]
        parameters.merge(changes) { $1 }
        return try await postForm("access_token", parameters, headers: headers, at: base)
    }

    func tokens(client: String = "app", _ changes: [String: String?] = [:]) async throws -> Tokens {
        try Tokens(try await exchange(try await code(try await session(), client: client, changes), client: client))
    }

    func refresh(_ token: String, client: String = "app", _ changes: [String: String?] = [:]) async throws -> Reply {
        let parameters: [String: String?] = ["grant_type": "refresh_token", "refresh_token": token, "client_id": client]
        return try await postForm("access_token", parameters.merging(changes) { $1 })
    }

    func userInfo(_ token: String, at base: String = oauth) async throws -> Reply {
        try await send(.get, "\(base)/userinfo", headers: ["Authorization": "Bearer \(token)"])
    }

    /// Returns the claims of an id_token, verified by jwt-kit with the key set that the server publishes.
    func claims(_ token: String) async throws -> [String: JSONValue] {
        let keys = try await send(.get, "\(Self.oauth)/connect/jwk_uri", headers: [:])
        return try await JWTKeyCollection().add(jwksJSON: keys.text).verify(token, as: AnyClaims.self).members
    }

    /// Comes back from the login page to the authorization request with a session, and returns the parameters of the next address.
    func comeBack(to goto: String, _ session: String) async throws -> [String: String] {
        let path = try #require(goto.firstRange(of: "/am/")?.lowerBound)
        return try await send(.get, String(goto[path...]), headers: ["iPlanetDirectoryPro": session]).location
    }
}

/// The tokens in an answer.
struct Tokens: Sendable {
    let json: JSONValue
    let access: String
    let refresh: String?
    let id: String?

    init(_ reply: Reply) throws {
        #expect(reply.status == 200, "\(reply.text)")
        json = reply.json
        access = try #require(reply.json["access_token"]?.string)
        refresh = reply.json["refresh_token"]?.string
        id = reply.json["id_token"]?.string
    }
}

extension Reply {
    /// The parameters in the query of `Location`.
    var location: [String: String] {
        get throws {
            let location = try #require(header("Location"))
            let items = URLComponents(string: location)?.queryItems ?? []
            return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, last in last })
        }
    }

    /// The error in the JSON of an OAuth 2.0 answer, or in the page of `authorize`.
    var error: String? { json["error"]?.string ?? pageError?.code }

    /// The error that the page of `authorize` contains for programs.
    var pageError: (code: String, description: String)? { Self.pageError(in: text) }

    static func pageError(in html: String) -> (code: String, description: String)? {
        let form = #/pageData = \{ realm: .*, error: \{ description: ("(?:[^"\\]|\\.)*"), message: ("(?:[^"\\]|\\.)*") \} \};/#
        guard let (_, description, code) = html.firstMatch(of: form)?.output,
            let values = try? [code, description].map({ try JSON.value(of: $0.utf8).string ?? "" })
        else { return nil }
        return (values[0], values[1])
    }
}

/// The claims of any JWT; jwt-kit checks the signature only.
struct AnyClaims: JWTPayload {
    let members: [String: JSONValue]

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSONValue].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(members)
    }

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
