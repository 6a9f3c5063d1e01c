import Crypto
import CryptoExtras
import Foundation
import SignetCore
import TestSupport

@testable import SignetServer

/// A device key as the SDK of one platform or the other creates it.
struct TestKey: Sendable {
    enum Kind: Sendable {
        case apple(P256.Signing.PrivateKey)
        case android(_RSA.Signing.PrivateKey)
    }

    let kind: Kind
    var id = UUID().uuidString

    static func apple() -> TestKey { TestKey(kind: .apple(P256.Signing.PrivateKey())) }
    static func android() throws -> TestKey { TestKey(kind: .android(try _RSA.Signing.PrivateKey(keySize: .bits2048))) }

    var algorithm: String {
        switch kind {
        case .apple: "ES256"
        case .android: "RS512"
        }
    }

    var jwk: JSONValue {
        var members: [String: JSONValue] = ["use": "sig", "alg": .string(algorithm), "kid": .string(id)]
        switch kind {
        case .apple(let key):
            let point = Array(key.publicKey.rawRepresentation)
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = .string(Base64.encode(point[..<32], as: .url))
            members["y"] = .string(Base64.encode(point[32...], as: .url))
        case .android(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = .string(Base64.encode(Array(numbers?.modulus ?? Data()), as: .url))
            members["e"] = .string(Base64.encode(Array(numbers?.publicExponent ?? Data()), as: .url))
        }
        return .object(members)
    }

    /// Returns a compact JWS.
    func sign(_ claims: [String: JSONValue], header changes: [String: JSONValue] = [:]) throws -> String {
        let header: [String: JSONValue] = ["alg": .string(algorithm), "kid": .string(id), "typ": "JWS"]
        let parts = [header.merging(changes) { $1 }, claims].map {
            Base64.encode(JSON.encode(JSONValue.object($0)), as: .url)
        }
        let input = parts.joined(separator: ".")
        return "\(input).\(Base64.encode(try signature(of: Data(input.utf8)), as: .url))"
    }

    private func signature(of data: Data) throws -> [UInt8] {
        switch kind {
        case .apple(let key): Array(try key.signature(for: data).rawRepresentation)
        case .android(let key):
            Array(try key.signature(for: SHA512.hash(data: data), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }
}

/// An authenticator with one credential that follows the test's instructions, correctly or not.
struct TestAuthenticator: Sendable {
    var key = P256.Signing.PrivateKey()
    /// The two coordinates of the reported public key, when it differs from the real key.
    var point: [UInt8]?
    /// The key for RS256, which replaces ``key``; nil for ES256.
    var rsa: _RSA.Signing.PrivateKey?
    let credentialID = Array("credential-\(UUID().uuidString)".utf8)
    var party = "localhost"
    /// The origin of the pages of a test's server, whose address is `http://127.0.0.1:8080/am`.
    var origin = "http://localhost:8080"
    var flags: UInt8 = 0x05
    var counter: UInt32 = 1

    func clientData(_ type: String, challenge: String) throws -> String {
        let bytes = try Base64.decode(challenge)
        return JSON.text(
            of: .object([
                "type": .string("webauthn.\(type)"), "challenge": .string(Base64.encode(bytes, as: .url)),
                "origin": .string(origin),
            ]))
    }

    private func data(_ flags: UInt8) -> [UInt8] {
        let number = (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
        return Array(SHA256.hash(data: Data(party.utf8))) + [flags] + number
    }

    /// Returns the client's answer to a registration.
    func registration(challenge: String, name: String? = nil) throws -> String {
        let cose = try coseKey()
        let length = UInt8(credentialID.count)
        let data = data(flags | 0x40) + [UInt8](repeating: 0, count: 16) + [0, length] + credentialID + cose
        let attestation: [UInt8] =
            [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8) + [0x67] + Array("attStmt".utf8) + [0xA0, 0x68]
            + Array("authData".utf8) + [0x59] + data.count.twoBytes + data
        let fields = [
            try clientData("create", challenge: challenge), attestation.signedText, Base64.encode(credentialID, as: .url),
        ]
        return (fields + (name.map { [$0] } ?? [])).joined(separator: "::")
    }

    /// Returns the public key as in the authenticator data (RFC 9053).
    private func coseKey() throws -> [UInt8] {
        if let numbers = try rsa?.publicKey.getKeyPrimitives() {
            let (modulus, exponent) = (Array(numbers.modulus), Array(numbers.publicExponent))
            return [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59] + modulus.count.twoBytes + modulus + [0x21, 0x59]
                + exponent.count.twoBytes + exponent
        }
        let point = point ?? Array(key.publicKey.rawRepresentation)
        return [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[..<32] + [0x22, 0x58, 0x20] + point[32...]
    }

    /// Returns the client's answer to an authentication.
    func assertion(challenge: String, clientType: String = "get", userHandle: String = "user") throws -> String {
        let client = try clientData(clientType, challenge: challenge)
        let data = data(flags)
        let signed = Data(data + Array(SHA256.hash(data: Data(client.utf8))))
        let signature =
            try rsa.map { try $0.signature(for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5).rawRepresentation }
            ?? key.signature(for: signed).derRepresentation
        return [
            client, data.signedText, Array(signature).signedText, Base64.encode(credentialID, as: .url), userHandle,
        ].joined(separator: "::")
    }
}

extension Int {
    /// The number as two bytes, the higher first.
    fileprivate var twoBytes: [UInt8] { [UInt8(self >> 8 & 0xFF), UInt8(self & 0xFF)] }
}

extension [UInt8] {
    /// The bytes as JavaScript's `Int8Array` prints them.
    fileprivate var signedText: String { map { String(Int8(bitPattern: $0)) }.joined(separator: ",") }
}
