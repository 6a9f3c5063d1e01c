#if os(Linux)
import Crypto
import Foundation
import SignetCore
import TestSupport
import Testing

/// Passkeys whose answers a browser made for another page than those of the server.
@Suite("Attacks: passkeys", .timeLimit(.minutes(5)))
struct PasskeyAttacks {
    @Test("A passkey's answer that was made at another origin registers no passkey and gives no session")
    func answersAtOtherOrigin() async throws {
        try await AttackedServer.with { server in
            let own = "http://localhost:\(server.port)"
            for origin in [
                "https://localhost:\(server.port)", "http://localhost", "http://localhost:1",
                "http://evil.localhost:\(server.port)",
                "http://127.0.0.1:\(server.port)", "https://evil.test", "\(own)/", "\(own).evil.test", "null", "",
            ] {
                let answer = try await register(at: origin, server)
                #expect(answer.session == nil && answer.step == nil, "\(origin): \(answer.status)")
            }
            // A user without a passkey gets no question for one.
            let login = try await server.signIn("WebAuthnLogin")
            #expect(login.session == nil && login.step == nil)
            let registered = try await register(at: own, server)
            #expect(registered.session != nil, "\(registered.status) \(registered.response.text)")
        }
    }

    /// Answers the request for a new passkey, without an attestation, as a browser at an origin does.
    private func register(at origin: String, _ server: AttackedServer) async throws -> JourneyAnswer {
        let step = try #require(try await server.signIn("WebAuthnRegistration").step)
        let data = try #require(step.callback("MetadataCallback")?.output("data"))
        let challenge = try Base64.decode(try #require(data["challenge"]?.string))
        let client = JSON.text(
            of: .object([
                "type": "webauthn.create", "challenge": .string(Base64.encode(challenge, as: .url)), "origin": .string(origin),
            ]))
        let (id, point) = (Array("passkey".utf8), Array(P256.Signing.PrivateKey().publicKey.rawRepresentation))
        // The flags say that the user was there and was verified, and that a key follows (WebAuthn level 2, section 6.1).
        var authenticator: [UInt8] = Array(SHA256.hash(data: Data("localhost".utf8)))
        authenticator += [0x45, 0, 0, 0, 1]
        authenticator += [UInt8](repeating: 0, count: 16)
        authenticator += [0, UInt8(id.count)]
        authenticator += id
        authenticator += [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]
        authenticator += point[..<32]
        authenticator += [0x22, 0x58, 0x20]
        authenticator += point[32...]
        var attestation: [UInt8] = [0xA3, 0x63]
        attestation += Array("fmt".utf8)
        attestation += [0x64]
        attestation += Array("none".utf8)
        attestation += [0x67]
        attestation += Array("attStmt".utf8)
        attestation += [0xA0, 0x68]
        attestation += Array("authData".utf8)
        attestation += [0x58, UInt8(authenticator.count)]
        attestation += authenticator
        let numbers = attestation.map { String(Int8(bitPattern: $0)) }.joined(separator: ",")
        let outcome = "\(client)::\(numbers)::\(Base64.encode(id, as: .url))"
        return try await server.answer(step, ["HiddenValueCallback": .string(outcome)])
    }
}
#endif
