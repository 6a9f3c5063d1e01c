import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting
import Testing

@Suite("Pushed authorization requests (RFC 9126)")
struct PushedRequestTests {
    private static let wellKnown = "/.well-known/openid-configuration"

    /// Returns the discovery document of the provider, as a response.
    private static func document(requiresPush: Bool, hasEndpoint: Bool = true) -> HTTPResponse {
        let base = BoundProvider.base
        var members: [String: JSONValue] = [
            "issuer": .string(base), "authorization_endpoint": .string("\(base)/authorize"),
            "token_endpoint": .string("\(base)/token"), "revocation_endpoint": .string("\(base)/revoke"),
            "require_pushed_authorization_requests": .bool(requiresPush),
        ]
        if hasEndpoint { members["pushed_authorization_request_endpoint"] = .string("\(base)/par") }
        return BoundProvider.json(200, members)
    }

    private static let discovered = OAuthEndpoints(discovery: BoundProvider.base + wellKnown)

    /// The parameters that must not be in an address after they were pushed.
    private static let parameters = ["redirect_uri", "state", "code_challenge", "scope", "dpop_jkt", "response_type"]

    private func query(_ provider: BoundProvider) throws -> [String: String] {
        FormCoding.query(of: try #require(provider.now.requests["/authorize"]?.last).url)
    }

    @Test("A client pushes its parameters when the metadata requires it, and the address has only the client and the reference")
    func pushesWhenRequired() async throws {
        let provider = BoundProvider {
            $0.requiresPush = true
            $0.answers[Self.wellKnown] = Self.document(requiresPush: true)
        }
        let token = try await provider.source(endpoints: Self.discovered).token()
        let sent = try #require(provider.forms("/par").first)
        let query = try query(provider)
        #expect(token.isBound && Set(query.keys) == ["client_id", "request_uri"] && query["client_id"] == "app")
        for name in Self.parameters { #expect(sent[name] != nil, "\(name)") }
        #expect(sent["dpop_jkt"] == provider.now.proofs["/token"]?.first?.thumbprint && sent["request_uri"] == nil)
    }

    @Test("A client with pushesRequests pushes its parameters although the metadata does not require it")
    func pushesBySetting() async throws {
        let provider = BoundProvider()
        _ = try await provider.source(BoundProvider.client(pushesRequests: true)).token()
        let names = Set(try query(provider).keys)
        #expect(provider.count("/par") == 1 && names == ["client_id", "request_uri"])
    }

    @Test("A client pushes nothing when neither the metadata nor its setting requires it")
    func pushesNothingOtherwise() async throws {
        let provider = BoundProvider { $0.answers[Self.wellKnown] = Self.document(requiresPush: false) }
        _ = try await provider.source(endpoints: Self.discovered).token()
        let query = try query(provider)
        #expect(provider.count("/par") == 0 && query["redirect_uri"] != nil)
    }

    @Test("The pushed request authenticates a client with a secret, and keeps its client_id")
    func authenticatesPush() async throws {
        let provider = BoundProvider()
        let client = BoundProvider.client(
            authentication: .clientSecretBasic(Secret("s3cret".utf8)), pushesRequests: true)
        _ = try await provider.source(client).token()
        let request = try #require(provider.now.requests["/par"]?.first)
        let form = try #require(provider.forms("/par").first)
        #expect(request.method == "POST" && request.headers["Authorization"]?.hasPrefix("Basic ") == true)
        #expect(form["client_id"] == "app" && form["client_secret"] == nil)
    }

    /// The answers with which a push fails.
    static let failures: [(answer: HTTPResponse, code: OAuthError.Code)] = [
        (BoundProvider.refusal("invalid_client", status: 401), .invalidClient),
        (BoundProvider.refusal("invalid_request"), .invalidRequest),
        (HTTPResponse(status: 404), .unreadable), (HTTPResponse(status: 500), .failed),
        (BoundProvider.json(201, ["expires_in": .integer(60)]), .unreadable),
        (BoundProvider.json(201, ["request_uri": .string("")]), .unreadable),
        (HTTPResponse(status: 200, body: Array("<html>Log in first</html>".utf8)), .unreadable),
    ]

    @Test("A push that fails is an error, and the parameters are never sent in the address instead", arguments: failures)
    func neverFallsBack(answer: HTTPResponse, code: OAuthError.Code) async throws {
        let provider = BoundProvider {
            $0.answers["/par"] = answer
            $0.answers[Self.wellKnown] = Self.document(requiresPush: true)
        }
        let required = await outcome { try await provider.source(endpoints: Self.discovered).token() }.tokenError
        let wanted = await outcome { try await provider.source(BoundProvider.client(pushesRequests: true)).token() }.tokenError
        for error in [required, wanted] {
            guard case .server(let refusal) = error?.cause else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(refusal.code == code)
        }
        #expect(provider.count("/authorize") == 0 && provider.count("/token") == 0)
    }

    @Test("A requirement without an endpoint is an error before any parameter is sent", arguments: [true, false])
    func refusesMissingEndpoint(byMetadata: Bool) async throws {
        let provider = BoundProvider {
            $0.answers[Self.wellKnown] = Self.document(requiresPush: byMetadata, hasEndpoint: false)
        }
        let client = BoundProvider.client(pushesRequests: !byMetadata)
        let error = await outcome { try await provider.source(client, endpoints: Self.discovered).token() }.tokenError
        guard case .server(let refusal) = error?.cause else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.code == .notConfigured && refusal.code == .notOffered && provider.count("/authorize") == 0)
    }

    @Test("A login in a browser pushes the parameters, and opens an address without them")
    func pushesInBrowserLogin() async throws {
        let provider = BoundProvider()
        let client = OAuthClient(
            clientID: "app", redirectURI: "http://127.0.0.1/callback", scopes: ["read"], dpop: .software, pushesRequests: true)
        let opened = Mutex<String?>(nil)
        let login = BrowserLogin(try await provider.source(client)) { address in
            opened.withLock { $0 = address }
            throw CancellationError()
        }
        let error = await outcome { try await login.logIn() }.tokenError
        let last = opened.withLock { $0 }
        let address = try #require(last)
        let pushed = try #require(provider.forms("/par").first)
        let names = Set(FormCoding.query(of: address).keys)
        #expect(error?.code == .cancelled && names == ["client_id", "request_uri"])
        #expect(pushed["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true && pushed["dpop_jkt"] != nil)
    }

    @Test("A profile has the addresses of AM until discovery, and then only those of the document")
    func namesAddresses() async throws {
        let profile = try ServerProfile(url: "https://am.example.test/am", realm: "alpha")
        let usual = OAuthEndpoints(profile)
        let path = "https://am.example.test/am/oauth2/realms/root/realms/alpha"
        #expect(usual.pushedAuthorization == "\(path)/par" && usual.backchannelAuthentication == "\(path)/bc-authorize")
        let transport = ScriptedTransport { _ in Self.document(requiresPush: false, hasEndpoint: false) }
        let found = try await ServerProfile(url: BoundProvider.base).discovering(
            at: BoundProvider.base + Self.wellKnown, over: transport)
        let described = OAuthEndpoints(found)
        #expect(described.pushedAuthorization == nil && described.backchannelAuthentication == nil)
        let own = try ServerProfile(url: BoundProvider.base, endpoints: [.pushedAuthorization: "push"])
        #expect(OAuthEndpoints(own).pushedAuthorization == "\(BoundProvider.base)/push")
    }
}
