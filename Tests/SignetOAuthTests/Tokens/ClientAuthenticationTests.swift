import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("The authentication of a client with a secret")
struct ClientAuthenticationTests {
    private static let base = "https://op.example.test"
    private static let id = "app:1 ü%"
    private static let secret = "s3:c%r t/ü+&"
    /// The credentials in the form of RFC 6749 section 2.3.1, before base64.
    private static let credentials = "app%3A1%20%C3%BC%25:s3%3Ac%25r%20t%2F%C3%BC%2B%26"
    private static let basic = "Basic " + Base64.encode(Array(credentials.utf8), as: .standard)

    private static let key = P256.Signing.PrivateKey()

    private static func authentication(_ method: ClientAuthentication.Method) throws -> ClientAuthentication {
        switch method {
        case .clientSecretBasic: .clientSecretBasic(Secret(secret.utf8))
        case .clientSecretPost: .clientSecretPost(Secret(secret.utf8))
        case .privateKeyJWT: .privateKeyJWT(try ClientKey(content: Array(key.pemRepresentation.utf8), of: "the test's key"))
        case .publicClient: .none
        }
    }

    private static func client(_ method: ClientAuthentication.Method) throws -> OAuthClient {
        OAuthClient(
            clientID: id, redirectURI: "https://app.example.test/cb", scopes: ["read"], authentication: try authentication(method)
        )
    }

    // MARK: The provider

    /// Returns a provider that grants every request, except those for which `answer` returns a response.
    private static func provider(
        _ answer: @escaping @Sendable (_ path: String) -> HTTPResponse? = { _ in nil }
    ) -> ScriptedTransport {
        ScriptedTransport { (request) throws(TransportError) in
            let path = String(request.url.prefix { $0 != "?" }.dropFirst(Self.base.count))
            if let response = answer(path) { return response }
            switch path {
            case "/authorize":
                let query = FormCoding.query(of: request.url)
                let fields = [(name: "code", value: "code-1"), (name: "state", value: query["state"] ?? "")]
                let location = FormCoding.address(query["redirect_uri"] ?? "", adding: fields)
                return HTTPResponse(status: 302, headers: ["Location": location])
            case "/token": return Self.json(200, Self.grant)
            case "/device": return Self.json(200, Self.deviceCode)
            default: return HTTPResponse(status: 200)
            }
        }
    }

    private static let grant: [String: JSONValue] = [
        "access_token": .string("access-1"), "token_type": .string("Bearer"), "expires_in": .integer(3600),
        "refresh_token": .string("refresh-1"), "scope": .string("read"),
    ]

    private static let deviceCode: [String: JSONValue] = [
        "device_code": .string("device-1"), "user_code": .string("WDJB-MJHT"), "expires_in": .integer(300),
        "verification_uri": .string("https://op.example.test/activate"),
    ]

    private static func json(_ status: Int, _ members: [String: JSONValue]) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": "application/json"], body: JSON.encode(.object(members)))
    }

    private static func refusal(_ explanation: String) -> HTTPResponse {
        json(401, ["error": .string("invalid_client"), "error_description": .string(explanation)])
    }

    private static let endpoints = OAuthEndpoints(
        authorize: "\(base)/authorize", token: "\(base)/token", revoke: "\(base)/revoke", deviceAuthorization: "\(base)/device",
        issuer: base)

    /// Returns a token source with a session, and without tokens.
    private static func source(
        _ method: ClientAuthentication.Method, _ transport: ScriptedTransport, endpoints: OAuthEndpoints = endpoints,
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) async throws -> TokenSource {
        let store = try SessionStore.memory()
        try await store.save(SSOToken(value: Secret("sso-1".utf8)))
        return TokenSource(
            endpoints, client: try client(method), store: store, transport: transport, requestLogger: requestLogger)
    }

    /// The authentication of the client in a request, and its form.
    private struct Sent {
        let authorization: [String]
        let form: [String: String]
    }

    private static func sent(_ transport: ScriptedTransport, to path: String) -> [Sent] {
        transport.requests.filter { $0.url == base + path }.map { request in
            Sent(
                authorization: request.headers.all("Authorization"),
                form: FormCoding.decode(String(decoding: request.body, as: UTF8.self)))
        }
    }

    // MARK: Requests

    @Test(
        "Requests to the token, revocation and device endpoints authenticate the client by its method",
        arguments: ClientAuthentication.Method.allCases)
    func authenticatesEachRequest(method: ClientAuthentication.Method) async throws {
        let transport = Self.provider()
        let tokens = try await Self.source(method, transport)
        _ = try await tokens.token()
        _ = try await tokens.refresh()
        _ = try await DeviceLogin(tokens).begin()
        try await tokens.revoke()

        let exchange = try #require(Self.sent(transport, to: "/token").first)
        let refresh = try #require(Self.sent(transport, to: "/token").last)
        let revocation = try #require(Self.sent(transport, to: "/revoke").last)
        let device = try #require(Self.sent(transport, to: "/device").last)
        #expect(exchange.form["grant_type"] == "authorization_code" && exchange.form["code_verifier"] != nil)
        #expect(refresh.form["grant_type"] == "refresh_token" && revocation.form["token"] == "refresh-1")
        let header = method == .clientSecretBasic ? [Self.basic] : []
        let field = method == .clientSecretPost ? Self.secret : nil
        for request in [exchange, refresh, revocation, device] {
            #expect(request.authorization == header && request.form["client_secret"] == field)
            #expect((request.form["client_assertion"] != nil) == (method == .privateKeyJWT))
        }
        // OpenAM was recorded to refuse a token request with the header and client_id, and a device request without client_id
        // (oauth-sessions 104 and 175).
        let clientID = method == .clientSecretBasic ? nil : Self.id
        for request in [exchange, refresh, revocation] { #expect(request.form["client_id"] == clientID) }
        #expect(device.form["client_id"] == Self.id)
    }

    @Test(
        "Only a public client repeats a refused revocation with the token as the credential",
        arguments: ClientAuthentication.Method.allCases)
    func repeatsRevocationForPublicClient(method: ClientAuthentication.Method) async throws {
        let transport = Self.provider { path in path == "/revoke" ? Self.refusal("unknown client") : nil }
        let tokens = try await Self.source(method, transport)
        _ = try await tokens.token()
        let error = await outcome { try await tokens.revoke() }.tokenError
        #expect(error?.code == .refused)
        let headers = Self.sent(transport, to: "/revoke").map(\.authorization)
        let expected: [[String]] =
            switch method {
            case .clientSecretBasic: [[Self.basic]]
            case .clientSecretPost, .privateKeyJWT: [[]]
            case .publicClient: [[], ["Bearer access-1"]]
            }
        #expect(headers == expected)
    }

    /// The methods that a discovery document lists, the method of the client, and true when the client reports the difference.
    static let offers: [(offered: [String]?, method: ClientAuthentication.Method, isRefused: Bool)] = [
        (["private_key_jwt", "client_secret_basic"], .clientSecretPost, true),
        (["client_secret_post"], .clientSecretBasic, true),
        (["client_secret_basic"], .clientSecretBasic, false),
        // An OpenAM doesn't list `none`, and has public clients.
        (["client_secret_post", "client_secret_basic"], .publicClient, false),
        ([], .clientSecretPost, false), (nil, .clientSecretPost, false),
    ]

    @Test("A method that the discovery document does not list is an error before the secret is sent", arguments: offers)
    func refusesMethodThatIsNotListed(
        offered: [String]?, method: ClientAuthentication.Method, isRefused: Bool
    ) async throws {
        var document: [String: JSONValue] = [
            "issuer": .string(Self.base), "authorization_endpoint": .string("\(Self.base)/authorize"),
            "token_endpoint": .string("\(Self.base)/token"), "revocation_endpoint": .string("\(Self.base)/revoke"),
        ]
        if let offered { document["token_endpoint_auth_methods_supported"] = .array(offered.map { .string($0) }) }
        let wellKnown = "/.well-known/openid-configuration"
        let transport = Self.provider { [document] path in path == wellKnown ? Self.json(200, document) : nil }
        let endpoints = OAuthEndpoints(discovery: Self.base + wellKnown)
        let tokens = try await Self.source(method, transport, endpoints: endpoints)
        let result = await outcome { try await tokens.token() }
        #expect(Self.sent(transport, to: "/token").isEmpty == isRefused)
        guard isRefused else {
            #expect(result.error == nil)
            return
        }
        guard case .server(let error) = result.tokenError?.cause, error.code == .notConfigured else {
            Issue.record("\(result)")
            return
        }
        let explanation = error.explanation ?? ""
        for name in (offered ?? []) + [method.rawValue] { #expect(explanation.contains(name)) }
    }

    // MARK: Texts

    @Test(
        "No description, error or log contains the secret, also when the server repeats it",
        arguments: [ClientAuthentication.Method.clientSecretBasic, .clientSecretPost])
    func hidesClientSecret(method: ClientAuthentication.Method) async throws {
        let log = Mutex<[LoggedRequest]>([])
        let transport = Self.provider { path in
            path == "/token" ? Self.refusal("the secret \(Self.secret) is wrong") : nil
        }
        let tokens = try await Self.source(method, transport) { request in log.withLock { $0.append(request) } }
        let error = await outcome { try await tokens.token() }.tokenError
        guard case .server(let refusal) = error?.cause else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code == .invalidClient && refusal.explanation == "the secret … is wrong")

        let logged = log.withLock { $0 }
        let isLogged = logged.contains { $0.action == .exchangeToken }
        #expect(isLogged)
        let (client, authentication) = (try Self.client(method), try Self.authentication(method))
        let values: [Any] = [client, authentication, refusal, error as Any, logged, transport.requests]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                let shows = [Self.secret, "s3%3Ac", String(Self.basic.dropFirst(6))].contains { text.contains($0) }
                #expect(!shows, "\(type(of: value))")
            }
        }
        #expect("\(authentication)" == method.rawValue)
    }

    /// The credentials without form encoding, which some servers accept.
    private static let plainBasic = Base64.encode(Array("\(id):\(secret)".utf8), as: .standard)

    private static func text(_ status: Int, _ body: String, headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    /// Responses in which a server repeats the secret.
    private static let repetitions: [(name: String, response: HTTPResponse)] = [
        ("a success", json(200, ["error": .string("bad \(secret)"), "error_description": .string("not \(secret)")])),
        ("an error name", json(400, ["error": .string("bad \(secret)")])),
        ("a byte order mark", text(400, "\u{FEFF}" + #"{"error":"invalid_client","error_description":"\#(secret)"}"#)),
        ("a message of AM", json(401, ["code": .integer(401), "message": .string("no client \(secret)")])),
        ("a detail of AM", json(400, ["code": .integer(400), "detail": .string(secret)])),
        ("a reason of AM", json(403, ["code": .integer(403), "reason": .string(secret)])),
        (
            "a challenge",
            text(401, "", headers: ["WWW-Authenticate": "Bearer error=\"no \(secret)\", error_description=\"\(secret)\""])
        ),
        ("a server error", json(500, ["error": .string("server_error"), "error_description": .string(secret)])),
        ("percent encoding", refusal("client_secret=\(secret.percentEncoded())&x")),
        ("lower case", refusal("client_secret=\(secret.percentEncoded().lowercased())")),
        ("a form", refusal("client_secret=" + secret.percentEncoded().replacing("%20", with: "+"))),
        ("the header", refusal("got \(basic)")), ("plain credentials", refusal("got Basic \(plainBasic)")),
        ("a text that is cut", refusal(String(repeating: "x", count: 295) + secret)),
    ]

    @Test(
        "No error contains the secret, wherever and however the response repeats it",
        arguments: [ClientAuthentication.Method.clientSecretBasic, .clientSecretPost])
    func hidesClientSecretInEachResponse(method: ClientAuthentication.Method) async throws {
        let forms = [Self.secret, "s3%3", "xs3", String(Self.basic.dropFirst(6)), Self.plainBasic]
        for (name, response) in Self.repetitions {
            for path in ["/token", "/device", "/revoke"] {
                let transport = Self.provider { requested in requested == path ? response : nil }
                let tokens = try await Self.source(method, transport)
                let error = await outcome { () async throws -> Void in
                    switch path {
                    case "/token": _ = try await tokens.token()
                    case "/device": _ = try await DeviceLogin(tokens).begin()
                    default:
                        _ = try await tokens.token()
                        try await tokens.revoke()
                    }
                }.tokenError
                let found = try #require(error, "\(name), \(path)")
                let texts = "\(found) \(String(reflecting: found)) \(found.localizedDescription)"
                for form in forms { #expect(!texts.contains(form), "\(name), \(path)") }
            }
        }
    }

    @Test("A registered error name stays when the secret is a part of it")
    func keepsRegisteredErrorName() {
        let hidden = HiddenSecret(Secret("client".utf8), clientID: "app")
        let error = hidden.removed(from: OAuthError(.invalidClient, name: "invalid_client", explanation: "the client client"))
        #expect(error.name == "invalid_client" && error.explanation == "the … …")
    }

    // MARK: Another secret

    @Test("New tokens replace the stored ones only after the server has accepted the client, and the old ones are then revoked")
    func replacesTokensAfterProof() async throws {
        let first = try await Self.source(.clientSecretBasic, Self.provider())
        let old = try await first.token()
        let client = try Self.client(.clientSecretPost)
        func other(_ transport: ScriptedTransport) -> TokenSource {
            TokenSource(Self.endpoints, client: client, store: first.store, transport: transport)
        }
        let refusing = Self.provider { path in path == "/token" ? Self.refusal("wrong secret") : nil }
        let error = await outcome { try await other(refusing).replaceTokens() }.tokenError
        #expect(error?.code == .refused && Self.sent(refusing, to: "/revoke").isEmpty)
        #expect(try await first.store.token() == old)

        var grant = Self.grant
        (grant["access_token"], grant["refresh_token"]) = (.string("access-2"), .string("refresh-2"))
        let granting = Self.provider { [grant] path in path == "/token" ? Self.json(200, grant) : nil }
        let source = other(granting)
        let new = try await source.replaceTokens()
        #expect(try await first.store.token() == new && new.value == Secret("access-2".utf8))
        let revoked = Self.sent(granting, to: "/revoke").map { $0.form["token"] }
        #expect(revoked == ["refresh-1"] && source.replaced?.tokens == .done)
    }
}
