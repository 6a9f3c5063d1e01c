import SignetAuthenticator
import SignetCore
import SignetTesting
import SignetTransfer
import Testing

@Suite("Broken and unsupported export files")
struct ImportErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let code: ImportError.Code
        let part: String
        var testDescription: String { String(text.prefix(60)) }

        init(_ text: String, _ code: ImportError.Code, _ part: String) {
            (self.text, self.code, self.part) = (text, code, part)
        }
    }

    private static let salt = String(repeating: "ab", count: 32)
    private static func slot(_ cost: String, key: String = salt) -> String {
        """
        {"version":1,"header":{"slots":[{"type":1,"key":"\(key)","key_params":{"nonce":"\(String(repeating: "00", count: 12))",
        "tag":"\(String(repeating: "00", count: 16))"},\(cost),"salt":"\(salt)"}],
        "params":{"nonce":"\(String(repeating: "00", count: 12))","tag":"\(String(repeating: "00", count: 16))"}},"db":"AAAA"}
        """
    }

    static let rows = [
        Row("", .unknownFormat, "file"), Row("   \n", .unknownFormat, "file"), Row("hello", .unknownFormat, "file"),
        Row("{}", .unknownFormat, "file"), Row("[1,2]", .unknownFormat, "file"), Row("{\"a\":", .unknownFormat, "file"),
        Row("https://example.test", .unknownFormat, "file"), Row("PK\u{3}\u{4}zip", .unknownFormat, "file"),
        Row(#"{"header":{},"db":{}}"#, .malformed, "version"),
        Row(#"{"version":2,"header":{},"db":{}}"#, .newerVersion, "version"),
        Row(#"{"version":1,"header":{},"db":7}"#, .malformed, "db"),
        Row(#"{"version":1,"header":{},"db":{"version":9,"entries":[]}}"#, .newerVersion, "db.version"),
        Row(#"{"version":1,"header":{},"db":{"version":3,"entries":{}}}"#, .malformed, "db.entries"),
        Row(#"{"version":1,"header":{"slots":[]},"db":"AAAA"}"#, .malformed, "header.slots"),
        Row(#"{"version":1,"header":{"slots":[]},"db":"*"}"#, .malformed, "db"),
        Row(slot(#""n":32768,"r":8,"p":1"#, key: "00"), .malformed, "header.slots"),
        Row(slot(#""n":1073741824,"r":8,"p":1"#), .tooCostly, "header.slots"),
        Row(slot(#""n":32767,"r":8,"p":1"#), .tooCostly, "header.slots"),
        Row(slot(#""n":-9223372036854775808,"r":8,"p":1"#), .tooCostly, "header.slots"),
        Row(slot(#""n":32768,"r":9223372036854775807,"p":1"#), .tooCostly, "header.slots"),
        Row(#"{"schemaVersion":5,"services":[]}"#, .newerVersion, "schemaVersion"),
        Row(#"{"schemaVersion":"x","services":[]}"#, .malformed, "schemaVersion"),
        Row(#"{"schemaVersion":4,"services":{}}"#, .malformed, "services"),
        Row(#"{"schemaVersion":4,"servicesEncrypted":"AA:BB"}"#, .malformed, "servicesEncrypted"),
        Row("otpauth-migration://offline?data=", .malformed, "line 1"),
        Row("otpauth-migration://offline", .malformed, "line 1"),
        Row("otpauth-migration://offline?data=Ag%3D%3D", .malformed, "line 1"),
        Row("otpauth-migration://offline?data=CgA%3D%", .malformed, "line 1"),
        Row("SIGNETAR", .damaged, "content"), Row("SIGNETAR\u{2}", .newerVersion, "header"),
        Row("SIGNETAR\u{0}", .malformed, "header"), Row("SIGNETAR\u{1}\u{1}", .damaged, "content"),
    ]

    /// Returns a QR code of Google's export: number `batch` of `count` codes, with `entries` empty entries.
    private static func migration(batch: Int, count: Int, entries: Int = 0) -> String {
        func varint(_ value: Int) -> [UInt8] {
            value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128)] + varint(value >> 7)
        }
        var bytes: [UInt8] = [0x10, 1, 0x18] + varint(count) + [0x20, 0, 0x28] + varint(batch)
        for _ in 0..<entries { bytes += [0x0A, 0] }
        return "otpauth-migration://offline?data=" + Base64.encode(bytes, as: .url) + "\n"
    }

    @Test("Google: Many missing QR codes are reported in one line per export")
    func summarizesMissingQRCodes() throws {
        let text = (0..<500).map { Self.migration(batch: $0, count: 1_000) }.joined()
        let content = try ImportFormat.google.read(Array(text.utf8))
        #expect(content.skipped.count == 500)
        #expect(content.skipped.first?.name == "999 of 1000 QR codes")
        let few = try ImportFormat.google.read(Array(Self.migration(batch: 1, count: 3).utf8))
        #expect(few.skipped.map(\.name) == ["QR code 2 of 3", "QR code 3 of 3"])
    }

    @Test("Google: The limit on entries applies across all lines of a file")
    func limitsGoogleEntries() {
        let text = (0..<60).map { Self.migration(batch: $0, count: 1, entries: 2_000) }.joined()
        #expect {
            try ImportFormat.google.read(Array(text.utf8))
        } throws: { ($0 as? ImportError)?.code == .tooLarge }
    }

    @Test("A skipped line is named by its account, or by its number in an editor", arguments: ["\n", "\r\n", "\r"])
    func countsLinesAsEditor(end: String) throws {
        let lines = ["", "# a note", "", "otpauth://totp/a?secret=1", "", "hello", ""]
        let content = try ImportFormat.otpauth.read(Array(lines.joined(separator: end).utf8))
        #expect(content.skipped.map(\.name) == ["a: a", "line 6"])
        #expect(content.skipped.first?.detail.hasPrefix("line 4: secret: ") == true)
    }

    @Test("An invalid file is refused by an error that names the part and repeats none of its content", arguments: rows)
    func refusesInvalidFile(row: Row) {
        do {
            _ = try ImportFormat.read(Array(row.text.utf8), passphrase: TransferFixture.passphrase)
            Issue.record("the file was read")
        } catch {
            #expect(error.code == row.code, "\(error)")
            #expect(error.part.hasPrefix(row.part), "\(error)")
            #expect(!error.description.isEmpty)
        }
    }

    @Test("An empty list is read as an empty export")
    func readsEmptyExport() throws {
        for text in ["[]", #"{"schemaVersion":4,"services":[]}"#, #"{"version":1,"header":{},"db":{"version":3,"entries":[]}}"#] {
            #expect(try ImportFormat.read(Array(text.utf8)) == ImportContent())
        }
    }

    @Test("A truncated file is refused, or its complete entries are read", arguments: ImportFormatTests.lists)
    func readsTruncatedFile(file: ImportFormatTests.File) throws {
        let bytes = try TransferFixture.bytes(file.name)
        // If a passphrase is needed, the cut is detected before asking for it, except where that would take a run of PBKDF2 each.
        let isBinary = file.name.hasSuffix(".bin")
        for length in stride(from: 0, to: bytes.count - 1, by: isBinary ? 400 : 17) {
            #expect(throws: ImportError.self) {
                try file.format.read(Array(bytes[..<length]), passphrase: isBinary ? .sample : nil)
            }
        }
    }

    @Test("A file with too many bytes or entries is refused")
    func refusesTooLargeFile() {
        let text = "[" + String(repeating: "0,", count: 100_000) + "0]"
        #expect(throws: ImportError.self) { try ImportFormat.andOTP.read(Array(text.utf8)) }
        #expect(throws: ImportError.self) {
            try ImportFormat.andOTP.read([UInt8](repeating: 0x20, count: ImportFormat.maxLength + 1))
        }
        #expect(ImportFormat.detect([UInt8](repeating: 0x20, count: ImportFormat.maxLength + 1)) == nil)
    }

    @Test("Random bytes are read or refused without a crash", arguments: 0..<40)
    func toleratesRandomBytes(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        for format in ImportFormat.allCases {
            // A valid file with some of its bytes changed passes more checks than random bytes.
            let name = (ImportFormatTests.lists + ImportFormatTests.others).first { $0.format == format && !$0.isEncrypted }?.name
            var bytes = try name.map(TransferFixture.bytes) ?? (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? format.read(bytes)
            _ = ImportFormat.detect(bytes)
        }
    }
}

extension Secret {
    fileprivate static let sample = TransferFixture.passphrase
}
