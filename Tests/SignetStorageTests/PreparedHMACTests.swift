import Crypto
import SignetCore
import Testing

@testable import SignetStorage

/// The test cases of RFC 4231 with keys of at most one block.
@Suite("HMAC with a prepared key")
struct PreparedHMACTests {
    struct Vector: Sendable {
        let key: [UInt8]
        let message: [UInt8]
        let code: String
    }

    static let vectors = [
        Vector(
            key: [UInt8](repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: [UInt8](repeating: 0xAA, count: 20), message: [UInt8](repeating: 0xDD, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: Array(1...25), message: [UInt8](repeating: 0xCD, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    ]

    @Test("The codes of RFC 4231 come out", arguments: vectors)
    func computesRFC4231Vectors(vector: Vector) {
        let code = PreparedHMAC(key: Secret(vector.key)).code(of: vector.message)
        #expect(Array(code) == Hexadecimal.bytes(vector.code))
    }

    @Test("The code is that of Crypto, for keys up to a block and messages around a block", arguments: [1, 32, 63, 64])
    func agreesWithCrypto(keyLength: Int) {
        let key = Secret.random(byteCount: keyLength)
        let prepared = PreparedHMAC(key: key)
        for length in [0, 1, 55, 56, 63, 64, 65, 900] {
            let message = [UInt8](repeating: 0x5A, count: length)
            #expect(Array(prepared.code(of: message)) == Array(HMAC<SHA256>.authenticationCode(for: message, using: key.key)))
        }
    }
}
