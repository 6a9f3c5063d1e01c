import SignetCore
import SignetTransfer
import Testing

/// Values in the files of other programs from which a default or another account would follow silently.
@Suite("Values of imported entries")
struct ImportedValueTests {
    // MARK: Numbers

    /// A file with one account in each format of JSON; `DIGITS` and `PERIOD` stand for the numbers.
    private static let files: [ImportFormat: String] = [
        .aegis: #"""
        {"version":1,"header":{},"db":{"version":3,"entries":[{"type":"totp","name":"a","issuer":"A",
        "info":{"secret":"JBSWY3DPEHPK3PXP","algo":"SHA1","digits":DIGITS,"period":PERIOD}}]}}
        """#,
        .twoFAS: #"""
        {"schemaVersion":4,"services":[{"name":"A","secret":"JBSWY3DPEHPK3PXP",
        "otp":{"account":"a","issuer":"A","digits":DIGITS,"period":PERIOD}}]}
        """#,
        .andOTP: #"""
        [{"secret":"JBSWY3DPEHPK3PXP","issuer":"A","label":"a","type":"TOTP","algorithm":"SHA1","digits":DIGITS,"period":PERIOD}]
        """#,
        .stratum: #"""
        {"Authenticators":[{"Type":2,"Issuer":"A","Username":"a","Secret":"JBSWY3DPEHPK3PXP","Algorithm":0,
        "Digits":DIGITS,"Period":PERIOD}]}
        """#,
        .freeOTPPlus: #"""
        {"tokens":[{"secret":[1,2,3,4,5,6,7,8,9,10],"issuerExt":"A","label":"a","type":"TOTP","algo":"SHA1",
        "digits":DIGITS,"period":PERIOD}],"tokenOrder":["A:a"]}
        """#,
        .cotp: #"""
        {"version":2,"elements":[{"secret":"JBSWY3DPEHPK3PXP","issuer":"A","label":"a","type":"TOTP","algorithm":"SHA1",
        "digits":DIGITS,"period":PERIOD}]}
        """#,
        .forgerock: #"""
        {"mechanismUID":"u","issuer":"A","accountName":"a","type":"otpauth","oathType":"TOTP","secret":"JBSWY3DPEHPK3PXP",
        "digits":DIGITS,"period":PERIOD}
        """#,
    ]

    private static let formats = files.keys.sorted { $0.rawValue < $1.rawValue }

    private static func content(_ format: ImportFormat, digits: String, period: String) throws -> ImportContent {
        let file = try #require(files[format])
        let bytes = Array(file.replacing("DIGITS", with: digits).replacing("PERIOD", with: period).utf8)
        #expect(ImportFormat.detect(bytes) == format)
        return try format.read(bytes)
    }

    @Test(
        "A number of digits or a period that is not an integer makes the entry invalid, and never becomes the default",
        arguments: formats, ["8.5", "\"eight\"", "true", "[8]", "{}", "\"\""])
    func refusesUnreadableNumber(format: ImportFormat, value: String) throws {
        for (digits, period, name) in [(value, "30", "digits"), ("6", value, "period")] {
            let content = try Self.content(format, digits: digits, period: period)
            let mechanisms = content.accounts.flatMap(\.mechanisms)
            #expect(mechanisms.isEmpty)
            #expect(content.skipped.map(\.reason) == [.invalid])
            #expect(content.skipped.first?.detail.contains(name) == true)
        }
    }

    @Test("An integer is read as a number and as text, and a null is the default", arguments: formats)
    func readsIntegers(format: ImportFormat) throws {
        for (digits, period, expected) in [("8", "\"60\"", (8, 60)), ("\"8\"", "60", (8, 60)), ("null", "null", (6, 30))] {
            let content = try Self.content(format, digits: digits, period: period)
            guard case .oath(let settings)? = content.accounts.first?.mechanisms.first?.kind else {
                Issue.record("the entry was not read: \(content.skipped)")
                continue
            }
            #expect(settings.digits.count == expected.0)
            #expect(settings.factor == .time(period: try #require(OTPPeriod(seconds: expected.1))))
        }
    }

    @Test("A hash function that is not text makes the entry invalid, and never becomes SHA-1")
    func refusesUnreadableAlgorithm() throws {
        let file = #"[{"secret":"JBSWY3DPEHPK3PXP","issuer":"A","label":"a","type":"TOTP","algorithm":256}]"#
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.isEmpty && content.skipped.map(\.reason) == [.invalid])
    }

    // MARK: Steam

    @Test("2FAS: An entry of the issuer Steam with five digits is one of Steam, also under a name that the user gave")
    func recognizesRenamedSteam() throws {
        let services = ["Games", "Old games"].map { name in
            #"{"name":"\#(name)","secret":"JBSWY3DPEHPK3PXP","otp":{"account":"gordon","issuer":"Steam","digits":5}}"#
        }
        let file = #"{"schemaVersion":4,"services":[\#(services.joined(separator: ","))]}"#
        let content = try ImportFormat.read(Array(file.utf8))
        #expect(content.accounts.map(\.id.issuer) == ["Games", "Old games"] && content.skipped.isEmpty)
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode("JBSWY3DPEHPK3PXP")))
        for account in content.accounts {
            #expect(account.mechanisms.map(\.kind) == [.oath(steam)])
            #expect(account.mechanisms.first?.assumesSHA1 == false)
        }
    }

    @Test(
        "An entry of Steam is read with any number of digits, and refused with another hash function or period",
        arguments: [
            ("\"digits\":6", true), ("\"digits\":\"five\"", true), ("\"algorithm\":\"SHA1\",\"period\":30", true),
            ("\"algorithm\":\"SHA256\"", false), ("\"period\":60", false), ("\"period\":\"x\"", false),
        ])
    func readsSteamSettings(members: String, isRead: Bool) throws {
        let file = #"[{"secret":"JBSWY3DPEHPK3PXP","issuer":"Valve","label":"gordon","type":"STEAM",\#(members)}]"#
        let content = try ImportFormat.read(Array(file.utf8))
        let kinds = content.accounts.flatMap(\.mechanisms).map(\.kind)
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode("JBSWY3DPEHPK3PXP")))
        #expect(kinds == (isRead ? [.oath(steam)] : []))
        #expect(content.skipped.count == (isRead ? 0 : 1))
    }

    @Test("A list of secrets of Steam, as Bitwarden writes them, is read", arguments: ["steam", "STEAM"])
    func readsSteamList(scheme: String) throws {
        let content = try ImportFormat.read(Array("\(scheme)://JBSWY3DPEHPK3PXP\n".utf8))
        let steam = OATHSettings.steam(secret: Secret(try Base32.decode("JBSWY3DPEHPK3PXP")))
        #expect(content.accounts.map(\.id.issuer) == ["Steam"])
        #expect(content.accounts.first?.mechanisms.map(\.kind) == [.oath(steam)])
        let damaged = try ImportFormat.read(Array("steam://JBSWY3DPEHPK3P!!\n".utf8))
        #expect(damaged.skipped.map(\.name) == ["line 1"] && damaged.accounts.isEmpty)
        #expect(damaged.skipped.first?.detail.contains("JBSW") == false)
    }

    // MARK: Digits

    @Test("Nine and ten digits are read, and three or eleven are reported", arguments: formats)
    func readsLongCodes(format: ImportFormat) throws {
        for digits in [9, 10] {
            let content = try Self.content(format, digits: String(digits), period: "30")
            guard case .oath(let settings)? = content.accounts.first?.mechanisms.first?.kind else {
                Issue.record("the entry was not read: \(content.skipped)")
                continue
            }
            #expect(settings.digits.count == digits)
        }
        for digits in ["3", "11"] {
            #expect(try Self.content(format, digits: digits, period: "30").skipped.map(\.reason) == [.unsupportedDigits])
        }
    }

    // MARK: Repeated parameters

    @Test(
        "A parameter that is given twice with different values makes an entry of a list invalid",
        arguments: [
            "digits=6&digits=8", "algorithm=SHA1&algorithm=SHA256", "period=30&period=60", "issuer=A&issuer=B", "secret=AAAA",
        ])
    func refusesRepeatedParameter(parameters: String) throws {
        let list = "otpauth://totp/A:a?secret=JBSWY3DPEHPK3PXP&\(parameters)"
        let content = try ImportFormat.otpauth.read(Array(list.utf8))
        #expect(content.accounts.isEmpty && content.skipped.map(\.reason) == [.invalid])
        let name = String(parameters.prefix { $0 != "=" })
        #expect(content.skipped.first?.detail.contains("\(name): a parameter is given twice") == true)
    }

    @Test("Google: A second parameter data with another value is refused, and nothing of the first one is lost silently")
    func refusesRepeatedData() throws {
        let uri = "otpauth-migration://offline?data=CgA%3D"
        let error = try #require(throws: ImportError.self) { try ImportFormat.google.read(Array("\(uri)&data=CgA%3DAA".utf8)) }
        #expect(error.code == .malformed && error.part == "line 1" && error.reason.hasPrefix("data: it is given twice"))
        let same = try ImportFormat.google.read(Array("\(uri)&data=CgA%3D".utf8))
        #expect(same == (try ImportFormat.google.read(Array(uri.utf8))))
    }

    // MARK: Issuers

    @Test(
        "The issuer None of a Python program counts as absent, unless the label has it too",
        arguments: [("ivan", "issuer=None", "ivan"), ("None:ivan", "issuer=None", "None"), ("ivan", "issuer=none", "none")])
    func readsNoneAsAbsent(label: String, parameter: String, issuer: String) throws {
        let list = "otpauth://totp/\(label)?secret=JBSWY3DPEHPK3PXP&\(parameter)"
        let content = try ImportFormat.otpauth.read(Array(list.utf8))
        #expect(content.accounts.map(\.id) == [AccountID(issuer: issuer, accountName: "ivan")])
    }
}
