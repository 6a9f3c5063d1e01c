import SignetCore
import SignetStorage
import SignetTransfer
import Testing

/// The algorithms of foreign files that swift-crypto does not have, with the test vectors of their specifications.
@Suite("Cryptography of foreign files")
struct CryptographyTests {
    private static func bytes(_ hexadecimal: String) throws -> [UInt8] {
        let digits = hexadecimal.filter { !$0.isWhitespace }
        return try #require(Hexadecimal.bytes(digits))
    }

    private static func text(_ bytes: [UInt8]) -> String { Hexadecimal.text(of: bytes).lowercased() }

    // MARK: BLAKE2b

    @Test("BLAKE2b: The hash of 'abc' is that of RFC 7693 appendix A")
    func hashesABC() {
        #expect(
            Self.text(BLAKE2b.hash(Array("abc".utf8), length: 64))
                == "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923")
    }

    @Test("BLAKE2b: The self-test of RFC 7693 appendix E passes, with and without a key, for lengths around a block")
    func passesSelfTest() {
        func sequence(_ count: Int, seed: UInt32) -> [UInt8] {
            var (first, second): (UInt32, UInt32) = (0xDEAD_4BAD &* seed, 1)
            return (0..<count).map { _ in
                let sum = first &+ second
                (first, second) = (second, sum)
                return UInt8(truncatingIfNeeded: sum >> 24)
            }
        }
        var hashes: [UInt8] = []
        for length in [20, 32, 48, 64] {
            for count in [0, 3, 128, 129, 255, 1_024] {
                let message = sequence(count, seed: UInt32(count))
                hashes += BLAKE2b.hash(message, length: length)
                hashes += BLAKE2b.hash(message, key: sequence(length, seed: UInt32(length)), length: length)
            }
        }
        let all = Self.text(BLAKE2b.hash(hashes, length: 32))
        #expect(all == "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475")
    }

    // MARK: Argon2

    /// A key that a password and a salt become.
    struct Argon2Row: Sendable, CustomTestStringConvertible {
        let isID: Bool
        /// The iterations, the memory in KiB and the lanes.
        let cost: (iterations: Int, memoryKiB: Int, parallelism: Int)
        var version = 0x13
        let key: String
        var testDescription: String { "\(isID ? "id" : "d") \(cost) \(version)" }

        func derive(password: [UInt8], salt: [UInt8], secret: [UInt8], associatedData: [UInt8]) throws -> Secret {
            let length = key.utf8.count / 2
            if isID {
                return try Argon2.key(
                    .id, password: Secret(password), salt: salt, iterations: cost.iterations, memoryKiB: cost.memoryKiB,
                    parallelism: cost.parallelism, version: version, length: length, secret: secret,
                    associatedData: associatedData)
            }
            return try Argon2.key(
                .d, password: Secret(password), salt: salt, iterations: cost.iterations, memoryKiB: cost.memoryKiB,
                parallelism: cost.parallelism, version: version, length: length, secret: secret, associatedData: associatedData)
        }
    }

    /// The vectors of RFC 9106 sections 5.1 and 5.3.
    private static let publishedRows = [
        Argon2Row(isID: false, cost: (3, 32, 4), key: "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
        Argon2Row(isID: true, cost: (3, 32, 4), key: "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
    ]

    @Test("Argon2: The keys are those of RFC 9106", arguments: publishedRows)
    func derivesPublishedKey(row: Argon2Row) throws {
        let key = try row.derive(
            password: [UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16),
            secret: [UInt8](repeating: 3, count: 8), associatedData: [UInt8](repeating: 4, count: 12))
        #expect(Self.text(key.bytes) == row.key)
    }

    /// Keys that the reference implementation (argon2-cffi 25.1) derives from `password` and `somesalt`.
    private static let referenceRows = [
        Argon2Row(isID: true, cost: (2, 256, 1), key: "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
        Argon2Row(isID: true, cost: (1, 64, 2), version: 0x10, key: "c87bae60e79a5b5eca0d5b8ffdc36e5cf7f2397c8c9ed3a4"),
        Argon2Row(
            isID: false, cost: (3, 600, 3), version: 0x10,
            key: "64ed797dbdfb1ca257e6b151bc446fff6a582a14ff8912065b55935cca25893fd38f1944b5231aac2834acd94fadd89a"
                + "62d267b60fbfc718194f9d705b67c708ee1e71fd8829a772929d03b2b066288d"),
        Argon2Row(
            isID: false, cost: (2, 700, 1),
            key: "bf97c0791cf6192abfe88ca87a6662ed6535c25c5b1d3aa4fa794e2523b560dc1a8d124cfae002b69962c3c4d2ddf00a"
                + "a3e3be700aaff34e54cb5830bc3fe079efda2be1c0ca80a3562d340bf77540d40c24ce5dbb269afcabf73922a87289292b1348ec"),
        // More than 128 addresses in a segment.
        Argon2Row(isID: true, cost: (1, 2_100, 1), key: "f2c3d9d6"),
        // A memory that is not a multiple of four blocks a lane.
        Argon2Row(
            isID: true, cost: (3, 9, 1), version: 0x10,
            key: "974ae0b548d80494c135931146f95726f5535f08c4d6625939541758fc3d9e367a237e6fd7d5d62022b7b048df2f1274"
                + "858870eb3ebcfbcc08f7912749a5b3abf1"),
    ]

    @Test(
        "Argon2: The keys are those of the reference implementation, for both versions and several costs",
        arguments: referenceRows)
    func derivesReferenceKey(row: Argon2Row) throws {
        let key = try row.derive(
            password: Array("password".utf8), salt: Array("somesalt".utf8), secret: [], associatedData: [])
        #expect(Self.text(key.bytes) == row.key)
    }

    @Test(
        "Argon2: A cost out of bounds is refused before memory is taken",
        arguments: [
            (0, 64, 1), (1, 7, 1), (1, 0, 0), (1, 64, 0), (1, 64, 9), (1, 2_097_152, 1), (65, 1_048_576, 1), (1, 1_048_576, 65),
            (Int.max, 64, 1), (1, Int.max, 1), (-1, 64, 1), (1, 64, -1),
        ])
    func refusesCost(iterations: Int, memoryKiB: Int, parallelism: Int) throws {
        #expect(!Argon2.isAcceptable(iterations: iterations, memoryKiB: memoryKiB, parallelism: parallelism))
        let error = try #require(throws: StoreError.self) {
            try Argon2.key(
                .id, password: Secret([1]), salt: [UInt8](repeating: 0, count: 8), iterations: iterations, memoryKiB: memoryKiB,
                parallelism: parallelism, length: 32)
        }
        #expect(error.code == .failed)
    }

    @Test(
        "Argon2: The costs that programs use are accepted",
        arguments: [(3, 65_536, 4), (4, 1_048_576, 1), (16, 262_144, 1), (64, 1_048_576, 4)])
    func acceptsCost(iterations: Int, memoryKiB: Int, parallelism: Int) {
        #expect(Argon2.isAcceptable(iterations: iterations, memoryKiB: memoryKiB, parallelism: parallelism))
    }

    @Test(
        "Argon2: Another version and a length out of bounds are refused",
        arguments: [(0x11, 32), (0, 32), (0x13, 3), (0x13, 1_025)])
    func refusesVersion(version: Int, length: Int) {
        #expect(throws: StoreError.self) {
            try Argon2.key(
                .d, password: Secret([1]), salt: [], iterations: 1, memoryKiB: 8, parallelism: 1, version: version, length: length
            )
        }
    }

    // MARK: ChaCha20

    private static let sunscreen = Array(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.")
            .utf8)

    @Test("ChaCha20: A block of the key stream is that of RFC 8439 section 2.3.2")
    func generatesBlock() throws {
        let nonce = try Self.bytes("000000090000004a00000000")
        let zeros = [UInt8](repeating: 0, count: 64)
        let block = try #require(ChaCha20.apply(to: zeros, key: Array(0..<32), counter: 1, nonce: nonce))
        #expect(
            Self.text(block)
                == "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                + "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e")
    }

    @Test("ChaCha20: A text of several blocks is encrypted as in RFC 8439 section 2.4.2, and decrypted again")
    func encryptsWithChaCha20() throws {
        let (key, nonce) = (Array(UInt8(0)..<32), try Self.bytes("000000000000004a00000000"))
        let ciphertext = try #require(ChaCha20.apply(to: Self.sunscreen, key: key, counter: 1, nonce: nonce))
        #expect(
            Self.text(ciphertext)
                == "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357"
                + "1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
                + "5af90bbf74a35be6b40b8eedf2785e42874d")
        #expect(ChaCha20.apply(to: ciphertext, key: key, counter: 1, nonce: nonce) == Self.sunscreen)
        #expect(ChaCha20.apply(to: [], key: key, counter: 1, nonce: nonce) == [])
        #expect(ChaCha20.apply(to: [1], key: [1], counter: 1, nonce: nonce) == nil)
        #expect(ChaCha20.apply(to: [1], key: key, counter: 1, nonce: [1]) == nil)
    }

    @Test("HChaCha20: The subkey is that of section 2.2.1 of the XChaCha draft")
    func derivesSubkey() throws {
        let subkey = ChaCha20.subkey(of: Array(0..<32), nonce: try Self.bytes("000000090000004a0000000031415927"))
        #expect(Self.text(subkey) == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
    }

    @Test("XChaCha20-Poly1305: The ciphertext of appendix A.3.1 of the XChaCha draft is opened, and a changed one is not")
    func opensXChaCha20Poly1305() throws {
        var ciphertext = try Self.bytes(
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216"
                + "cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13"
                + "b52ec0875924c1c7987947deafd8780acf49")
        let key = Secret(Array(UInt8(0x80)...0x9f))
        let (nonce, data) = (Array(UInt8(0x40)...0x57), try Self.bytes("50515253c0c1c2c3c4c5c6c7"))
        #expect(XChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, associatedData: data) == Self.sunscreen)
        #expect(XChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce) == nil)
        #expect(XChaCha20Poly1305.open(ciphertext, key: key, nonce: Array(nonce.dropLast()), associatedData: data) == nil)
        #expect(XChaCha20Poly1305.open(ciphertext, key: Secret([1]), nonce: nonce, associatedData: data) == nil)
        #expect(XChaCha20Poly1305.open([], key: key, nonce: nonce, associatedData: data) == nil)
        ciphertext[7] ^= 1
        #expect(XChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, associatedData: data) == nil)
    }

    // MARK: Poly1305

    /// The keys, messages and tags of RFC 8439 section 2.5.2 and of appendix A.3, numbers 5 to 11, which test the reduction.
    private static let poly1305Rows: [(key: String, message: String, tag: String)] = [
        (
            key: "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
            message: "43727970746f6772617068696320466f72756d2052657365617263682047726f7570",
            tag: "a8061dc1305136c6c22b8baf0c0127a9"
        ),
        (
            key: "0200000000000000000000000000000000000000000000000000000000000000",
            message: "ffffffffffffffffffffffffffffffff",
            tag: "03000000000000000000000000000000"
        ),
        (
            key: "02000000000000000000000000000000ffffffffffffffffffffffffffffffff",
            message: "02000000000000000000000000000000",
            tag: "03000000000000000000000000000000"
        ),
        (
            key: "0100000000000000000000000000000000000000000000000000000000000000",
            message: "fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff11000000000000000000000000000000",
            tag: "05000000000000000000000000000000"
        ),
        (
            key: "0100000000000000000000000000000000000000000000000000000000000000",
            message: "fffffffffffffffffffffffffffffffffbfefefefefefefefefefefefefefefe01010101010101010101010101010101",
            tag: "00000000000000000000000000000000"
        ),
        (
            key: "0200000000000000000000000000000000000000000000000000000000000000",
            message: "fdffffffffffffffffffffffffffffff",
            tag: "faffffffffffffffffffffffffffffff"
        ),
        (
            key: "0100000000000000040000000000000000000000000000000000000000000000",
            message: "e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000"
                + "01000000000000000000000000000000",
            tag: "14000000000000005500000000000000"
        ),
        (
            key: "0100000000000000040000000000000000000000000000000000000000000000",
            message: "e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000",
            tag: "13000000000000000000000000000000"
        ),
    ]

    @Test("Poly1305: The tags are those of RFC 8439", arguments: poly1305Rows)
    func computesTag(key: String, message: String, tag: String) throws {
        let computed = Poly1305.tag(try Self.bytes(message), key: try Self.bytes(key))
        #expect(Self.text(computed) == tag)
    }

    // MARK: secretstream

    private static let streamKey = "fb7e1de572ddc648221bb7f112e43fb4bdd0c11d7927816b70019e18c5209f0b"
    private static let streamHeader = "f877e016a2c3167ca3df83e5346d1b061a0bec1055ce45b7"

    /// The plaintexts, tags and messages; libsodium (PyNaCl 1.6) opens the messages.
    private static let streamRows: [(String, UInt8, String)] = [
        ("", 3, "f5599e0bb3865244a5a08e33582613cf16"),
        (
            "6f7470617574683a2f2f746f74702f613f7365637265743d41", 3,
            "f5dc1e8a007a1461896600070b12b94f53ef4407eed1b8ead62fc09cbb86922048e26acd7b8ff10900f2"
        ),
        (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
                + "303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f", 0,
            "f6b36bf8620b650fb44126796f6ac46e3dc026709eb7c888fc76083d6224b0eb9ce2b85e005e31ab3c81d2bb9de23c47"
                + "65118827e1b0e8fa436420f3d30e5f801fbf802f25138c80d99e24bcc9c22bd6bb1ffd52643872daf23599f1a1bf61a63c"
        ),
    ]

    @Test(
        "Secretstream: The first message of libsodium is opened, and a changed, truncated or foreign one is not",
        arguments: streamRows)
    func opensStream(plaintext: String, tag: UInt8, message: String) throws {
        let (key, header) = (Secret(try Self.bytes(Self.streamKey)), try Self.bytes(Self.streamHeader))
        let sealed = try Self.bytes(message)
        let opened = try #require(SecretStream.firstMessage(sealed, header: header, key: key))
        #expect(Self.text(opened.content) == plaintext && opened.tag == tag)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(SecretStream.firstMessage(changed, header: header, key: key) == nil)
            #expect(SecretStream.firstMessage(Array(sealed[..<index]), header: header, key: key) == nil)
        }
        #expect(SecretStream.firstMessage(sealed, header: header.reversed(), key: key) == nil)
        #expect(SecretStream.firstMessage(sealed, header: [], key: key) == nil)
        #expect(SecretStream.firstMessage(sealed, header: header, key: Secret([1])) == nil)
    }
}
