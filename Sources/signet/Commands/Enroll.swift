import ArgumentParser
import Foundation
import SignetCore
import SignetStorage
import SignetTransfer

struct Enroll: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Add an account from a QR code, an enrollment URI or a typed secret.",
        discussion: """
            The URI of an otpauth, pushauth or mfauth code holds a secret: other users of the machine can read a command's \
            arguments, so rather give a picture, or '-' and the URI or picture on standard input. Several URIs and exports of other \
            authenticators are for 'signet import'.

            --clipboard takes a copied picture or URI, with wl-paste on Wayland, and xclip or xsel on X11. --screen takes a picture \
            of the screen, with grim on Wayland, and ImageMagick or scrot on X11; no other QR code may be visible. A secret alone is \
            typed unseen with --secret, in Base32, with or without spaces.

            EXAMPLES:
              signet enroll harbor.png
              signet enroll --dry-run harbor.png
              signet enroll --clipboard
              signet enroll --screen
              signet enroll --secret --issuer Harbor --account mira
              signet enroll --replace harbor.png
            """)

    @Argument(help: "A URI, a PNG or JPEG file with one QR code, or '-' for standard input.", completion: .file())
    var source: String?

    @Flag(help: "Take the picture of a QR code, or the URI, from the clipboard.")
    var clipboard = false

    @Flag(help: "Take the QR code that is visible on the screen.")
    var screen = false

    @OptionGroup var typed: TypedSecretOptions

    @Flag(help: "Only show what would be enrolled, with secrets redacted. Changes nothing and makes no request.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Take the push messages of a server that sends them to phones only at a push gateway.",
            valueName: "url"))
    var pushGateway: String?

    @Flag(help: "Replace what the account has of the same kind, after asking. It stays when the server refuses the new device.")
    var replace = false

    @Flag(help: "Replace without asking.")
    var yes = false

    @Flag(help: "Keep what the account has of the same kind, and enroll under a second name, 'name (2)'.")
    var rename = false

    @Option(
        help: ArgumentHelp(
            "Enroll under this account name, for example for a second realm of a server; with --secret the account's name.",
            valueName: "name"))
    var account: String?

    @OptionGroup var plainHTTP: PlainHTTPOptions
    @OptionGroup var trust: TrustOptions
    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON with the members of the enrollment.")
    var json = false

    func validate() throws {
        let sources = [source != nil, clipboard, screen, typed.isUsed].filter { $0 }
        guard !sources.isEmpty else {
            throw ValidationError("Give a URI, a picture or '-'; or --clipboard, --screen or --secret.")
        }
        guard sources.count == 1 else {
            throw ValidationError("A URI or picture, --clipboard, --screen and --secret exclude each other.")
        }
        guard !typed.isUsed || account != nil else { throw ValidationError("A typed secret needs a name: --account.") }
        guard !replace || !rename else { throw ValidationError("--replace and --rename exclude each other.") }
        guard replace || !yes else { throw ValidationError("--yes confirms a replacement: it needs --replace.") }
        guard account?.isSafeToShow ?? true, account != "" else {
            throw ValidationError("--account takes a name without control characters.")
        }
    }

    func run() async throws {
        let offered = try offeredEnrollment()
        let gateway = try gateway(for: offered)
        let (enrollment, conflict) = (named(offered), EnrollmentPlan.Conflict(replace: replace, rename: rename))
        if dryRun {
            let needsVault = try (replace || rename) && Session.directory().holdsVault
            let plan =
                try await needsVault ? EnrollmentPlan(enrollment, conflict, in: .open(options)) : EnrollmentPlan(enrollment)
            report(plan, of: offered, heading: "Would enroll")
            return
        }
        let session = try Session.openOrCreate(options, trust: trust, json: json)
        let plan = try await EnrollmentPlan(enrollment, conflict, in: session)
        if !yes { try await plan.confirmation?.ask() }
        try await plan.enroll(in: session, pushGateway: gateway)
        report(plan, of: offered, heading: "Enrolled")
    }

    /// Reads the enrollment from the source that the options name.
    private func offeredEnrollment() throws -> Enrollment {
        if typed.isUsed, let account { return try typed.enrollment(accountName: account) }
        let uri =
            if clipboard {
                try EnrollmentSource.uriInClipboard()
            } else if screen {
                try EnrollmentSource.uriOnScreen()
            } else {
                try EnrollmentSource.uri(from: source ?? TransferFile.standardStream)
            }
        return try EnrollmentURI.parse(uri, policy: plainHTTP.policy)
    }

    /// Returns the enrollment with the account name of `--account`.
    private func named(_ offered: Enrollment) -> Enrollment {
        guard let account else { return offered }
        var enrollment = offered
        enrollment.account = AccountID(issuer: offered.account.issuer, accountName: account)
        return enrollment
    }

    private func gateway(for enrollment: Enrollment) throws -> Endpoint? {
        guard let pushGateway else { return nil }
        guard enrollment.push != nil else {
            throw Failure(
                .badInput, "pushGateway", "--push-gateway is for push accounts, and this enrollment has no push mechanism")
        }
        do {
            return try Endpoint(pushGateway, policy: plainHTTP.policy)
        } catch {
            throw Failure(.badInput, "pushGateway", "--push-gateway: \(error)")
        }
    }

    private func report(_ plan: EnrollmentPlan, of offered: Enrollment, heading: String) {
        let enrollment = plan.enrollment
        let description = EnrollmentDescription(enrollment, renamedFrom: offered.account, replaced: plan.replaced)
        if json {
            Console.line(JSONText.line(description.json))
        } else {
            Console.line("\(heading) \(enrollment.account.issuer): \(enrollment.account.accountName)")
            for (name, value) in description.lines { Console.line("  \(name): \(value)") }
        }
    }
}

/// Reads an enrollment URI from an argument, a picture, standard input, the clipboard or the screen.
enum EnrollmentSource {
    /// Returns the URI in `source`: the text itself, or the URI in a picture or on standard input.
    static func uri(from source: String) throws -> String {
        if source == TransferFile.standardStream {
            guard let bytes = try TransferFile.contents(of: source, limit: PictureReader.maximumBytes) else {
                throw PictureError.tooLarge(
                    "standard input; at most \(PictureReader.maximumBytes / 1_000_000) million bytes are read")
            }
            return try uri(in: bytes, of: "standard input")
        }
        if source.contains("://") { return try single(source) }
        try requireNoScheme(source)
        let text: String
        do throws(PictureError) {
            text = try QRScanner.singleCode(in: PictureReader.read(path: source))
        } catch {
            // The error must not repeat a secret that was typed in the place of a file.
            guard error == .notThere, mayBeSecret(source) else { throw Failure(error, inFile: source) }
            throw Failure(error).advising(
                "; a secret alone is typed: signet enroll --secret --account NAME; an enrollment URI goes to standard input: signet enroll -"
            )
        }
        return try single(text)
    }

    /// Returns the URI in the picture or the text on the clipboard.
    ///
    /// - Throws: ``Failure`` when no tool for the clipboard is installed, and when it has neither a picture nor text; the errors of
    ///   ``uri(from:)``.
    static func uriInClipboard() throws -> String {
        guard let tool = ClipboardTool.available(in: ProcessInfo.processInfo.environment).first else {
            throw Failure(
                .unavailable, "clipboard",
                "no program here reads the clipboard: install wl-clipboard for Wayland, or xclip or xsel for X11")
        }
        return try uri(in: tool.contents(limit: PictureReader.maximumBytes), of: "the clipboard")
    }

    /// Returns the URI in the only QR code that is visible on the screen.
    ///
    /// - Throws: The errors of ``Screenshot/take()`` and of ``uri(from:)``.
    static func uriOnScreen() throws -> String { try single(QRScanner.singleCode(in: Screenshot.take())) }

    /// Throws for a URI without the two slashes after its scheme, which would be taken for the name of a file.
    private static func requireNoScheme(_ source: String) throws {
        let scheme = source.prefix { $0 != ":" }.lowercased()
        guard scheme.count < source.count else { return }
        switch scheme {
        case "otpauth-migration": throw unsupported(.google)
        case "otpauth", "pushauth", "mfauth":
            throw Failure(.badInput, "enrollment.invalid", "the URI has no '//' after '\(scheme)' and its colon", part: "uri")
        default: break
        }
    }

    /// Returns true for a part of an enrollment URI with its secret, and for a text of letters and digits that is as long as a
    /// secret and has neither a slash nor a point.
    private static func mayBeSecret(_ source: String) -> Bool {
        if source.lowercased().contains("secret=") { return true }
        return source.count >= 16
            && source.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", " ", "-", "=": true
                default: false
                }
            }
    }

    private static func unsupported(_ format: ImportFormat) -> Failure {
        Failure(
            .badInput, "enrollment.unsupported", "this is not an enrollment: \(format.title); give it to 'signet import'",
            part: "scheme")
    }

    /// Returns the text if it can be one enrollment URI.
    ///
    /// Throws for an export of another authenticator and for several URIs, with a reference to `signet import`.
    private static func single(_ text: String) throws -> String {
        if let format = ImportFormat.detect(Array(text.utf8)), format != .otpauth {
            throw unsupported(format)
        }
        let count = EnrollmentURI.starts(in: text).count
        guard count < 2 else {
            throw Failure(
                .badInput, "enrollment.invalid",
                "these are \(count) URIs, and one is enrolled at a time; 'signet import' takes several, one per line",
                part: "uri")
        }
        return text
    }

    /// Returns the URI in a picture or a text; `name` is its source, for the error.
    private static func uri(in bytes: [UInt8], of name: String) throws -> String {
        do {
            return try single(QRScanner.singleCode(in: PictureReader.read(bytes)))
        } catch PictureError.unknownFormat {
            guard let text = String(validating: ImportFormat.withoutPadding(bytes), as: UTF8.self) else {
                throw Failure(.badInput, "input", "\(name) is neither a PNG or JPEG picture nor text")
            }
            return try single(text)
        }
    }
}
