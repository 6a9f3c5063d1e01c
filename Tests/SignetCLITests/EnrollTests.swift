import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet enroll")
struct EnrollTests {
    private static let uri = OATHSample.uri()

    /// The sources that a URI can come from.
    enum Source: CaseIterable {
        case argument, text, textWithLineEnd, pngInput, jpegInput, pngFile, jpegFile, misnamedFile
    }

    @Test("signet enroll takes a URI from an argument, from standard input and from pictures", arguments: Source.allCases)
    func enrollsFromEverySource(source: Source) async throws {
        let image = try QRDrawing(text: Self.uri).image(scale: 4)
        let (png, jpeg) = (try PNGCodec.encode(image), try JPEGSample(of: image).bytes)
        try await CommandLineFixture.with { cli in
            let outcome: Outcome =
                switch source {
                case .argument: try await cli.signet("enroll", Self.uri)
                case .text: try await cli.signet("enroll", "-", input: .text(Self.uri))
                case .textWithLineEnd: try await cli.signet("enroll", "-", input: .text(Self.uri + "\r\n"))
                case .pngInput: try await cli.signet("enroll", "-", input: .bytes(png))
                case .jpegInput: try await cli.signet("enroll", "-", input: .bytes(jpeg))
                case .pngFile: try await cli.signet("enroll", cli.write(png, to: "code.png"))
                case .jpegFile: try await cli.signet("enroll", cli.write(jpeg, to: "code.jpg"))
                case .misnamedFile: try await cli.signet("enroll", cli.write(png, to: "code.jpg"))
                }
            try outcome.succeeds()
            #expect(outcome.output.hasPrefix("Enrolled Harbor: mira\n"))
            #expect(!outcome.output.contains(OATHSample.secretText))
            let account = try #require(try await cli.accounts().first)
            #expect(account["issuer"]?.string == "Harbor" && account["account"]?.string == "mira")
            let types = account["mechanisms"]?.array?.compactMap { $0["type"]?.string }
            #expect(types == ["totp"])
        }
    }

    @Test("Enrolling the same account twice exits with 73 and keeps the stored account")
    func refusesDuplicateAccount() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.uri).succeeds()
            let before = try await cli.accounts()
            let again = try await cli.signet("enroll", "--json", Self.uri)
            again.fails(73, "Harbor: mira has a totp mechanism already")
            #expect(again.jsonError?["code"]?.string == "authenticator.duplicateMechanism")
            #expect(try await cli.accounts() == before)
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            #expect(try await cli.accounts().first?["mechanisms"]?.array?.count == 2)
        }
    }

    @Test("Two and ten processes that enroll different accounts at the same time all succeed")
    func enrollsAccountsInParallel() async throws {
        try await CommandLineFixture.with { cli in
            let names = (0..<10).map { "person\($0)" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names {
                    group.addTask { try await cli.start(["enroll", OATHSample.uri(account: name)]).end().succeeds() }
                }
                try await group.waitForAll()
            }
            let enrolled = try await cli.accounts().compactMap { $0["account"]?.string }
            #expect(enrolled.sorted() == names)
        }
    }

    @Test("Of ten processes that enroll the same account at the same time one succeeds and nine exit with 73")
    func enrollsSameAccountOnce() async throws {
        try await CommandLineFixture.with { cli in
            let outcomes = try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<10 { group.addTask { try await cli.start(["enroll", Self.uri]).end().status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.sorted() == [0] + Array(repeating: 73, count: 9))
            #expect(try await cli.accounts().count == 1)
        }
    }

    // MARK: Unusable sources

    @Test("A missing or unusable picture is named, and a text that may be a secret is not repeated")
    func namesUnusablePicture() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "holiday.png").fails(66, "holiday.png: there is no such file")
            let blank = try cli.write(PNGCodec.encode(GrayImage(width: 200, height: 200)), to: "blank.png")
            for command in ["enroll", "import"] {
                try await cli.signet(command, blank).fails(65, "blank.png: there is no QR code in the picture")
            }
            for secret in [OATHSample.secretText, "totp/Harbor:mira?secret=\(OATHSample.secretText)"] {
                let typed = try await cli.signet("enroll", secret)
                typed.fails(66, "no such file", "enrollment URI")
                #expect(!typed.errors.contains(OATHSample.secretText))
            }
        }
    }

    @Test(
        "signet enroll with an export of Google Authenticator leads to signet import, also without slashes in the URI",
        arguments: ["otpauth-migration://offline?data=AAAA", "otpauth-migration:offline?data=AAAA"])
    func leadsToImport(uri: String) async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", uri).fails(65, "Google Authenticator export", "signet import")
        }
    }

    /// Pictures and other files without an enrollment, and words that the message has.
    enum BadSource: CaseIterable {
        case noCode, twoCodes, foreignCode, large, text, folder, pipe, missing, cutShort, empty, bomb

        var words: [String] {
            switch self {
            case .noCode: ["no QR code"]
            case .twoCodes: ["2 different QR codes"]
            case .foreignCode: ["scheme"]
            case .large: ["50000000 bytes", "at most 10 million"]
            case .text, .empty: ["neither a PNG nor a JPEG picture"]
            case .folder, .pipe: ["picture", "not a regular file"]
            case .missing: ["no such file"]
            case .cutShort: ["damaged or cut short"]
            case .bomb: ["30000 x 30000 pixels"]
            }
        }

        func path(at cli: CommandLineFixture) throws -> String {
            let code = try QRDrawing(text: EnrollTests.uri).image(scale: 4)
            switch self {
            case .noCode: return try cli.write(PNGCodec.encode(GrayImage(width: 200, height: 200)), to: "x.png")
            case .twoCodes:
                let other = try QRDrawing(text: OATHSample.uri(account: "noa")).image(scale: 4)
                return try cli.write(PNGCodec.encode(GrayImage.sideBySide(code, other)), to: "x.png")
            case .foreignCode: return try cli.write(QRDrawing(text: "https://example.test/").png(), to: "x.png")
            case .large:
                let path = try cli.write([0x89, 0x50, 0x4E, 0x47], to: "x.png")
                try #require(truncate(path, 50_000_000) == 0)
                return path
            case .text: return try cli.write(EnrollTests.uri.utf8, to: "x.png")
            case .folder: return cli.directory.path
            case .pipe:
                try #require(mkfifo(cli.directory.file("x.png"), 0o600) == 0)
                return cli.directory.file("x.png")
            case .missing: return cli.directory.file("none.png")
            case .cutShort: return try cli.write(PNGCodec.encode(code).dropLast(200), to: "x.png")
            case .empty: return try cli.write([], to: "x.png")
            case .bomb:
                var file = try PNGCodec.encode(code)
                // The IHDR chunk with 30000 x 30000 pixels, 8 bits gray, and its checksum.
                let header: [UInt8] = [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 0, 0, 0, 0, 0x43, 0x4C, 0xA7, 0x66]
                file.replaceSubrange(16..<33, with: header)
                return try cli.write(file, to: "x.png")
            }
        }

        var status: Int32 { self == .missing ? 66 : 65 }
    }

    @Test("A source without an enrollment is refused with a reason, and the vault is not changed", arguments: BadSource.allCases)
    func refusesBadSource(source: BadSource) async throws {
        try await CommandLineFixture.with { cli in
            let path = try source.path(at: cli)
            let before = try cli.vaultFiles()
            let outcome = try await cli.signet("enroll", path)
            outcome.fails(source.status, "signet: ")
            for word in source.words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
            let json = try await cli.signet("enroll", "--json", path)
            json.fails(source.status)
            let line = json.jsonError?["message"]?.string.map { "signet: \($0)\n" }
            #expect(outcome.errors == line)
            #expect(try cli.vaultFiles() == before)
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("Standard input of 11 million bytes, or neither picture nor text, is refused with the reason")
    func refusesBadStandardInput() async throws {
        try await CommandLineFixture.with { cli in
            let large = [UInt8](repeating: 0x20, count: 11_000_000)
            try await cli.signet("enroll", "-", input: .bytes(large)).fails(65, "too large", "10 million")
            try await cli.signet("enroll", "-", input: .bytes([0xFF, 0xFE, 0x00])).fails(65, "neither", "nor text")
            try await cli.signet("enroll", "-").fails(65, "scheme")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    // MARK: Several accounts

    /// Texts that are not one enrollment, and words that the message has.
    private static let notSingle: [(text: String, code: String, words: String)] = [
        (uri + "\n" + OATHSample.uri(account: "noa"), "enrollment.invalid", "2 URIs"),
        (uri + "&period=" + OATHSample.uri(account: "noa"), "enrollment.invalid", "2 URIs"),
        ("otpauth-migration://offline?data=CgA", "enrollment.unsupported", "Google Authenticator export"),
    ]

    @Test(
        "Several URIs and an export are refused with a reference to signet import, as text and as a QR code",
        arguments: notSingle)
    func namesImport(row: (text: String, code: String, words: String)) async throws {
        try await CommandLineFixture.with { cli in
            let picture = try cli.write(QRDrawing(text: row.text).png(), to: "x.png")
            for source in ["-", row.text, picture] {
                let outcome = try await cli.signet("enroll", "--json", source, input: .text(row.text))
                outcome.fails(65, row.words, "signet import")
                #expect(outcome.jsonError?["code"]?.string == row.code)
                #expect(!outcome.errors.contains(OATHSample.secretText))
            }
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test(
        "A URI with a line break, contradictory parameters or an unknown encoder is refused, as text and as a QR code",
        arguments: [
            ("\n&digits=8", "uri"), ("&digits=6&digits=8", "digits"), ("&issuer=Other", "issuer"), ("&encoder=other", "encoder"),
        ])
    func refusesContradictoryURI(rest: String, part: String) async throws {
        try await CommandLineFixture.with { cli in
            let text = Self.uri + rest
            let picture = try cli.write(QRDrawing(text: text).png(), to: "x.png")
            for source in ["-", picture] {
                let outcome = try await cli.signet("enroll", "--json", source, input: .text(text))
                outcome.fails(65)
                #expect(outcome.jsonError?["part"]?.string == part)
            }
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("NUL bytes after a URI on standard input are ignored")
    func ignoresNULBytesAfterURI() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "-", input: .bytes(Array(Self.uri.utf8) + [10, 0, 0])).succeeds()
            #expect(try await cli.accounts().count == 1)
        }
    }
}
