import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The conformance profile")
struct ConformanceProfileTests {
    private static let openid = ServerConfiguration.sample { $0.profile = .openid }

    @Test(
        "With the profile openid, responses of the authorization endpoint have no client_id",
        arguments: ["query", "form_post"])
    func omitsClientID(mode: String) async throws {
        try await TestServer.run(Self.openid) { server in
            let session = try await server.session()
            func answer(_ changes: [String: String?]) async throws -> Set<String> {
                let request: [String: String?] = ["response_mode": mode, "redirect_uri": "http://127.0.0.1/callback"]
                let reply = try await server.authorize(session, changes.merging(request) { $1 })
                guard mode == "query" else { return Set(reply.hiddenFields.keys) }
                return Set(try reply.location.keys)
            }
            #expect(try await answer([:]) == ["code", "iss", "state"])
            #expect(try await answer(["response_type": nil]) == ["error", "error_description", "iss", "state"])
        }
    }

    @Test(
        "The claims realm and tokenName, and the version in the metadata, are additions of AM",
        arguments: [(ConformanceProfile.am, true), (.openid, false)])
    func addsMembersOfAM(profile: ConformanceProfile, isAdded: Bool) async throws {
        try await TestServer.run(.sample { $0.profile = profile }) { server in
            let claims = try await server.claims(try #require(try await server.tokens().id))
            #expect((claims["realm"] == "/") == isAdded && (claims["tokenName"] == "id_token") == isAdded)
            #expect((claims["realm"] != nil) == isAdded && (claims["tokenName"] != nil) == isAdded)
            let document = try await server.send(.get, "/am/oauth2/.well-known/openid-configuration", headers: [:]).json
            #expect((document["version"] != nil) == isAdded)
        }
    }

    @Test("Unknown scopes are refused as at AM, and ignored with the profile openid unless all are unknown")
    func treatsUnknownScopes() async throws {
        try await TestServer.run { server in
            let answer = try await server.authorize(try await server.session(), ["scope": "openid admin"]).location
            #expect(answer["error"] == "invalid_scope")
        }
        try await TestServer.run(Self.openid) { server in
            let session = try await server.session()
            let code = try await server.code(session, ["scope": "openid admin email"])
            #expect(try Tokens(try await server.exchange(code)).json["scope"] == "openid email")
            let answer = try await server.authorize(session, ["scope": "admin root"]).location
            #expect(answer["error"] == "invalid_scope" && answer["code"] == nil)
        }
    }

    @Test("The refusal of a request without PKCE names the setting that permits it", arguments: ConformanceProfile.allCases)
    func namesSettingForPKCE(profile: ConformanceProfile) async throws {
        try await TestServer.run(.sample { $0.profile = profile }) { server in
            let changes: [String: String?] = ["code_challenge": nil, "code_challenge_method": nil]
            let answer = try await server.authorize(try await server.session(), changes).location
            #expect(answer["error"] == "invalid_request")
            #expect(answer["error_description"]?.contains("requirePKCE: false") == true)
        }
    }

    @Test("The configuration file sets the profile, and refuses other words")
    func readsProfile() throws {
        #expect(try ServerConfiguration(yaml: "realms: [/]").profile == .am)
        #expect(try ServerConfiguration(yaml: "profile: am").profile == .am)
        #expect(try ServerConfiguration(yaml: "{profile: openid, server: {issuer: Harbor}}").profile == .openid)
        for text in ["profile: fapi", "profile: [am]", "server: {profile: openid}"] {
            #expect(throws: ConfigurationError.self) { try ServerConfiguration(yaml: text) }
        }
    }
}
