import SignetCore
import Testing

@Suite("A public key for ES256")
struct ES256PublicKeyTests {
    // RFC 9449 section 4.1 and 6.1: the key of the examples, and its thumbprint.
    private static let (x, y) = ("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA")
    private static let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    private static func members(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        ["kty": .string("EC"), "crv": .string("P-256"), "x": .string(x), "y": .string(y)].merging(changes) { $1 }
    }

    @Test("A key reads and writes each of its forms")
    func publicKeyHasAllForms() throws {
        let key = try #require(ES256PublicKey(jwk: Self.members(["kid": .string("ignored")])))
        #expect(key.jwk == Self.members())
        #expect(key.thumbprint == Self.thumbprint)
        #expect(key.x963.count == 65 && key.x963[0] == 4 && key.coordinates == key.x + key.y)
        let x = try Base64.decode(Self.x)
        #expect(key.x == x)
        #expect(ES256PublicKey(x963: key.x963) == key)
        #expect(key.der.count == 91 && Array(key.der.suffix(65)) == key.x963)
        let head = try Base64.decode("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE")
        #expect(Array(key.der.prefix(27)) == head)
    }

    @Test(
        "A JSON Web Key of another kind or with an invalid number is refused",
        arguments: [
            ["kty": .string("OKP")], ["crv": .string("P-384")], ["x": .null], ["x": .string(y)], ["y": .string(y + "AA")],
            ["y": .string("AA" + y)], ["x": .string(x + "=")],
        ] as [[String: JSONValue]])
    func refusesInvalidPublicKey(changes: [String: JSONValue]) {
        #expect(ES256PublicKey(jwk: Self.members(changes)) == nil)
    }

    @Test("A point of another length, form or curve is refused")
    func refusesInvalidPoint() throws {
        let point = try #require(ES256PublicKey(jwk: Self.members())).x963
        var changed = point
        changed[40] ^= 1
        for bytes in [[], Array(point.dropLast()), point + [0], [2] + point[1..<33], [6] + point[1...], changed] {
            #expect(ES256PublicKey(x963: bytes) == nil)
        }
    }

    @Test("The signature of RFC 7515 is valid for its key and its bytes only")
    func verifiesSignatureOfRFC7515() throws {
        // Appendix A.3.
        let key = try #require(
            ES256PublicKey(
                jwk: Self.members([
                    "x": .string("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                    "y": .string("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
                ])))
        let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let input = Array("eyJhbGciOiJFUzI1NiJ9.\(claims)".utf8)
        let signature = try Base64.decode(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        #expect(key.isValid(signature, of: input))
        #expect(!key.isValid(signature, of: input + [0]))
        #expect(!key.isValid(Array(signature.dropLast()), of: input))
        #expect(!key.isValid(Array(signature.suffix(32) + signature.prefix(32)), of: input))
        let other = try #require(ES256PublicKey(jwk: Self.members()))
        #expect(!other.isValid(signature, of: input))
    }
}
