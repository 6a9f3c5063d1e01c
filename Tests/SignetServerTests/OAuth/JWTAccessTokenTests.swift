import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Access tokens that are JWTs")
struct JWTAccessTokenTests {
    private static func client(
        _ id: String = "jwt", _ configure: (inout RegisteredClient) -> Void = { _ in }
    ) -> RegisteredClient {
        RegisteredClient(id: id, redirectURIs: [TestServer.redirectURI]) {
            $0.accessTokens = .jwt
            configure(&$0)
        }
    }

    // MARK: Content

    @Test("The token has the type at+jwt and the claims of RFC 9068, and in the profile of AM those of AM too")
    func hasClaimsOfProfile() async throws {
        for profile in ConformanceProfile.allCases {
            let configuration = ServerConfiguration.sample {
                $0.clients.append(Self.client())
                $0.profile = profile
            }
            try await TestServer.run(configuration) { server in
                let tokens = try await server.tokens(client: "jwt")
                let header = try #require(SignedToken(tokens.access)).header
                #expect(header["typ"] == "at+jwt" && header["alg"] == "RS256" && header["kid"]?.string != nil)
                let claims = try await server.claims(tokens.access)
                let now = Int64(server.clock.now.timeIntervalSince1970)
                #expect(claims["iss"] == .string(TestClientKey.issuer) && claims["sub"] == "mira" && claims["aud"] == "jwt")
                #expect(claims["client_id"] == "jwt" && claims["scope"] == "openid profile" && claims["jti"]?.string != nil)
                #expect(claims["iat"] == .integer(now) && claims["exp"] == .integer(now + 3600))
                #expect(claims["auth_time"] == .integer(now))
                let isAM = profile == .am
                #expect((claims["tokenName"] == "access_token") == isAM && (claims["realm"] == "/") == isAM)
                #expect((claims["authGrantId"] != nil) == isAM && (claims["grant_type"] == "authorization_code") == isAM)
                // Personal data is at userinfo.
                #expect(claims["email"] == nil && claims["name"] == nil)
            }
        }
    }

    @Test("The tokens of a client have the algorithms of its configuration", arguments: JWSAlgorithm.allCases)
    func signsWithAlgorithmOfClient(algorithm: JWSAlgorithm) async throws {
        let client = Self.client {
            $0.accessTokenSigningAlgorithm = algorithm
            $0.idTokenSigningAlgorithm = algorithm
            $0.userInfoSigningAlgorithm = algorithm
        }
        try await TestServer.run(clients: [client]) { server in
            let tokens = try await server.tokens(client: "jwt")
            let id = try #require(tokens.id)
            let info = try await server.userInfo(tokens.access)
            #expect(info.header("Content-Type") == "application/jwt")
            for text in [tokens.access, id, info.text] {
                let header = SignedToken(text)?.header
                #expect(header?["alg"] == .string(algorithm.rawValue))
                // jwt-kit verifies it with the published key that the header names.
                let subject = try await server.claims(text)["sub"]
                #expect(subject == "mira")
            }
            let hash = try await server.claims(id)["at_hash"]
            #expect(hash == .string(TokenSigner.hash(ofAccessToken: tokens.access, algorithm)))
            // The id_token is accepted as a hint.
            let ended = try await server.send(
                .get, "\(TestServer.oauth)/connect/endSession?id_token_hint=\(id)", headers: [:])
            #expect(ended.status == 204)
        }
    }

    @Test("Opaque tokens are the default")
    func opaqueIsDefault() async throws {
        try await TestServer.run { server in
            let tokens = try await server.tokens()
            #expect(!tokens.access.contains(".") && tokens.access.utf8.count == 43)
        }
        let file = try ServerConfiguration(
            yaml: "clients: [{id: a, accessTokens: jwt, accessTokenSigningAlg: ES256, idTokenSignedResponseAlg: EdDSA}, {id: b}]")
        #expect(file.clients.map(\.accessTokens) == [.jwt, .opaque])
        #expect(file.clients.map(\.accessTokenSigningAlgorithm) == [.es256, .rs256])
        #expect(file.clients.map(\.idTokenSigningAlgorithm) == [.edDSA, .rs256])
        for setting in ["accessTokens: reference", "idTokenSignedResponseAlg: none", "accessTokenSigningAlg: HS256"] {
            let yaml = "clients: [{id: a, \(setting)}]"
            #expect(throws: ConfigurationError.self, "\(setting)") { try ServerConfiguration(yaml: yaml) }
        }
    }

    // MARK: Claims

    @Test("A token has the fixed claims of its client and the claims of the user that its scopes cover")
    func hasConfiguredClaims() async throws {
        let yaml = """
            scopeClaims: {groups: [department, team]}
            clients:
              - id: jwt
                redirectURIs: ["\(TestServer.redirectURI)"]
                scopes: [openid, email, groups]
                accessTokens: jwt
                claims: {role: admin, unit: "${user.department}", team: "x", missing: "${user.nothing}", list: ["${user.email}"]}
            """
        let file = try ServerConfiguration(yaml: yaml)
        let configuration = ServerConfiguration.sample {
            $0.clients += file.clients
            $0.scopeClaims = file.scopeClaims
        }
        try await TestServer.run(configuration) { server in
            let session = try await server.session(name: "noa", password: "staple")
            func tokens(_ scope: String) async throws -> Tokens {
                let code = try await server.code(session, client: "jwt", ["scope": scope])
                return try Tokens(try await server.exchange(code, client: "jwt"))
            }
            let all = try await tokens("openid email groups")
            let claims = try await server.claims(all.access)
            #expect(claims["role"] == "admin" && claims["unit"] == "Lab" && claims["department"] == "Lab")
            #expect(claims["missing"] == nil && claims["list"] == .array(["noa@example.test"]) && claims["email"] == nil)
            let identity = try await server.claims(try #require(all.id))
            #expect(identity["role"] == "admin" && identity["department"] == nil)
            let info = try await server.userInfo(all.access).json
            #expect(info["department"] == "Lab" && info["email"] == "noa@example.test")
            // Without the scope, the claims that it covers are withheld everywhere.
            let few = try await tokens("openid")
            let fewClaims = try await server.claims(few.access)
            #expect(fewClaims["department"] == nil && fewClaims["unit"] == "Lab")
            let fewInfo = try await server.userInfo(few.access).json
            #expect(fewInfo["department"] == nil)
        }
    }

    @Test("No configured claim replaces one of the server", arguments: ["sub", "exp", "client_id", "scope", "act", "cnf"])
    func keepsOwnClaims(name: String) async throws {
        for setting in ["clients: [{id: a, claims: {\(name): x}}]", "scopeClaims: {read: [\(name)]}"] {
            #expect(throws: ConfigurationError.self, "\(setting)") { try ServerConfiguration(yaml: setting) }
        }
        let configuration = ServerConfiguration.sample {
            $0.clients.append(Self.client { $0.claims = [name: "imitated"] })
            $0.scopeClaims = ["openid": [name]]
            $0.users[0].claims = [name: "imitated"]
        }
        try await TestServer.run(configuration) { server in
            let tokens = try await server.tokens(client: "jwt")
            for text in [tokens.access, try #require(tokens.id)] {
                let value = try await server.claims(text)[name]
                #expect(value != "imitated")
            }
        }
    }

    // MARK: Validity

    @Test("A JWT is introspected, used at userinfo, revoked and renewed like an opaque token")
    func isRevocable() async throws {
        try await TestServer.run(clients: [Self.client()]) { server in
            let tokens = try await server.tokens(client: "jwt")
            let description = try await server.introspect(tokens.access)
            #expect(description["active"] == .bool(true) && description["client_id"] == "jwt" && description["aud"] == "jwt")
            let renewed = try Tokens(try await server.refresh(try #require(tokens.refresh), client: "jwt"))
            let isJWT = SignedToken(renewed.access)?.header["typ"] == "at+jwt"
            #expect(isJWT && renewed.access != tokens.access)
            let revoked = try await server.postForm("token/revoke", ["token": renewed.access, "client_id": "jwt"])
            #expect(revoked.status == 200)
            let states = [try await server.isActive(tokens.access), try await server.isActive(renewed.access)]
            #expect(states == [true, false])
            let first = try await server.postForm("token/revoke", ["token": tokens.access, "client_id": "jwt"])
            let statuses = [try await server.userInfo(tokens.access).status, try await server.userInfo(renewed.access).status]
            #expect(first.status == 200 && statuses == [401, 401])
        }
    }

    @Test("A JWT ends with its lifetime, with its grant and with the user's account")
    func endsWithGrant() async throws {
        try await TestServer.run(clients: [Self.client()]) { server in
            let session = try await server.session()
            let code = try await server.code(session, client: "jwt")
            let tokens = try Tokens(try await server.exchange(code, client: "jwt"))
            _ = try await server.devServer.setLocked(true, "mira")
            let locked = try await server.isActive(tokens.access)
            _ = try await server.devServer.setLocked(false, "mira")
            let unlocked = try await server.isActive(tokens.access)
            #expect(!locked && unlocked)
            // The second use of the code revokes the tokens.
            _ = try await server.exchange(code, client: "jwt")
            let replayed = try await server.isActive(tokens.access)
            let other = try await server.tokens(client: "jwt")
            server.clock.advance(by: 3601)
            let expired = try await server.isActive(other.access)
            #expect(!replayed && !expired)
        }
    }

    @Test("A forged JWT, the ID of a JWT, and another kind of signed token are not accepted as access tokens")
    func refusesForgedTokens() async throws {
        try await TestServer.run(clients: [Self.client()]) { server in
            let tokens = try await server.tokens(client: "jwt")
            let token = try #require(SignedToken(tokens.access))
            let foreign = try SigningKey(StoredSigningKey(kind: .p256, secret: try await SigningKey.generate(.p256)))
            let context = server.devServer.context
            let none = UnsignedToken(header: ["alg": "none", "typ": "at+jwt"], claims: token.claims)
            var forged = [
                "none": "\(none.signingInput).", "another key": try await foreign.sign(token.claims, .es256, type: "at+jwt"),
                "other claims": try SignedToken.forged(tokens.access, claims: ["sub": "noa"]),
                "another type": try await context.signer.sign(token.claims),
                "an unknown ID": try await context.signer.sign(
                    token.claims.merging(["jti": "x"]) { $1 }, type: TokenSigner.accessTokenType),
                "no signature": tokens.access.split(separator: ".").dropLast().joined(separator: "."),
            ]
            forged["the ID"] = token.claims["jti"]?.string
            forged["the id_token"] = tokens.id
            for (name, text) in forged {
                let status = try await server.userInfo(text).status
                let isActive = try await server.isActive(text)
                #expect(status == 401 && !isActive, "\(name)")
            }
            let status = try await server.userInfo(tokens.access).status
            #expect(status == 200)
        }
    }

    @Test("A JWT stays valid after a restart of the server")
    func staysValidAfterRestart() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let configuration = ServerConfiguration.sample {
            $0.state = .file(directory.file("state/server.sqlite"))
            $0.clients.append(Self.client { $0.accessTokenSigningAlgorithm = .edDSA })
        }
        let kept = Mutex("")
        try await TestServer.run(configuration) { server in
            let access = try await server.tokens(client: "jwt").access
            kept.withLock { $0 = access }
        }
        try await TestServer.run(configuration) { server in
            let access = kept.withLock { $0 }
            let subject = try await server.claims(access)["sub"]
            let isActive = try await server.isActive(access)
            #expect(subject == "mira" && isActive)
        }
    }
}
