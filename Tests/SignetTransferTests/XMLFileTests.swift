import SignetCore
import SignetTransfer
import Testing

@Suite("XML files of other programs")
struct XMLFileTests {
    /// Returns a KeePass file with one entry that has these strings.
    private static func keePass(_ strings: [(String, String)], entry: String = "", meta: String = "") -> [UInt8] {
        let fields = strings.map { "<String><Key>\($0)</Key><Value>\($1)</Value></String>" }.joined()
        let text = """
            <?xml version="1.0"?><KeePassFile><Meta>\(meta)</Meta><Root><Group><UUID>A</UUID><Entry>\(fields)\(entry)</Entry></Group>
            </Root></KeePassFile>
            """
        return Array(text.utf8)
    }

    private static let names = [("Title", "A"), ("UserName", "a")]
    private static let uri = "otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP&amp;digits=8"

    private func settings(_ content: ImportContent) -> [OATHSettings] {
        content.accounts.flatMap(\.mechanisms).compactMap { mechanism -> OATHSettings? in
            if case .oath(let settings) = mechanism.kind { settings } else { nil }
        }
    }

    // MARK: XML

    @Test("References, CDATA, comments and other prefixes are read")
    func readsXML() throws {
        let title = "x &#65; <!-- no --><![CDATA[<&>]]> &#x1F98A;&quot;"
        let file = Self.keePass([("Title", title), ("UserName", "a"), ("otp", Self.uri)])
        let content = try ImportFormat.read(file)
        #expect(content.accounts.map(\.id) == [AccountID(issuer: "A", accountName: "a")])
        #expect(settings(content).map(\.digits.count) == [8])
        let other = Self.keePass([("Title", title), ("UserName", "a"), ("TimeOtp-Secret-Base32", "JBSWY3DPEHPK3PXP")])
        #expect(try ImportFormat.read(other).accounts.map(\.id.issuer) == ["x A <&> 🦊\""])
    }

    @Test(
        "XML with a document type, an unknown reference, a wrong end or too much depth is refused",
        arguments: [
            "<!DOCTYPE KeePassFile [<!ENTITY a \"b\">]><KeePassFile><Root/></KeePassFile>",
            "<!DOCTYPE KeePassFile SYSTEM \"file:///etc/passwd\"><KeePassFile><Root/></KeePassFile>",
            "<KeePassFile><Root>&a;</Root></KeePassFile>", "<KeePassFile><Root>&#0;</Root></KeePassFile>",
            "<KeePassFile><Root></KeePassFile></Root>", "<KeePassFile><Root>", "<KeePassFile><Root/></KeePassFile><KeePassFile/>",
            "<KeePassFile><Root/></KeePassFile>text", "<KeePassFile a=1><Root/></KeePassFile>",
            "<KeePassFile a=\"1\" a=\"2\"><Root/></KeePassFile>", "<KeePassFile><!-- ", "<KeePassFile/>",
            "<Other><KeePassFile/></Other>",
            "<KeePassFile><Root>\(String(repeating: "<Group>", count: 200))",
        ])
    func refusesXML(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(ImportFormat.detect(bytes) == .keePassXML)
        let error = try #require(throws: ImportError.self) { try ImportFormat.read(bytes) }
        #expect(error.code == .malformed && !error.description.contains("passwd"))
    }

    // MARK: KeePass

    @Test("KeePass: The codes of an entry are read from its fields, and a KeeOtp text is reported")
    func readsFields() throws {
        let secret = try Base32.decode("JBSWY3DPEHPK3PXP")
        for (name, text) in [
            ("Base32", "JBSWY3DPEHPK3PXP"), ("Base64", Base64.encode(secret, as: .standard)), ("Hex", "48656c6c6f21deadbeef"),
        ] {
            let fields = [
                ("TimeOtp-Secret-\(name)", text), ("TimeOtp-Algorithm", "HMAC-SHA-512"), ("TimeOtp-Length", "8"),
                ("TimeOtp-Period", "60"), ("HmacOtp-Secret", "12345678901234567890"), ("HmacOtp-Counter", "7"),
            ]
            let content = try ImportFormat.read(Self.keePass(Self.names + fields))
            let period = try #require(OTPPeriod(seconds: 60))
            let totp = OATHSettings(secret: Secret(secret), algorithm: .sha512, digits: .eight, factor: .time(period: period))
            let hotp = OATHSettings(secret: Secret("12345678901234567890".utf8), factor: .counter(next: 7))
            #expect(settings(content) == [totp, hotp] && content.skipped.isEmpty)
        }
        let other = try ImportFormat.read(Self.keePass(Self.names + [("otp", "key=JBSWY3DPEHPK3PXP&amp;size=8")]))
        #expect(other.accounts.isEmpty && other.skipped.rows == [["A: a", "unknown", "unsupportedType"]])
    }

    @Test("KeePass: History and recycle bin are not read, and an entry without codes is a password")
    func leavesOutOtherEntries() throws {
        let old = "<History><Entry><String><Key>otp</Key><Value>\(Self.uri)</Value></String></Entry></History>"
        let password = try ImportFormat.read(Self.keePass(Self.names, entry: old))
        #expect(password.accounts.isEmpty && password.skipped.isEmpty && password.leftOut == ["password": 1])
        let deleted = Self.keePass(Self.names + [("otp", Self.uri)], meta: "<RecycleBinUUID>A</RecycleBinUUID>")
        #expect(try ImportFormat.read(deleted).leftOut == ["deleted entry": 1])
    }

    @Test("KeePass: Entries in groups inside the recycle bin are counted and not read")
    func countsDeletedGroups() throws {
        let entry = "<Entry><String><Key>otp</Key><Value>\(Self.uri)</Value></String></Entry>"
        let group = "<Group><UUID>B</UUID>\(entry)<Group><UUID>C</UUID>\(entry)\(entry)</Group></Group>"
        let text = """
            <?xml version="1.0"?><KeePassFile><Meta><RecycleBinUUID>A</RecycleBinUUID></Meta><Root><Group><UUID>Z</UUID>\(entry)
            <Group><UUID>A</UUID>\(entry)\(group)<Group><UUID>D</UUID></Group></Group></Group></Root></KeePassFile>
            """
        let content = try ImportFormat.read(Array(text.utf8))
        #expect(content.accounts.count == 1 && content.leftOut == ["deleted entry": 4])
    }

    @Test("KeePass: A protected value is reported and never taken for a secret")
    func reportsProtectedValue() throws {
        let value = "<String><Key>TimeOtp-Secret-Base64</Key><Value Protected=\"True\">AAAAAAAAAAAAAAAA</Value></String>"
        let content = try ImportFormat.read(Self.keePass(Self.names, entry: value))
        #expect(content.accounts.isEmpty && content.skipped.map(\.reason) == [.invalid])
        #expect(content.skipped.first?.detail.hasPrefix("secret is encrypted") == true)
    }

    // MARK: PSKC

    /// Returns a container with one key.
    private static func container(_ format: String, _ secret: String, algorithm: String = "totp") -> [UInt8] {
        let text = """
            <KeyContainer xmlns="urn:ietf:params:xml:ns:keyprov:pskc" Version="1.0"><KeyPackage>
            <Key Id="1" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:\(algorithm)"><Issuer>A</Issuer><AlgorithmParameters>
            <ResponseFormat \(format)/></AlgorithmParameters><Data><Secret>\(secret)</Secret></Data><UserId>CN=a,O=B</UserId></Key>
            </KeyPackage></KeyContainer>
            """
        return Array(text.utf8)
    }

    private static let plain = "<PlainValue> MTIzNDU2\nNzg5MA== </PlainValue>"

    @Test("PSKC: A plain key is read, and the common name of its user is the account")
    func readsPlainKey() throws {
        let content = try ImportFormat.read(Self.container("Encoding=\"DECIMAL\" Length=\"8\"", Self.plain))
        #expect(content.accounts.map(\.id) == [AccountID(issuer: "A", accountName: "a")])
        #expect(settings(content) == [OATHSettings(secret: Secret("1234567890".utf8), digits: .eight)])
    }

    @Test(
        "PSKC: A key with other codes, without a secret or without a counter is reported",
        arguments: [
            ("Encoding=\"HEXADECIMAL\" Length=\"8\"", plain, "totp", SkippedEntry.Reason.unsupportedType),
            ("Encoding=\"DECIMAL\" Length=\"8\" CheckDigits=\"true\"", plain, "totp", .unsupportedType),
            ("Encoding=\"DECIMAL\" Length=\"six\"", plain, "totp", .invalid),
            ("Encoding=\"DECIMAL\" Length=\"6\"", plain, "hotp", .invalid),
            ("Encoding=\"DECIMAL\" Length=\"6\"", plain, "OCRA-1", .unsupportedType),
            ("Encoding=\"DECIMAL\" Length=\"6\"", "", "totp", .invalid),
        ])
    func reportsUnsupportedKey(format: String, secret: String, algorithm: String, reason: SkippedEntry.Reason) throws {
        let content = try ImportFormat.read(Self.container(format, secret, algorithm: algorithm))
        #expect(content.accounts.isEmpty && content.skipped.map(\.reason) == [reason])
        #expect(content.skipped.map(\.name) == ["A: a"])
    }
}
