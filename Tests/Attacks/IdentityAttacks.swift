#if os(Linux)
import Crypto
import Foundation
import SignetCore
import SignetNetwork
import TestSupport
import Testing

/// Forged proofs of identity: id_tokens as hints, tokens of other realms, handles of journeys.
@Suite("Attacks: forged identities", .timeLimit(.minutes(10)))
struct IdentityAttacks {
    /// A use of an id_token of the attacker, or of a forged one, as a hint.
    private struct Hint {
        let name: String
        let token: String
    }

    /// Returns forged forms of an id_token.
    private func forgeries(of token: String, at server: AttackedServer) async throws -> [Hint] {
        let parts = token.split(separator: ".").map(String.init)
        let keys = try await server.send("GET", "\(AttackedServer.oauth)/connect/jwk_uri").json["keys"]?.array
        let key = keys?.first { $0["kty"] == "RSA" }
        let modulus = try #require(key?["n"]?.string)
        func encoded(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        func forged(_ header: String, _ secret: [UInt8]? = nil) -> String {
            let input = "\(encoded(header)).\(parts[1])"
            let code = secret.map {
                Array(HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: SymmetricKey(data: $0)))
            }
            return "\(input).\(code.map { Base64.encode($0, as: .url) } ?? "")"
        }
        let claims = String(decoding: try Base64.decode(parts[1]), as: UTF8.self)
        let names = [AttackedServer.attacker, AttackedServer.victim]
        let other = claims.replacing(names[0], with: "\u{0}").replacing(names[1], with: names[0]).replacing(
            "\u{0}", with: names[1])
        let rsa = #"{"kty":"RSA","e":"AQAB","n":"\#(modulus)"}"#
        return [
            Hint(name: "no signature", token: "\(parts[0]).\(parts[1])."),
            Hint(name: "two parts", token: "\(parts[0]).\(parts[1])"),
            Hint(name: "none", token: forged(#"{"alg":"none"}"#)),
            Hint(name: "None", token: forged(#"{"alg":"None","typ":"JWT"}"#)),
            Hint(name: "public key as a secret", token: forged(#"{"alg":"HS256"}"#, Array(modulus.utf8))),
            Hint(name: "public key's bytes as a secret", token: forged(#"{"alg":"HS256"}"#, try Base64.decode(modulus))),
            Hint(name: "own key in jwk", token: forged(#"{"alg":"RS256","jwk":\#(rsa)}"#, [1])),
            Hint(name: "own key at jku", token: forged(#"{"alg":"RS256","jku":"http://127.0.0.1:1/keys"}"#, [1])),
            Hint(name: "another subject", token: "\(parts[0]).\(encoded(other)).\(parts[2])"),
            Hint(name: "a changed signature", token: "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))"),
            Hint(name: "five parts", token: "\(token).a.b"), Hint(name: "not a token", token: "x"),
            Hint(name: "empty parts", token: ".."),
        ]
    }

    @Test("A forged id_token_hint, or one of another user or realm, gets no code without the user")
    func hintsAtAnotherUser() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            let (own, foreign) = (
                try await server.tokens().identity, try await server.tokens(of: AttackedServer.attacker).identity
            )
            #expect(try await server.authorize(session, ["prompt": "none", "id_token_hint": own]).redirected["code"] != nil)
            #expect(
                try await server.authorize(session, ["prompt": "none", "id_token_hint": foreign]).oauthError == "login_required")
            for hint in try await forgeries(of: foreign, at: server) {
                for prompt in ["none", nil] {
                    let response = try await server.authorize(session, ["prompt": prompt, "id_token_hint": hint.token])
                    #expect(response.redirected["code"] == nil, "\(hint.name)")
                    #expect(response.oauthError == "invalid_request", "\(hint.name): \(response.oauthError ?? "no error")")
                }
            }
            let root = try await server.authorize(session, ["id_token_hint": foreign])
            #expect(root.redirected["code"] == nil && root.headers["Location"]?.contains("/XUI/") == true)
        }
    }

    @Test("A forged id_token_hint ends no session")
    func endsSessionOfAnotherUser() async throws {
        try await AttackedServer.with { server in
            let session = try await server.session()
            let code = try await server.code(session)
            let own = try #require(try await server.exchange(code).json["id_token"]?.string)
            for hint in try await forgeries(of: own, at: server) {
                let query = FormCoding.encode([("id_token_hint", hint.token), ("client_id", "app")])
                let response = try await server.send("GET", "\(AttackedServer.oauth)/connect/endSession?\(query)")
                #expect(response.status == 400, "\(hint.name)")
            }
            #expect(try await server.isValid(session: session))
        }
    }

    @Test("Sessions, codes, tokens and journeys of one realm are worth nothing in another one")
    func confusesRealms() async throws {
        try await AttackedServer.with { server in
            let alpha = "/oauth2/realms/root/realms/alpha"
            let session = try await server.session()
            let (access, refresh, identity) = try await server.tokens()
            #expect(try await server.authorize(session, ["prompt": "none"], at: alpha).oauthError == "interaction_required")
            #expect(try await server.exchange(try await server.code(session), at: alpha).oauthError == "invalid_grant")
            #expect(try await server.renew(refresh, at: alpha).oauthError == "invalid_grant")
            #expect(try await !server.isValid(accessToken: access, at: alpha))
            #expect(try await server.send("GET", "\(alpha)/connect/endSession?id_token_hint=\(identity)").status == 400)
            let own = [("iPlanetDirectoryPro", session), ("Accept-API-Version", "resource=1.0")]
            let devices = try await server.send(
                "GET", "/json/realms/root/realms/alpha/users/mira/devices/2fa/push?_queryFilter=true", own)
            #expect((401...404).contains(devices.status))
            let others = try await server.send(
                "GET", "/json/realms/root/users/mallory/devices/2fa/push?_queryFilter=true", own)
            #expect((401...404).contains(others.status))

            let step = try #require(try await server.start("Login").step)
            var filled = step
            filled.callbacks[0].answer(.string(AttackedServer.victim))
            filled.callbacks[1].answer(.string(AttackedServer.password))
            let body = String(decoding: try JSON.encode(filled), as: UTF8.self)
            let moved = try await server.post("/json/realms/root/realms/alpha/authenticate", json: body)
            #expect((400...401).contains(moved.status) && moved.json["tokenId"] == nil)
        }
    }

    @Test("A handle of a journey with any character changed is refused, and a used one is used up")
    func forgesJourneyHandle() async throws {
        try await AttackedServer.with { server in
            let step = try #require(try await server.start("Login").step)
            let handle = Array(step.authId)
            let positions = AttackRun.isComplete ? Array(handle.indices) : Array(stride(from: 0, to: handle.count, by: 11))
            for position in positions {
                var changed = handle
                changed[position] = changed[position] == "A" ? "B" : "A"
                var forged = step
                forged.authId = String(changed)
                guard Self.parts(of: forged.authId) != Self.parts(of: step.authId) else { continue }
                let answer = try await server.answer(forged, ["NameCallback": "mira", "PasswordCallback": "x"])
                #expect((400...401).contains(answer.status) && answer.step == nil, "position \(position): \(answer.status)")
            }
            let values: [String: JSONValue] = [
                "NameCallback": .string(AttackedServer.victim), "PasswordCallback": .string(AttackedServer.password),
            ]
            #expect(try await server.answer(step, values).session != nil)
            #expect(try await server.answer(step, values).session == nil)
        }
    }

    /// The decoded parts of a token; nil for a part that is not base64url.
    ///
    /// The last character of a part can have bits that do not count.
    private static func parts(of token: String) -> [[UInt8]?] {
        token.split(separator: ".", omittingEmptySubsequences: false).map { try? Base64.decode(String($0)) }
    }
}
#endif
