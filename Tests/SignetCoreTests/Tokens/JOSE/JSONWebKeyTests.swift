import Crypto
import SignetCore
import Testing

@Suite("JSON Web Keys")
struct JSONWebKeyTests {
    /// The key of RFC 7638 section 3.1.
    private static let modulus =
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_"
        + "2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbO"
        + "pbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    private static let rsa: [String: JSONValue] = ["kty": .string("RSA"), "n": .string(modulus), "e": .string("AQAB")]
    /// The key of RFC 9449 section 4.1.
    private static let ec: [String: JSONValue] = [
        "kty": .string("EC"), "crv": .string("P-256"), "x": .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"),
        "y": .string("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"),
    ]
    /// The key of RFC 8037 appendix A.2.
    private static let ed25519: [String: JSONValue] = [
        "kty": .string("OKP"), "crv": .string("Ed25519"), "x": .string("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"),
    ]

    @Test(
        "A key has the thumbprint and the algorithms of its RFC",
        arguments: [
            (rsa, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", [JWSAlgorithm.ps256, .rs256]),
            (ec, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", [.es256]),
            (ed25519, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", [.edDSA]),
        ])
    func keyHasThumbprint(members: [String: JSONValue], thumbprint: String, algorithms: [JWSAlgorithm]) throws {
        let key = try JSONWebKey(.object(members))
        #expect(key.thumbprint == thumbprint)
        #expect(key.algorithms == algorithms)
        #expect(key.requiredMembers == members)
    }

    @Test("A key is read back from the JSON that it was written to, with its ID and its algorithm")
    func keyRoundTrips() throws {
        let all: [([String: JSONValue], JWSAlgorithm)] = [(Self.rsa, .ps256), (Self.ec, .es256), (Self.ed25519, .edDSA)]
        for (members, algorithm) in all {
            let key = try JSONWebKey(JSONWebKey(.object(members)).numbers, identifier: "k1", algorithm: algorithm)
            let read = try JSONWebKey(key.json)
            #expect(read == key)
            #expect(read.algorithms == [algorithm])
        }
    }

    /// A key that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let members: [String: JSONValue]
        let code: JSONWebKeyError.Code

        init(
            _ name: String, _ key: [String: JSONValue], _ changes: [String: JSONValue?], _ code: JSONWebKeyError.Code
        ) {
            testDescription = name
            members = key.merging(changes.compactMapValues { $0 }) { $1 }.filter { changes[$0.key] != .some(.none) }
            self.code = code
        }
    }

    private static let refused = [
        Refused("no type", ec, ["kty": nil], .form),
        Refused("another curve", ec, ["crv": .string("P-384")], .unsupported),
        Refused("a curve for key agreement", ed25519, ["crv": .string("X25519")], .unsupported),
        Refused("a symmetric key", ["kty": .string("oct"), "k": .string("AAAA")], [:], .privateKey),
        Refused("a private EC key", ec, ["d": .string("AAAA")], .privateKey),
        Refused("a prime of an RSA key", rsa, ["p": .string("AAAA")], .privateKey),
        Refused("a private member that is null", ec, ["d": .null], .privateKey),
        Refused("a point that is not on the curve", ec, ["x": ec["y"]], .number),
        Refused("padding", ec, ["x": .string("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs=")], .number),
        Refused("a missing coordinate", ec, ["y": nil], .number),
        Refused("a short Ed25519 key", ed25519, ["x": .string("AAAA")], .number),
        Refused("a leading zero", rsa, ["n": .string("AAAA" + modulus)], .number),
        Refused("an even exponent", rsa, ["e": .string("AQAC")], .number),
        Refused("the exponent 1", rsa, ["e": .string("AQ")], .number),
        Refused("a small modulus", rsa, ["n": .string(String(modulus.prefix(160)) + "AQAB")], .size),
        Refused("a key for encryption", rsa, ["use": .string("enc")], .purpose),
        Refused("a key for signing only", ec, ["key_ops": .array([.string("sign")])], .purpose),
        Refused("an algorithm of another type", ec, ["alg": .string("PS256")], .purpose),
        Refused("an HMAC algorithm", rsa, ["alg": .string("HS256")], .purpose),
        Refused("an ID that isn't text", ec, ["kid": .integer(1)], .form),
    ]

    @Test("An invalid or private key is refused with the reason", arguments: refused)
    func refusesKey(refused: Refused) {
        #expect(throws: JSONWebKeyError(refused.code)) { try JSONWebKey(.object(refused.members)) }
    }

    @Test("ES256 and EdDSA signatures are verified with the algorithm of the key only")
    func verifiesSignatures() throws {
        let input = Array("header.payload".utf8)
        let p256 = P256.Signing.PrivateKey()
        let point = Array(p256.publicKey.rawRepresentation)
        let ecKey = try JSONWebKey(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        let ecSignature = Array(try p256.signature(for: input).rawRepresentation)
        let edwards = Curve25519.Signing.PrivateKey()
        let edKey = try JSONWebKey(.ed25519(Array(edwards.publicKey.rawRepresentation)))
        let edSignature = Array(try edwards.signature(for: input))
        #expect(ecKey.isValid(ecSignature, of: input, .es256))
        #expect(edKey.isValid(edSignature, of: input, .edDSA))
        #expect(!ecKey.isValid(ecSignature, of: Array("header.other".utf8), .es256))
        #expect(!ecKey.isValid(ecSignature, of: input, .edDSA))
        #expect(!edKey.isValid(edSignature, of: input, .es256))
        #expect(!edKey.isValid(ecSignature, of: input, .edDSA))
        let der = Array(try p256.signature(for: input).derRepresentation)
        #expect(!ecKey.isValid(der, of: input, .es256))
    }
}
