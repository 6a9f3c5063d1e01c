import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("A client that authenticates with a key (private_key_jwt, RFC 7523)")
struct PrivateKeyJWTTests {
    private static let key = P256.Signing.PrivateKey()

    private static func clientKey(identifier: String? = nil) throws -> ClientKey {
        try ClientKey(content: Array(key.pemRepresentation.utf8), of: "the test's key", identifier: identifier)
    }

    /// Checks an assertion like a server, and returns it.
    @discardableResult
    private func checked(_ text: String?, by key: ClientKey, at now: Date) throws -> ClientAssertion {
        let assertion = try ClientAssertion(try #require(text))
        let document = try JSON.value(of: Array(key.publicJWK.utf8))
        try assertion.check(keys: [try JSONWebKey(document)], audiences: [BoundProvider.base], at: now)
        return assertion
    }

    private func client(_ key: ClientKey, dpop: DPoPMode = .none) -> OAuthClient {
        BoundProvider.client(dpop, authentication: .privateKeyJWT(key), pushesRequests: true)
    }

    @Test("Each endpoint that authenticates the client gets a new assertion for the issuer, and no secret")
    func sendsAssertionToEachEndpoint() async throws {
        let provider = BoundProvider { ($0.requiresProof, $0.tokenType) = (false, "Bearer") }
        let key = try Self.clientKey()
        let tokens = try await provider.source(client(key))
        _ = try await tokens.token()
        _ = try await tokens.refresh()
        _ = try await DeviceLogin(tokens).begin()
        _ = try await BackchannelLogin(tokens).begin(user: "mira")
        try await tokens.revoke()
        var ids: [String] = []
        for path in ["/par", "/token", "/device", "/ciba", "/revoke"] {
            for form in provider.forms(path) {
                #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "\(path)")
                #expect(form["client_id"] == "app" && form["client_secret"] == nil, "\(path)")
                let assertion = try checked(form["client_assertion"], by: key, at: provider.clock.now)
                #expect(assertion.clientID == "app" && assertion.expiresAt == provider.clock.now + 60)
                ids.append(assertion.id)
            }
        }
        #expect(ids.count == 6 && Set(ids).count == 6)
        let hasHeader = provider.now.requests.values.joined().contains { $0.headers["Authorization"] != nil }
        #expect(!hasHeader)
    }

    @Test("A request that is repeated with a nonce has another assertion")
    func renewsAssertionForRetry() async throws {
        let provider = BoundProvider { $0.nonces = ["op.example.test": "nonce-a"] }
        let key = try Self.clientKey()
        let token = try await provider.source(client(key, dpop: .software)).token()
        let assertions = try provider.forms("/token").map {
            try checked($0["client_assertion"], by: key, at: provider.clock.now).id
        }
        #expect(token.isBound && assertions.count == 2 && Set(assertions).count == 2)
    }

    @Test("An assertion has the time of the server")
    func assertionUsesServerTime() async throws {
        let provider = BoundProvider { ($0.requiresProof, $0.tokenType, $0.offset) = (false, "Bearer", 7200) }
        let key = try Self.clientKey()
        _ = try await provider.source(BoundProvider.client(.none, authentication: .privateKeyJWT(key))).token()
        try checked(provider.forms("/token").first?["client_assertion"], by: key, at: provider.clock.now + 7200)
    }

    @Test("A signing key in another place signs the assertions too")
    func signsWithSigningKey() async throws {
        let provider = BoundProvider { ($0.requiresProof, $0.tokenType) = (false, "Bearer") }
        let key = try ClientKey(SigningKeyProvider().create(.software), identifier: "billing-1")
        _ = try await provider.source(client(key)).token()
        try checked(provider.forms("/token").first?["client_assertion"], by: key, at: provider.clock.now)
        #expect(key.identifier == "billing-1" && key.publicJWK.contains(#""kid":"billing-1""#))
    }

    @Test("A revocation that the server refuses is not repeated with the token as the credential")
    func doesNotRepeatRevocation() async throws {
        let provider = BoundProvider {
            ($0.requiresProof, $0.tokenType) = (false, "Bearer")
            $0.answers["/revoke"] = BoundProvider.refusal("invalid_client", status: 401)
        }
        let tokens = try await provider.source(client(try Self.clientKey()))
        _ = try await tokens.token()
        let error = await outcome { try await tokens.revoke() }.tokenError
        #expect(error?.code == .refused && provider.count("/revoke") == 1)
    }

    // MARK: Files

    private func failure<Value>(_ body: () throws -> Value) -> (any Error)? {
        do {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    private static func jwk(_ changes: [String: JSONValue?] = [:]) -> String {
        var members = ES256PublicKey(key.publicKey).jwk
        members["d"] = .string(Base64.encode(Array(key.rawRepresentation), as: .url))
        members["kid"] = .string("from-file")
        for (name, value) in changes { members[name] = value }
        return JSON.text(of: .object(members))
    }

    @Test("A key is read from PEM and from a JSON Web Key, with its ID or the thumbprint")
    func readsKeyFiles() async throws {
        let thumbprint = ES256PublicKey(Self.key.publicKey).thumbprint
        let files: [(content: String, identifier: String?, expected: String)] = [
            (Self.key.pemRepresentation, nil, thumbprint), (Self.key.pemRepresentation, "billing-1", "billing-1"),
            (Self.jwk(), nil, "from-file"), (Self.jwk(["kid": nil]), nil, thumbprint), (Self.jwk(), "other", "other"),
        ]
        try await TemporaryDirectory.with { directory in
            for (number, file) in files.enumerated() {
                let path = directory.file("key-\(number)")
                try Data(file.content.utf8).write(to: URL(filePath: path))
                try #require(chmod(path, 0o600) == 0)
                let key = try ClientKey(file: path, identifier: file.identifier)
                let document = try JSONWebKey(try JSON.value(of: Array(key.publicJWK.utf8)))
                #expect(key.identifier == file.expected && document.thumbprint == thumbprint)
            }
        }
    }

    @Test("Content that is not a private key on P-256 is refused, and the error does not contain it")
    func refusesOtherContent() throws {
        let other = P256.Signing.PrivateKey()
        let wrong = Base64.encode(Array(other.rawRepresentation), as: .url)
        let contents = [
            "", "no key", Self.key.publicKey.pemRepresentation, P384.Signing.PrivateKey().pemRepresentation, "{}",
            Self.jwk(["d": nil]), Self.jwk(["d": .string(wrong)]), Self.jwk(["crv": .string("P-384")]),
            Self.jwk(["d": .string("AAAA")]),
        ]
        for content in contents {
            let error = failure { try ClientKey(content: Array(content.utf8), of: "client.pem") } as? StoreError
            #expect(error?.code == .invalid && error?.description.contains("client.pem") == true)
            #expect(error?.description.contains(wrong) == false)
        }
    }

    @Test("No description of the client contains the key")
    func hidesKey() throws {
        let client = client(try Self.clientKey())
        let secret = Base64.encode(Array(Self.key.rawRepresentation), as: .url)
        var dumped = ""
        dump(client, to: &dumped)
        for text in ["\(client)", String(reflecting: client), dumped] {
            #expect(!text.contains(secret) && !text.contains("PRIVATE"))
        }
    }

    /// Creates a profile from a document with more settings of its client.
    private func profile(_ client: String) throws -> ServerProfile {
        let text = #"{"url":"https://am.example.test/am","client":{"id":"app","redirectUri":"app://cb",\#(client)}}"#
        return try ServerProfile(json: text.utf8)
    }

    @Test("The settings name the file of the key, its ID, the key of the tokens and pushed requests")
    func readsKeyFileSettings() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("client.pem")
            try Data(Self.key.pemRepresentation.utf8).write(to: URL(filePath: path))
            try #require(chmod(path, 0o600) == 0)
            let rest = #""dpop":"best","pushesRequests":true,"keyID":"billing-1""#
            let first = try profile(#""keyFile":"\#(path)",\#(rest)"#)
            let named = try profile(#""authentication":"private_key_jwt","keyFile":"\#(path)",\#(rest)"#)
            let key = try Self.clientKey(identifier: "billing-1")
            #expect(first.client?.authentication == ClientAuthentication.privateKeyJWT(key) && first == named)
            #expect(first.client?.dpop == DPoPMode.best && first.client?.pushesRequests == true)
            let variables = [
                "SIGNET_URL": "https://am.example.test/am", "SIGNET_CLIENT_ID": "app", "SIGNET_CLIENT_REDIRECT_URI": "app://cb",
                "SIGNET_CLIENT_KEY_FILE": path, "SIGNET_CLIENT_KEY_ID": "billing-1", "SIGNET_CLIENT_DPOP": "best",
                "SIGNET_CLIENT_PUSHES_REQUESTS": "true",
            ]
            let same = try ServerProfile(environment: variables)
            #expect(same == first)
        }
    }

    /// Settings that are refused, with the key of the error.
    static let refused: [(settings: String, key: String)] = [
        (#""authentication":"private_key_jwt""#, "client.keyFile"),
        (#""authentication":"client_secret_basic","keyFile":"/k""#, "client.keyFile"), (#""keyID":"k""#, "client.keyID"),
        (#""keyFile":"k""#, "client.keyFile"), (#""keyFile":"/nowhere/k""#, "client.keyFile"),
        (#""authentication":"none","keyFile":"/k""#, "client.keyFile"), (#""dpop":"yes""#, "client.dpop"),
        (#""pushesRequests":"perhaps""#, "client.pushesRequests"),
    ]

    @Test("Contradictory and incomplete settings name the wrong one", arguments: refused)
    func namesWrongSetting(settings: String, key: String) {
        let error = failure { try profile(settings) } as? ProfileError
        #expect(error?.key == key)
    }

    @Test("A key file that other users can read is refused")
    func refusesOpenKeyFile() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("client.pem")
            try Data(Self.key.pemRepresentation.utf8).write(to: URL(filePath: path))
            try #require(chmod(path, 0o644) == 0)
            let setting = failure { try profile(#""keyFile":"\#(path)""#) } as? ProfileError
            let file = failure { try ClientKey(file: path) } as? StoreError
            #expect(setting?.key == "client.keyFile" && file?.code == .insecurePermissions)
        }
    }
}
