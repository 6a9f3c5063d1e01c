import CryptoExtras
import Foundation
import Testing

@testable import SignetAuthenticator

@Suite("The RSAPublicKey of PKCS #1")
struct RSAPublicKeyTests {
    @Test("A key is read and has the same DER", arguments: [_RSA.Signing.KeySize.bits2048, .bits3072])
    func readsKey(size: _RSA.Signing.KeySize) throws {
        let der = Array(try _RSA.Signing.PrivateKey(keySize: size).publicKey.pkcs1DERRepresentation)
        let key = try #require(_RSA.Signing.PublicKey(pkcs1: der))
        #expect(Array(key.pkcs1DERRepresentation) == der)
    }

    @Test(
        "What is not the DER of a large enough key is refused",
        arguments: [
            [], [0x00], [0x30], [0x30, 0x00], [0x30, 0x80, 0x00, 0x00],
            [0x30, 0x03, 0x02, 0x01, 0x07], [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00],
            [0x30, 0x06, 0x02, 0x01, 0x07, 0x02, 0x01, 0x03], [0x30, 0x06, 0x02, 0x01, 0x87, 0x02, 0x01, 0x03],
            [0x30, 0x09, 0x02, 0x01, 0x07, 0x02, 0x01, 0x03, 0x02, 0x01, 0x03], [0x31, 0x06, 0x02, 0x01, 0x07, 0x02, 0x01, 0x03],
        ] as [[UInt8]])
    func refusesOther(der: [UInt8]) {
        #expect(_RSA.Signing.PublicKey(pkcs1: der) == nil)
    }

    @Test("A key that is cut off, longer, too short, or within a SubjectPublicKeyInfo is refused")
    func refusesOtherForms() throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey
        let der = Array(key.pkcs1DERRepresentation)
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: 1024)).publicKey
        let others = [der.dropLast(), der + [0], Array(short.pkcs1DERRepresentation), Array(key.derRepresentation)].map(
            Array.init)
        for other in others { #expect(_RSA.Signing.PublicKey(pkcs1: other) == nil) }
    }
}
