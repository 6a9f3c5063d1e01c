#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import TestSupport
import Testing

/// Requests for other users' codes and tokens, at the OAuth 2.0 and OpenID Connect endpoints.
@Suite("Attacks: OAuth 2.0 and OpenID Connect", .timeLimit(.minutes(10)))
struct OAuthAttacks {
    /// Variants of the registered address `org.example.app://callback`, and of loopback addresses.
    private static let addresses: [String] = [
        "", " ", "org.example.app://callback/", "org.example.app://callback?x=1", "org.example.app://callback#x",
        "org.example.app://callback%2F", "org.example.app://callback.evil.test", "org.example.app://evil@callback",
        "org.example.app://callback@evil.test", "org.example.app://callback:80", "org.example.app:callback",
        "org.example.app:///callback", "ORG.EXAMPLE.APP://callback", "org.example.app://CALLBACK",
        "org.example.app.evil://callback",
        "org.example.app://callback\\@evil.test", "org.example.app://callback\t", "org.example.app://callback%00",
        "org.example.app://callback\u{0}", "org.example.app://callback\r\nSet-Cookie: x=y", "org.example.app://callback/../x",
        "xorg.example.app://callback", "//callback", "callback", "javascript:alert(1)//org.example.app://callback",
        "data:text/html,org.example.app://callback", "https://web.example.test/cb?x=1", "https://web.example.test/cb",
        "http://127.0.0.1/callback/", "http://127.0.0.1/callback?x", "http://127.0.0.1/callback#", "http://127.0.0.1/Callback",
        "http://127.0.0.1:65536/callback", "http://127.0.0.1:-1/callback",
        "http://127.0.0.1: 80/callback", "http://127.0.0.1:80:90/callback", "http://127.0.0.1:80@evil.test/callback",
        "http://evil@127.0.0.1/callback", "http://127.1/callback", "http://2130706433/callback", "http://0x7f.0.0.1/callback",
        "http://0177.0.0.1/callback", "http://127.0.0.1./callback", "http://[::1]/callback", "http://[::ffff:127.0.0.1]/callback",
        "http://localhost/callback", "http://127.0.0.1.evil.test/callback", "http://127.0.0.2/callback",
        "https://127.0.0.1/callback", "http://127.0.0.1\\.evil.test/callback", "http://１２７.0.0.1/callback",
        "http://127.0.0.1//callback", "http://127.0.0.1/callback/..", "http://127.0.0.1/%63allback", "http:/127.0.0.1/callback",
    ]

    @Test("No variant of a registered redirect address gets a code or an error")
    func sendsCodeElsewhere() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            #expect(try await server.authorize(session).redirected["code"] != nil)
            #expect(
                try await server.authorize(session, ["redirect_uri": "http://127.0.0.1:9/callback"]).redirected["code"] != nil)
            for address in Self.addresses {
                for scope in ["openid", "admin"] {
                    let response = try await server.authorize(session, ["redirect_uri": address, "scope": scope])
                    #expect(response.status == 400 && response.headers["Location"] == nil, "\(address)")
                }
            }
        }
    }

    @Test("No variant of the login page's return address leads to another site")
    func returnsElsewhere() async throws {
        try await AttackedServer.with { server in
            let own = "127.0.0.1:\(server.port)"
            let targets = [
                "https://evil.test/", "//evil.test/", "///evil.test/", "/\\evil.test/", "\\\\evil.test", "/%5Cevil.test",
                "/\t/evil.test",
                "https:evil.test", "https:/evil.test", "http://\(own).evil.test/am/oauth2/authorize",
                "http://\(own)@evil.test/am/oauth2/authorize", "http://evil.test#\(own)/am/oauth2/authorize",
                "http://evil.test?\(own)/am/oauth2/authorize", "http://evil.test\\@\(own)/am/oauth2/authorize",
                "https://\(own)/am/oauth2/authorize", "http://\(own)/am/../../evil", "http://\(own)/am/oauth2/../evil/authorize",
                "http://\(own)/am/oauth2/%2e%2e/evil/authorize", "/am/oauth2/..;/authorize", "/am//evil.test/oauth2/authorize",
                "/am/XUI/", "/am/XUI/?goto=https://evil.test", "/am/json/realms/root/sessions?_action=logout", "/am/console/open",
                "/am/admin", "javascript:alert(1)", "JavaScript://\(own)/%0aalert(1)", "data:text/html,x", "vbscript:x",
                "about:blank",
                "/am/oauth2/authorize\r\nLocation: https://evil.test", "/am/oauth2/authorize%0d%0aX: y",
                "org.example.app://callback.evil",
                "http://127.0.0.1/callback/evil", "\u{FEFF}https://evil.test", " https://evil.test",
                "https://evil.test\u{3002}test",
            ]
            for target in targets {
                let query = FormCoding.encode([("realm", "/"), ("goto", target)])
                let response = try await server.send("GET", "/XUI/?\(query)")
                #expect(response.status == 400 && response.headers["Location"] == nil, "\(target)")
            }
        }
    }

    @Test("A stolen code is worthless without its verifier, client, address and realm, and its replay ends the tokens")
    func usesStolenCode() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            let challenge = ProofKey.challenge(for: AttackedServer.verifier)
            let thefts: [[String: String?]] = [
                ["code_verifier": nil], ["code_verifier": ""], ["code_verifier": challenge],
                ["code_verifier": String(AttackedServer.verifier.dropLast())], ["code_verifier": AttackedServer.verifier + "x"],
                ["code_verifier": AttackedServer.verifier.lowercased()], ["client_id": "other"], ["client_id": nil],
                ["redirect_uri": nil], ["redirect_uri": "org.example.app://callback/"], ["grant_type": "password"],
                ["grant_type": "client_credentials"], ["grant_type": nil],
            ]
            for theft in thefts {
                let response = try await server.exchange(try await server.code(session), theft)
                #expect((400...401).contains(response.status) && response.json["access_token"] == nil, "\(theft)")
            }
            let elsewhere = try await server.exchange(try await server.code(session), at: "/oauth2/realms/root/realms/alpha")
            #expect(elsewhere.oauthError == "invalid_grant")

            let code = try await server.code(session)
            let tokens = try #require(try await server.exchange(code).json["access_token"]?.string)
            #expect(try await server.isValid(accessToken: tokens))
            #expect(try await server.exchange(code).oauthError == "invalid_grant")
            #expect(try await !server.isValid(accessToken: tokens))
        }
    }

    @Test("Of many simultaneous uses of one code or one refresh token at most one succeeds, and its tokens end")
    func racesForTokens() async throws {
        try await AttackedServer.with { server in
            let code = try await server.code(try await server.session())
            let codes = try await Self.together { try await server.exchange(code) }
            let exchanged = codes.count { $0.status == 200 }
            #expect(exchanged <= 1)
            for token in codes.compactMap({ $0.json["access_token"]?.string }) {
                #expect(try await !server.isValid(accessToken: token))
            }
            let refresh = try await server.tokens().refresh
            let renewals = try await Self.together { try await server.renew(refresh) }
            let renewed = renewals.count { $0.status == 200 }
            #expect(renewed <= 1)
            for token in renewals.compactMap({ $0.json["refresh_token"]?.string }) {
                #expect(try await server.renew(token).oauthError == "invalid_grant")
            }
        }
    }

    @Test("A client is not authenticated by any misuse of its secret, and the answers do not tell which client exists")
    func impersonatesClient() async throws {
        try await AttackedServer.with { server in
            let secret = AttackedServer.clientSecret
            func basic(_ text: String) -> [(String, String)] {
                [("Authorization", "Basic \(Base64.encode(Array(text.utf8), as: .standard))")]
            }
            let forms: [[(name: String, value: String)]] = [
                [("client_id", "web")], [("client_id", "web"), ("client_secret", "")],
                [("client_id", "web"), ("client_secret", "x")],
                [("client_id", "web"), ("client_secret", secret.uppercased())],
                [("client_id", "WEB"), ("client_secret", secret)],
                [("client_id", "web"), ("client_secret", String(secret.dropLast()))],
                [("client_id", "web"), ("client_secret", secret), ("client_secret", "x")],
            ]
            for form in forms {
                let response = try await server.post("\(AttackedServer.oauth)/introspect", form: form + [("token", "x")])
                #expect((400...401).contains(response.status), "\(form)")
            }
            for text in [
                "web", "web:", "web:x", ":\(secret)", "web:\(secret)x", "web :\(secret)", "\(secret):web", "app:", "nobody:x",
            ] {
                let response = try await server.post("\(AttackedServer.oauth)/introspect", form: [("token", "x")], basic(text))
                #expect((400...401).contains(response.status), "\(text)")
            }
            let wrong = try await server.post("\(AttackedServer.oauth)/introspect", form: [("token", "x")], basic("web:x"))
            let unknown = try await server.post("\(AttackedServer.oauth)/introspect", form: [("token", "x")], basic("nobody:x"))
            #expect(wrong.status == unknown.status && wrong.json == unknown.json)
        }
    }

    /// Sends 16 requests at once.
    private static func together(_ request: @escaping @Sendable () async throws -> HTTPResponse) async throws -> [HTTPResponse] {
        try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<16 { group.addTask { try await request() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
#endif
