import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet import and export of files for other programs")
struct ExchangeFileTests {
    /// The passphrase of the files in `Fixtures/Containers`.
    private static let phrase = "correct horse battery staple"

    private static func fixture(_ name: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appending(path: "SignetTransferTests/Fixtures/\(name)").path(percentEncoded: false)
    }

    @Test("signet import asks for the password of a KeePass database, and tells that a key container needs a key")
    func importsEncryptedContainers() async throws {
        try await CommandLineFixture.with { cli in
            let database = Self.fixture("Containers/by-spec-4-aes-argon2d.kdbx")
            try await cli.signet("import", database).fails(78, "--file-passphrase-fd")
            try await cli.signet("import", database, "--file-passphrase-fd", "0", input: .text("wrong")).fails(65, "key file")
            let report = try await cli.signet(
                "import", database, "--json", "--file-passphrase-fd", "0", input: .text(Self.phrase)
            ).succeeds().json
            #expect(report["formats"] == .array([.string("kdbx")]) && report["imported"]?.array?.count == 3)

            let container = Self.fixture("Containers/rfc6030-figure-6.xml")
            try await cli.signet("import", container, "--file-passphrase-fd", "0", input: .text("qwerty"))
                .fails(65, "hexadecimal")
            try await cli.signet(
                "import", container, "--file-passphrase-fd", "0", input: .text("12345678901234567890123456789012")
            ).succeeds()
            #expect(try await cli.signet("code", "Issuer").succeeds().line == "84755224")
        }
    }

    @Test("signet export writes chosen accounts to an Aegis vault, encrypted or after a question, and to FIDO's format")
    func exportsOtherFormats() async throws {
        try await CommandLineFixture.with { cli in
            for name in ["one", "two"] {
                let uri = "otpauth://totp/Bank:\(name)?secret=\(OATHSample.secretText)"
                try await cli.signet("import", "-", input: .text(uri)).succeeds()
            }
            let (vault, plain) = (cli.directory.file("a.json"), cli.directory.file("b.json"))
            let exchange = cli.directory.file("c.json")
            let arguments = ["Bank:one", "--format", "aegis", "--encrypt", "--json", "--file-passphrase-fd", "0"]
            let report = try await cli.run(["export", vault] + arguments, input: .text(Self.phrase)).succeeds().json
            #expect(report["exported"]?.lenientInteger == 1 && report["encrypted"] == .bool(true))
            #expect(report["format"] == .string("aegis"))
            let attributes = try FileManager.default.attributesOfItem(atPath: vault)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let sealed = try String(contentsOfFile: vault, encoding: .utf8)
            #expect(!sealed.contains(OATHSample.secretText) && !sealed.contains("Bank"))

            try await cli.signet("export", plain, "--format", "aegis").fails(77, "--yes")
            try await cli.signet("export", plain, "two", "--format", "aegis", "--yes").succeeds()
            let text = try String(contentsOfFile: plain, encoding: .utf8)
            #expect(text.contains(#""two""#) && !text.contains(#""one""#))
            try await cli.signet("export", exchange, "--format", "cxf", "--yes").succeeds()

            try await CommandLineFixture.with { other in
                let passphrase = ["--file-passphrase-fd", "0"]
                try await other.run(["import", vault] + passphrase, input: .text(Self.phrase)).succeeds()
                let both = try await other.signet("import", exchange, "--json").succeeds().json
                #expect(both["imported"]?.array?.count == 1 && both["skipped"]?.array?.count == 1)
                #expect(both["formats"] == .array([.string("cxf")]))
            }
        }
    }

    @Test("signet export refuses an unknown account and an encryption that a format does not have, and writes nothing")
    func refusesExport() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("import", "-", input: .text(OATHSample.uri(issuer: "X"))).succeeds()
            let file = cli.directory.file("list.txt")
            try await cli.signet("export", file, "nobody", "--yes").fails(66, "no account called")
            let passphrase = ["--file-passphrase-fd", "0"]
            try await cli.run(["export", file, "--encrypt"] + passphrase, input: .text("a")).fails(64, "aegis")
            try await cli.run(["export", file, "--yes"] + passphrase, input: .text("a")).fails(64, "--encrypt")
            try await cli.run(["export", file, "--format", "aegis", "--encrypt"] + passphrase, input: .text(""))
                .fails(65, "empty")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }
}

extension CommandLineFixture {
    /// Runs `signet` with its arguments in an array.
    fileprivate func run(_ arguments: [String], input: TestProcess.Input = .nothing) async throws -> Outcome {
        try await TaskLimiter.processes.pass { try await start(arguments, input: input).end() }
    }
}
