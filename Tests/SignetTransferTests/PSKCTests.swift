import SignetCore
import SignetTransfer
import Testing

/// The encrypted key containers of `Fixtures/Containers`, and changes of them.
///
/// `ProgramFileTests` reads the files in which python-pskc wrote all accounts.
@Suite("Encrypted key containers")
struct PSKCTests {
    /// A container and what opens it.
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        let passphrase: String
        /// True when the file has the example of RFC 6030 in place of the three keys of the others.
        var isExample = false
        var testDescription: String { name }

        func bytes() throws -> [UInt8] { try TransferFixture.bytes("Containers/\(name)") }
        func read(_ bytes: [UInt8]) throws -> ImportContent {
            try ImportFormat.read(bytes, passphrase: Secret(passphrase.utf8))
        }
    }

    private static let key = Hexadecimal.text(of: (0..<32).map { UInt8($0) })
    private static let preshared = File(name: "python-pskc-preshared-aes256.xml", passphrase: key)
    private static let derived = File(name: "python-pskc-pbkdf2-aes256.xml", passphrase: "correct horse battery staple")
    private static let example = "12345678901234567890123456789012"
    static let files = [
        preshared, derived, File(name: "python-pskc-preshared-kw-aes128.xml", passphrase: example),
        File(name: "rfc6030-figure-6.xml", passphrase: example, isExample: true),
        File(name: "rfc6030-figure-7.xml", passphrase: "qwerty", isExample: true),
    ]

    @Test("The keys of a container are decrypted with its password or its preshared key", arguments: files)
    func readsEncryptedContainer(file: File) throws {
        let bytes = try file.bytes()
        #expect(ImportFormat.detect(bytes) == .pskc)
        let content = try file.read(bytes)
        #expect(content.skipped.isEmpty)
        guard !file.isExample else {
            let settings = OATHSettings(
                secret: Secret("12345678901234567890".utf8), digits: .eight, factor: .counter(next: 0))
            #expect(content.kinds(of: AccountID(issuer: "Issuer", accountName: "12345678")) == [.oath(settings)])
            return
        }
        #expect(content.accounts.map(\.id) == [TransferFixture.bank, TransferFixture.alone])
        let bank = [
            try TransferFixture.totp(TransferFixture.secret, .sha256, digits: 8, period: 60),
            try TransferFixture.hotp(counter: 7),
        ]
        #expect(content.kinds(of: TransferFixture.bank) == bank)
        let alone = OATHSettings(secret: Secret((0..<32).map { UInt8($0) }), algorithm: .sha512)
        #expect(content.kinds(of: TransferFixture.alone) == [.oath(alone)])
    }

    @Test("A container tells whether it needs a password or a preshared key, and refuses a wrong one", arguments: files)
    func asksForPassphraseOfContainer(file: File) throws {
        let bytes = try file.bytes()
        let isPreshared = file.passphrase.count > 30
        let missing = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(missing.code == .passphraseNeeded && missing.format == .pskc)
        #expect(missing.reason.contains("hexadecimal") == isPreshared)
        let others = ["correct", "", String(file.passphrase.reversed()), String(file.passphrase.dropLast())]
        for other in others {
            let wrong = try #require(throws: ImportError.self) {
                try ImportFormat.read(bytes, passphrase: Secret(other.utf8))
            }
            // A key of another length does not fit the encryption.
            #expect(wrong.code == .wrongPassphrase && !wrong.description.contains(file.passphrase), "\(other.count): \(wrong)")
        }
    }

    @Test("A preshared key may have white space and lower-case digits")
    func acceptsSpelledKey() throws {
        let file = Self.preshared
        let spelled = " " + file.passphrase.lowercased() + "\n"
        #expect(try ImportFormat.read(file.bytes(), passphrase: Secret(spelled.utf8)) == (try file.read(file.bytes())))
    }

    // MARK: Changed containers

    /// Returns a file in which the first occurrence of a text is replaced.
    private static func changed(_ file: File, _ old: String, _ new: String) throws -> [UInt8] {
        let text = String(decoding: try file.bytes(), as: UTF8.self)
        let range = try #require(text.firstRange(of: old), "the fixture has no \(old)")
        return Array((text[..<range.lowerBound] + new + text[range.upperBound...]).utf8)
    }

    /// Returns the first text in a file that begins with a mark and ends with another one.
    private static func part(_ file: File, from start: String, to end: String) throws -> String {
        let text = String(decoding: try file.bytes(), as: UTF8.self)
        let begin = try #require(text.firstRange(of: start))
        let close = try #require(text[begin.upperBound...].firstRange(of: end))
        return String(text[begin.lowerBound..<close.upperBound])
    }

    @Test("A value whose authentication code does not fit is reported, and the others are imported")
    func reportsChangedValue() throws {
        let code = try Self.part(Self.preshared, from: "<pskc:ValueMAC>", to: "</pskc:ValueMAC>")
        let wrong = "<pskc:ValueMAC>" + Base64.encode([UInt8](repeating: 1, count: 32), as: .standard) + "</pskc:ValueMAC>"
        let content = try Self.preshared.read(Self.changed(Self.preshared, code, wrong))
        #expect(content.mechanismCount == 2)
        #expect(content.skipped.rows == [["Harbor Bank: mira", "totp", "invalid"]])
        #expect(content.skipped.first?.detail.contains("changed") == true)
    }

    @Test("A value without an authentication code is reported and not decrypted")
    func reportsValueWithoutCode() throws {
        let code = try Self.part(Self.preshared, from: "<pskc:ValueMAC>", to: "</pskc:ValueMAC>")
        let content = try Self.preshared.read(Self.changed(Self.preshared, code, ""))
        #expect(content.mechanismCount == 2 && content.skipped.first?.detail.contains("without a MAC") == true)
    }

    @Test("A container without an authentication method imports no value that needs one")
    func requiresMethod() throws {
        let method = try Self.part(Self.preshared, from: "<pskc:MACMethod", to: "</pskc:MACMethod>")
        let content = try Self.preshared.read(Self.changed(Self.preshared, method, ""))
        #expect(content.mechanismCount == 0 && content.skipped.map(\.reason) == [.invalid, .invalid, .invalid])
    }

    @Test("An encrypted counter or period is reported, so that no default stands for it")
    func reportsEncryptedNumbers() throws {
        for name in ["TimeInterval", "Counter"] {
            let number = try Self.part(Self.preshared, from: "<pskc:\(name)>", to: "</pskc:\(name)>")
            let sealed = "<pskc:\(name)><pskc:EncryptedValue/></pskc:\(name)>"
            let content = try Self.preshared.read(Self.changed(Self.preshared, number, sealed))
            #expect(content.mechanismCount == 2 && content.skipped.map(\.reason) == [.invalid], "\(name)")
        }
    }

    @Test(
        "A key derivation that costs too much or is unknown is refused before it is computed",
        arguments: [
            ("<IterationCount>1000<", "<IterationCount>10000001<", ImportError.Code.tooCostly),
            ("<IterationCount>1000<", "<IterationCount>0<", .tooCostly),
            ("<IterationCount>1000<", "<IterationCount>99999999999999999999<", .malformed),
            ("<KeyLength>32<", "<KeyLength>33<", .malformed), ("<KeyLength>32<", "<KeyLength>4294967296<", .malformed),
            ("#pbkdf2\"", "#scrypt\"", .unknownFormat), ("#hmac-sha256<", "#hmac-md5<", .unknownFormat),
        ])
    func refusesKeyDerivation(old: String, new: String, code: ImportError.Code) throws {
        let bytes = try Self.changed(Self.derived, old, new)
        // Without a passphrase nothing can be computed.
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(error.code == code && error.format == .pskc, "\(error)")
    }

    @Test("A container for a certificate or with an unknown authentication is refused with advice")
    func refusesOtherKeys() throws {
        let name = try Self.part(Self.preshared, from: "<ds:KeyName>", to: "</ds:KeyName>")
        let changes = [
            (name, "<ds:X509Data/>"), ("#hmac-sha256", "#hmac-md5"),
            ("<pskc:MACKey>", "<pskc:MACKeyReference>x</pskc:MACKeyReference><pskc:MACKey>"),
            ("<pskc:MACKey>", "<pskc:MACKey><x/></pskc:MACKey><pskc:MACKey>"),
        ]
        for (old, new) in changes {
            let bytes = try Self.changed(Self.preshared, old, new)
            let error = try #require(throws: ImportError.self) { try Self.preshared.read(bytes) }
            #expect(error.code == .unknownFormat && error.reason.contains("pskctool"), "\(error)")
        }
        let element = try Self.part(Self.preshared, from: "<pskc:EncryptionKey>", to: "</pskc:EncryptionKey>")
        let bytes = try Self.changed(Self.preshared, element, "")
        let error = try #require(throws: ImportError.self) { try Self.preshared.read(bytes) }
        #expect(error.code == .malformed && error.part == "EncryptionKey")
    }

    @Test(
        "A value in an unknown encryption or with a broken ciphertext is reported",
        arguments: ["#camellia128-cbc", "#aes128-cbc"])
    func reportsUnknownEncryption(name: String) throws {
        // The first method is that of the key of the authentication.
        let value = try Self.part(Self.preshared, from: "<pskc:EncryptedValue>", to: "</pskc:EncryptedValue>")
        let content = try Self.preshared.read(
            Self.changed(Self.preshared, value, value.replacing("#aes256-cbc", with: name)))
        #expect(content.mechanismCount == 2 && content.skipped.map(\.reason) == [.invalid])
    }

    @Test("An encrypted container that was cut off is refused", arguments: files)
    func refusesTruncatedContainer(file: File) throws {
        let bytes = try file.bytes()
        for length in stride(from: 120, to: bytes.count - 1, by: 97) {
            #expect(throws: ImportError.self, "\(length)") { try file.read(Array(bytes[..<length])) }
        }
    }
}
