import SignetCore
import Testing

@testable import SignetTransfer

/// The ciphers of foreign files, with the test vectors of their specifications and values of other implementations.
@Suite("Ciphers of foreign files")
struct CipherTests {
    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(text)) }

    private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { Hexadecimal.text(of: $0).lowercased() } }

    // MARK: Keystreams

    @Test(
        "Salsa20 and ChaCha20 begin as in their test vectors, and go on where the value before ended", arguments: [true, false])
    func computesKeyStream(isSalsa20: Bool) throws {
        func stream() throws -> KeyStream {
            let key = [isSalsa20 ? 0x80 : 0] + [UInt8](repeating: 0, count: 31)
            let zeros = [UInt8](repeating: 0, count: isSalsa20 ? 8 : 12)
            let stream =
                isSalsa20
                ? KeyStream(salsa20: Secret(key), nonce: zeros) : KeyStream(chaCha20: Secret(key), nonce: zeros)
            return try #require(stream)
        }
        var whole = try stream()
        let applied = whole.applied(to: [UInt8](repeating: 0, count: 10_000))
        let bytes = try #require(applied)
        // ECRYPT's set 1, vector 0 of Salsa20 with 256 bits; RFC 8439 appendix A.1, vector 1.
        let start =
            isSalsa20
            ? "e3be8fdd8beca2e3ea8ef9475b29a6e7003951e1097a5c38d23b7a5fad9f6844b22c97559e2723c7cbbd3fe4fc8d9a0744652a83e72a9c461876af4d7ef1a117"
            : "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        #expect(Self.text(Array(bytes[..<64])) == start)
        // PyCryptodome 4.4 and cryptography 48 on both sides of a border between chunks.
        let middle = isSalsa20 ? "f8f463f05ea4e1ccd259ecb2dcd91972" : "7527d188fcb81c6f5b28a37a1dad399f"
        #expect(Self.text(Array(bytes[4_090..<4_106])) == middle)
        var parts = try stream()
        var joined: [UInt8] = []
        for count in [0, 1, 63, 64, 65, 4_000, 5_807] {
            let part = parts.applied(to: [UInt8](repeating: 0, count: count))
            joined += try #require(part)
        }
        #expect(joined == bytes)
    }

    @Test("A keystream needs a key and a nonce of the right length", arguments: [0, 7, 16, 31, 33])
    func refusesKeyOfStream(length: Int) {
        let (key, zeros) = (Secret([UInt8](repeating: 1, count: length)), [UInt8](repeating: 0, count: 32))
        #expect(KeyStream(salsa20: key, nonce: Array(zeros[..<8])) == nil)
        #expect(KeyStream(chaCha20: key, nonce: Array(zeros[..<12])) == nil)
        #expect(KeyStream(salsa20: Secret(zeros), nonce: Array(zeros[..<12])) == nil)
        #expect(KeyStream(chaCha20: Secret(zeros), nonce: Array(zeros[..<8])) == nil)
    }

    // MARK: AES

    private static let plaintext = "00112233445566778899aabbccddeeff"

    @Test(
        "A block is encrypted with AES-256 as often as it is said",
        arguments: [
            // FIPS 197 appendix C.3, then values of cryptography 48.
            (1, "8ea2b7ca516745bfeafc49904b496089"), (2, "664a3455d8e9dbdb03158b52b93c288a"),
            (4_096, "a7794d93620f6a3c30c59ede2f8cf2e4"), (5_000, "ca0452882a9cbd40c8d702222e82be5d"),
        ])
    func encryptsBlock(rounds: Int, wanted: String) throws {
        let key = Secret((0..<32).map { UInt8($0) })
        let block = AESModes.encrypted(try Self.bytes(Self.plaintext), with: key, rounds: rounds)
        #expect(Self.text(block) == wanted)
        #expect(AESModes.encrypted([1, 2, 3], with: key, rounds: rounds) == nil)
        #expect(AESModes.encrypted(try Self.bytes(Self.plaintext), with: Secret([1]), rounds: rounds) == nil)
    }

    @Test("AES-CBC decrypts the vectors of NIST SP 800-38A, and refuses lengths that do not fit")
    func decryptsCBC() throws {
        let vector = try Self.bytes("000102030405060708090a0b0c0d0e0f")
        let rows = [
            ("2b7e151628aed2a6abf7158809cf4f3c", "7649abac8119b246cee98e9b12e9197d"),
            ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "4f021db243bc633d7178183a9fa071e8"),
            ("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "f58c4c04d6e5f1ba779eabfb5f7bfbd6"),
        ]
        for (key, ciphertext) in rows {
            let (key, ciphertext) = (Secret(try Self.bytes(key)), try Self.bytes(ciphertext))
            let plaintext = AESModes.openCBC(ciphertext, with: key, vector: vector)
            #expect(Self.text(plaintext) == "6bc1bee22e409f96e93d7e117393172a")
            #expect(AESModes.openCBC(Array(ciphertext.dropLast()), with: key, vector: vector) == nil)
            #expect(AESModes.openCBC(ciphertext, with: key, vector: [1]) == nil)
            #expect(AESModes.openCBC(ciphertext, with: Secret([1]), vector: vector) == nil)
        }
    }

    @Test("Padding is removed by its last byte, which must be from 1 to 16")
    func removesPadding() {
        let block = [UInt8](repeating: 9, count: 13)
        #expect(AESModes.withoutPadding(block + [3, 3, 3], isUniform: true) == block)
        #expect(AESModes.withoutPadding(block + [1, 2, 3], isUniform: true) == nil)
        #expect(AESModes.withoutPadding(block + [1, 2, 3], isUniform: false) == block)
        #expect(AESModes.withoutPadding([UInt8](repeating: 16, count: 16), isUniform: true) == [])
        for last: UInt8 in [0, 17, 255] { #expect(AESModes.withoutPadding(block + [last], isUniform: false) == nil) }
        #expect(AESModes.withoutPadding([2], isUniform: false) == nil)
        #expect(AESModes.withoutPadding([], isUniform: false) == nil)
    }

    @Test(
        "Wrapped values of RFC 3394 and RFC 5649 are unwrapped, and a change or another key is noticed",
        arguments: [
            // RFC 3394 sections 4.1 and 4.6.
            (
                "000102030405060708090a0b0c0d0e0f", "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
                "00112233445566778899aabbccddeeff"
            ),
            (
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
                "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"
            ),
            // RFC 5649 section 6.
            (
                "5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8",
                "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a", "c37b7e6492584340bed12207808941155068f738"
            ),
            ("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8", "afbeb0f07dfbf5419200f2ccb50bb24f", "466f7250617369"),
        ])
    func unwrapsValue(key: String, wrapped: String, value: String) throws {
        let (key, wrapped) = (try Self.bytes(key), try Self.bytes(wrapped))
        #expect(Self.text(AESModes.unwrapped(wrapped, with: Secret(key))) == value)
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(AESModes.unwrapped(changed, with: Secret(key)) == nil)
        }
        var other = key
        other[0] ^= 1
        #expect(AESModes.unwrapped(wrapped, with: Secret(other)) == nil)
        #expect(AESModes.unwrapped(Array(wrapped.dropLast()), with: Secret(key)) == nil)
        #expect(AESModes.unwrapped(Array(wrapped.dropLast(8)), with: Secret(key)) == nil)
        #expect(AESModes.unwrapped([], with: Secret(key)) == nil)
        #expect(AESModes.unwrapped([UInt8](repeating: 0, count: 8_192), with: Secret(key)) == nil)
    }
}
