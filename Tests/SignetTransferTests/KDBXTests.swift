import SignetCore
import Testing

@testable import SignetTransfer

/// The files of `Fixtures/Containers`, and changes of them.
///
/// `ProgramFileTests` reads the database of a real KeePassXC.
@Suite("KeePass databases")
struct KDBXTests {
    /// The databases with the same entries, in which other settings were chosen.
    static let files = [
        "by-spec-4-aes-argon2d.kdbx", "by-spec-4-chacha20-argon2id.kdbx", "by-spec-4-aes-aeskdf-salsa20.kdbx", "pykeepass-4.kdbx",
    ]
    private static let file = "by-spec-4-aes-argon2d.kdbx"
    private static let alone = AccountID(issuer: "alone", accountName: "Untitled")

    private static func bytes(_ name: String) throws -> [UInt8] { try TransferFixture.bytes("Containers/\(name)") }

    private static func read(_ bytes: [UInt8]) throws -> ImportContent {
        try ImportFormat.keePass.read(bytes, passphrase: TransferFixture.passphrase)
    }

    @Test("The accounts of a database are imported, without its history, and passwords are counted", arguments: files)
    func readsDatabase(name: String) throws {
        let bytes = try Self.bytes(name)
        #expect(ImportFormat.detect(bytes) == .keePass)
        let content = try ImportFormat.read(bytes, passphrase: TransferFixture.passphrase)
        #expect(content.accounts.map(\.id) == [TransferFixture.bank, Self.alone])
        let bank = [
            try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60),
            try TransferFixture.hotp(counter: 7),
        ]
        #expect(content.kinds(of: TransferFixture.bank) == bank)
        #expect(content.kinds(of: Self.alone) == [try TransferFixture.totp(TransferFixture.other, .sha512)])
        #expect(content.skipped.isEmpty && content.leftOut == ["password": 1])
        #expect(content.accounts.first?.note?.text == "by post <&> ü")
    }

    @Test("A database asks for its passphrase, and a wrong one names the other keys that it may need", arguments: files)
    func asksForPassphraseOfDatabase(name: String) throws {
        let bytes = try Self.bytes(name)
        let missing = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(missing.code == .passphraseNeeded && missing.format == .keePass)
        for passphrase in ["Correct horse", ""] {
            let wrong = try #require(throws: ImportError.self) {
                try ImportFormat.read(bytes, passphrase: Secret(passphrase.utf8))
            }
            #expect(wrong.code == .wrongPassphrase && wrong.reason.contains("key file"))
        }
    }

    @Test("A database that was cut off is refused", arguments: files)
    func refusesTruncatedDatabase(name: String) throws {
        let bytes = try Self.bytes(name)
        for length in stride(from: 8, to: bytes.count, by: 61) + [bytes.count - 1] {
            let error = try #require(throws: ImportError.self) { try Self.read(Array(bytes[..<length])) }
            #expect([.damaged, .malformed].contains(error.code), "\(length): \(error)")
        }
    }

    @Test("A changed byte in a hash, an authentication code or a block is noticed")
    func noticesChangedByte() throws {
        let bytes = try Self.bytes(Self.file)
        let start = try KDBXHeader(bytes).bytes.count
        // The last byte of the header, its hash, its code, and the code, the length and the content of the first block.
        let places: [(Int, ImportError.Code)] = [
            (-1, .damaged), (0, .damaged), (31, .damaged), (32, .wrongPassphrase), (63, .wrongPassphrase), (64, .damaged),
            (95, .damaged), (96, .damaged), (100, .damaged),
        ]
        var rows = places.map { (start + $0.0, $0.1) }
        // The last byte of the content, and the code and the length of the block that ends it.
        for offset in [37, 36, 1] { rows.append((bytes.count - offset, .damaged)) }
        for (position, code) in rows {
            var changed = bytes
            changed[position] ^= 0x10
            let error = try #require(throws: ImportError.self, "\(position)") { try Self.read(changed) }
            #expect(error.code == code, "\(position): \(error)")
        }
    }

    @Test("The real database of version 3.1 refuses a wrong passphrase and a changed block, and its header cannot be exchanged")
    func refusesVersion3() throws {
        let bytes = try TransferFixture.bytes("Programs/keepassxc-2.7.4.kdbx")
        let header = try KDBXHeader(bytes)
        let start = header.bytes.count
        let wrong = try #require(throws: ImportError.self) {
            try ImportFormat.read(bytes, passphrase: Secret("labpass2".utf8))
        }
        #expect(wrong.code == .wrongPassphrase)
        // A changed block of CBC changes one byte of the next block too, and the hash of the content does not fit.
        var changed = bytes
        changed[start + 200] ^= 1
        let damaged = try #require(throws: ImportError.self) {
            try ImportFormat.read(changed, passphrase: Secret("labpass1".utf8))
        }
        #expect(damaged.code == .damaged)
        // The document has the hash of the header. The last field of the header says nothing.
        var exchanged = bytes
        exchanged[start - 1] ^= 1
        let other = try #require(throws: ImportError.self) {
            try ImportFormat.read(exchanged, passphrase: Secret("labpass1".utf8))
        }
        #expect(other.code == .damaged && other.part == "header")
    }

    // MARK: Hostile headers

    /// A change of a header, and the error that it causes before any key is computed.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let file: String
        let old: [UInt8]
        let new: [UInt8]
        let code: ImportError.Code

        init(_ name: String, _ old: [UInt8], _ new: [UInt8], _ code: ImportError.Code, in file: String = KDBXTests.file) {
            (testDescription, self.file, self.old, self.new, self.code) = (name, file, old, new, code)
        }
    }

    /// Returns the beginning of a file of a version.
    private static func version(_ major: UInt8) -> [UInt8] {
        [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0, 0, major, 0]
    }

    /// Returns a value of a dictionary with a name of one letter, from its type on.
    private static func value(_ name: Character, _ value: [UInt8], type: UInt8 = 5, length: UInt8 = 8) -> [UInt8] {
        var bytes: [UInt8] = [type, 1, 0, 0, 0]
        bytes += Array(String(name).utf8)
        bytes += [length, 0, 0, 0]
        return bytes + value
    }

    private static let salsa20File = "by-spec-4-aes-aeskdf-salsa20.kdbx"

    /// The changes of the fields.
    static let fieldChanges: [Change] = [
        Change("a version of the future", version(4), version(5), .newerVersion),
        Change("version 2", version(4), version(2), .unknownFormat),
        Change("Twofish", [0x31, 0xC1, 0xF2, 0xE6], [0xAD, 0xF2, 0x9F, 0x57], .unknownFormat),
        Change("an unknown compression", [3, 4, 0, 0, 0, 1], [3, 4, 0, 0, 0, 2], .malformed),
        Change("no compression", [3, 4, 0, 0, 0, 1], [13, 4, 0, 0, 0, 1], .malformed),
        Change("a field that is given twice", [3, 4, 0, 0, 0, 1], [2, 4, 0, 0, 0, 1], .malformed),
        Change("a field without end", [3, 4, 0, 0, 0, 1], [3, 0xFF, 0xFF, 0xFF, 0xFF, 1], .damaged),
        Change("a seed that is not there", [4, 32, 0, 0, 0], [14, 32, 0, 0, 0], .malformed),
        Change("an unknown key derivation", [0xEF, 0x63, 0x6D, 0xDF], [0xEF, 0x63, 0x6D, 0xDE], .malformed),
        Change("a dictionary of another version", [11, 139, 0, 0, 0, 0, 1], [11, 139, 0, 0, 0, 0, 2], .malformed),
    ]

    /// The changes of the parameters of the key derivation.
    static let costChanges: [Change] = [
        Change("many iterations", value("I", [2, 0, 0, 0, 0]), value("I", [0, 0, 0, 0, 1]), .tooCostly),
        Change(
            "more iterations than a number", value("I", [2, 0, 0, 0, 0, 0, 0, 0]), value("I", [0, 0, 0, 0, 0, 0, 0, 0xFF]),
            .tooCostly),
        Change("no iterations", value("I", [2]), value("I", [0]), .tooCostly),
        Change("much memory", value("M", [0, 0, 4, 0]), value("M", [0, 0, 0, 0x80]), .tooCostly),
        Change("little memory", value("M", [0, 0, 4, 0]), value("M", [0, 4, 0, 0]), .tooCostly),
        Change("no lanes", value("P", [2], type: 4, length: 4), value("P", [0], type: 4, length: 4), .tooCostly),
        Change(
            "an unknown version of Argon2", value("V", [0x13], type: 4, length: 4), value("V", [0x14], type: 4, length: 4),
            .malformed),
        Change(
            "no salt", value("S", [], type: 0x42, length: 32), value("T", [], type: 0x42, length: 32), .malformed),
        Change(
            "a value without end", value("S", [], type: 0x42, length: 32), value("S", [], type: 0x42, length: 0xFF), .malformed),
        Change(
            "many rounds of AES", value("R", [0x70, 0x17, 0, 0, 0, 0, 0, 0]), value("R", [0, 0, 0, 0, 0, 0, 0, 0x7F]), .tooCostly,
            in: salsa20File),
        Change("no rounds of AES", value("R", [0x70, 0x17]), value("R", [0, 0]), .tooCostly, in: salsa20File),
    ]

    @Test(
        "A hostile header is refused before a key is computed, without content of the file", arguments: fieldChanges + costChanges
    )
    func refusesHostileHeader(change: Change) throws {
        var bytes = try Self.bytes(change.file)
        let place = bytes.indices.first { bytes[$0...].starts(with: change.old) }
        let start = try #require(place, "the fixture has no such bytes")
        bytes.replaceSubrange(start..<start + change.old.count, with: change.new)
        // Without a passphrase a key cannot be computed.
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(error.code == change.code, "\(error)")
        #expect(error.format == .keePass)
    }

    // MARK: The decrypted content

    /// Returns a content of version 4 with fields and a document.
    private static func content(_ fields: [(UInt8, [UInt8])], _ document: String = "<KeePassFile/>") -> [UInt8] {
        fields.flatMap { [$0.0, UInt8($0.1.count), 0, 0, 0] + $0.1 } + Array(document.utf8)
    }

    @Test("Decrypted content without a key for protected values, or with an unknown cipher, is refused")
    func refusesContent() throws {
        let key = [UInt8](repeating: 7, count: 64)
        let contents = [
            Self.content([(1, [3, 0, 0, 0]), (0, [])]), Self.content([(2, key), (0, [])]),
            Self.content([(1, [1, 0, 0, 0]), (2, key), (0, [])]), Self.content([(1, [3, 0]), (2, key), (0, [])]),
            Self.content([(1, [3, 0, 0, 0]), (2, []), (0, [])]), Self.content([(1, [3, 0, 0, 0]), (2, key)], ""), [],
            [1, 0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for content in contents {
            let error = try #require(throws: ImportError.self) { try KDBXContent(version4: content) }
            #expect(error.code == .malformed, "\(content.prefix(12))")
        }
        let plain = try KDBXContent(version4: Self.content([(1, [0, 0, 0, 0]), (0, [])], "<KeePassFile>a</KeePassFile>"))
        #expect(try plain.document().text == "a")
    }

    @Test("A protected value that is not base64 is refused, and an empty one stays empty")
    func refusesUnreadableProtectedValue() throws {
        let key = [UInt8](repeating: 7, count: 64)
        let head = Self.content([(1, [3, 0, 0, 0]), (2, key), (3, [1, 2, 3]), (0, [])], "")
        func document(_ value: String) throws -> XMLReader.Element {
            let text = "<r><a Protected=\"False\">x</a><b Protected=\"True\">\(value)</b></r>"
            return try KDBXContent(version4: head + Array(text.utf8)).document()
        }
        let root = try document("")
        #expect(root["a"]?.text == "x" && root["b"]?.text == "" && root["b"]?.attributes == [:])
        let error = try #require(throws: ImportError.self) { try document("*") }
        #expect(error.code == .malformed)
    }
}
