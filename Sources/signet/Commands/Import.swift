import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over accounts from another authenticator's export.",
        discussion: """
            Reads Aegis, 2FAS, andOTP, Stratum, cotp, Bitwarden, Proton Authenticator and ente Auth files (plain or encrypted with \
            a password), plain files of FreeOTP+, KeePassXC (CSV) and KeePass (XML), decrypted files of pass-otp, KeePass \
            databases (KDBX) that a password opens, key containers of RFC 6030 (PSKC; the passphrase of one with a preshared key \
            is that key in hexadecimal digits), FIDO's Credential Exchange Format (CXF), lists of otpauth URIs, Google \
            Authenticator's export, as URIs or as pictures of its QR codes, the JSON of the ForgeRock SDKs, keychain items of the \
            SDKs for iOS, and backups. What is here already is never changed; the report says of each entry what became of it.

            EXAMPLES:
              signet import --dry-run aegis-export.json
              signet import aegis-export.json
              signet import google-1.png google-2.png
            """)

    @Argument(help: "Exported files, pictures of QR codes, or '-' for standard input.", completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Read the files in this format, whatever they look like: \(ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "format"),
        completion: .list(ImportFormat.allCases.map(\.rawValue)), transform: Self.format)
    var format: ImportFormat?

    @Flag(help: "Only show what would be imported. Changes nothing.")
    var dryRun = false

    @Flag(
        help: ArgumentHelp(
            "Keep an entry whose name belongs to another secret under a second name, 'name (2)'. Without this option it is skipped."
        ))
    var rename = false

    @OptionGroup var plainHTTP: PlainHTTPOptions
    @OptionGroup var filePassphrase: FilePassphraseOptions
    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON: dryRun, formats, imported, details, bareAccounts, restrictions, notifications, skipped, leftOut.")
    var json = false

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name a file, or '-' for standard input") }
        guard !files.contains(where: { $0.contains("://") }) else {
            throw ValidationError(
                "a URI is not a file: 'signet enroll' takes one, and a list of them comes by standard input, '-'")
        }
    }

    func run() async throws {
        let source = try ImportSource(files, as: format, policy: plainHTTP.policy, passphrase: filePassphrase)
        try await Self.store(source, dryRun: dryRun, rename: rename, json: json) {
            try Self.session(options, dryRun: dryRun, json: json)
        }
    }

    /// Opens the vault for an import, which creates a missing one unless it changes nothing.
    static func session(_ options: VaultOptions, dryRun: Bool, json: Bool) throws -> Session {
        try dryRun ? Session.open(options) : Session.openOrCreate(options, json: json)
    }

    /// Imports the contents of the files, and prints the report.
    static func store(
        _ source: ImportSource, dryRun: Bool, rename: Bool = false, json: Bool, in session: () throws -> Session
    ) async throws {
        let report: ImportReport
        if dryRun, try !Session.directory().holdsVault {
            report = try await Session.withTemporaryStore {
                try await $0.importAccounts(source.content, dryRun: true, renamingTwins: rename)
            }
        } else {
            report = try await session().offline {
                try await $0.importAccounts(source.content, dryRun: dryRun, renamingTwins: rename)
            }
        }
        let description = ImportDescription(report: report, formats: source.formats, isDryRun: dryRun)
        for line in description.lines(json: json) { Console.line(line) }
    }

    private static func format(_ name: String) throws -> ImportFormat {
        guard let format = ImportFormat(rawValue: name.lowercased()) else {
            throw ValidationError(
                "'\(name)' is not an import format; use one of " + ImportFormat.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return format
    }
}
