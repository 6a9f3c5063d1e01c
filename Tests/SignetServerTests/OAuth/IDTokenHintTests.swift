import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A response of the authorization endpoint must not be about another user than the one of `id_token_hint` (OpenID Connect Core
/// sections 3.1.2.1 and 3.1.2.2).
@Suite("id_token_hint of an authorization request")
struct IDTokenHintTests {
    private static let alpha = "/am/oauth2/realms/root/realms/alpha"
    private static let alphaLogin = "/am/json/realms/root/realms/alpha/authenticate"

    /// Returns an id_token of a session.
    private func idToken(_ server: TestServer, _ session: String, client: String = "app", at path: String = TestServer.oauth)
        async throws -> String
    {
        let code = try #require(try await server.authorize(session, client: client, at: path).location["code"])
        return try #require(try Tokens(try await server.exchange(code, client: client, at: path)).id)
    }

    @Test("A hint of the user who is logged in gets a code, also when it has expired or is from an earlier key or another client")
    func acceptsOwnHint() async throws {
        try await TestServer.run(.sample { $0.sessionIdleTimeout = 7200 }) { server in
            let session = try await server.session()
            let hints = [try await idToken(server, session), try await idToken(server, session, client: "other")]
            server.clock.advance(by: 3700)
            try await server.devServer.rotateSigningKey()
            for hint in hints {
                for prompt in [nil, "none"] {
                    let answer = try await server.authorize(session, ["id_token_hint": hint, "prompt": prompt]).location
                    #expect(answer["code"] != nil, "\(answer)")
                }
            }
        }
    }

    @Test("A hint of another user gets login_required without a page, and otherwise the login page, and never a code")
    func refusesHintOfOtherUser() async throws {
        try await TestServer.run { server in
            let (mira, noa) = (try await server.session(), try await server.session(name: "noa", password: "staple"))
            let hint = try await idToken(server, noa)
            let silent = try await server.authorize(mira, ["id_token_hint": hint, "prompt": "none"]).location
            #expect(silent["error"] == "login_required" && silent["code"] == nil && silent["state"] == "st/&te")
            let shown = try await server.authorize(mira, ["id_token_hint": hint])
            #expect(shown.status == 302 && shown.header("Location")?.contains("/am/XUI/") == true)
            #expect(try shown.location["code"] == nil && shown.location["ForceAuth"] == "true")
            // Without a session, as with the session of another user.
            #expect(
                try await server.authorize(nil, ["id_token_hint": hint, "prompt": "none"]).location["error"] == "login_required")
            #expect(try await server.authorize(nil, ["id_token_hint": hint]).location["goto"] != nil)
            // The user of the hint gets the code.
            #expect(try await server.authorize(noa, ["id_token_hint": hint, "prompt": "none"]).location["code"] != nil)
        }
    }

    @Test("After the login page the user of the hint gets the code, and another user gets login_required")
    func comparesUserAfterLogin() async throws {
        try await TestServer.run { server in
            let mira = try await server.session()
            let hint = try await idToken(server, try await server.session(name: "noa", password: "staple"))
            let goto = try #require(try await server.authorize(mira, ["id_token_hint": hint]).location["goto"])
            // The same user comes back without a login.
            #expect(try await server.comeBack(to: goto, mira)["goto"] != nil)
            let other = try await server.session()
            #expect(try await server.comeBack(to: goto, other)["error"] == "login_required")
            let noa = try await server.session(name: "noa", password: "staple")
            #expect(try await server.comeBack(to: goto, noa)["code"] != nil)
        }
    }

    @Test("A hint for a user of the same name in another realm is a hint for another user")
    func comparesRealm() async throws {
        try await TestServer.run { server in
            let mira = try await server.session()
            let namesake = try await server.session(password: "other", at: Self.alphaLogin)
            let hint = try await idToken(server, namesake, at: Self.alpha)
            let silent = try await server.authorize(mira, ["id_token_hint": hint, "prompt": "none"]).location
            #expect(silent["error"] == "login_required" && silent["code"] == nil)
            let shown = try await server.authorize(mira, ["id_token_hint": hint]).location
            #expect(shown["code"] == nil && shown["goto"] != nil)
            let own = try await server.authorize(namesake, ["id_token_hint": hint, "prompt": "none"], at: Self.alpha).location
            #expect(own["code"] != nil)
        }
    }

    @Test("A text that is not an id_token of this server is an invalid request", arguments: ["none", nil])
    func refusesForeignHint(prompt: String?) async throws {
        try await TestServer.run { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            let hint = try #require(tokens.id)
            let parts = hint.split(separator: ".").map(String.init)
            var claims = try await server.claims(hint)
            claims["sub"] = "noa"
            let forged = Base64.encode(JSON.encode(.object(claims)), as: .url)
            let unsigned = Base64.encode(Array(#"{"alg":"none"}"#.utf8), as: .url)
            // Signed by this server, with the issuer of another one.
            claims["iss"] = "https://evil.example.test/am/oauth2"
            let foreign = try await server.devServer.context.signer.sign(claims)
            for text in [
                "garbage", "a.b.c", tokens.access, "\(hint.dropLast(5))AAAAA", "\(parts[0]).\(forged).\(parts[2])",
                "\(unsigned).\(parts[1]).", foreign,
            ] {
                let answer = try await server.authorize(session, ["id_token_hint": text, "prompt": prompt]).location
                #expect(answer["error"] == "invalid_request" && answer["code"] == nil, "\(text)")
                #expect(answer["state"] == "st/&te")
            }
        }
    }
}
