import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTransfer

struct Enroll: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Add an account from an enrollment URI or a picture of a QR code.",
        discussion: """
            The URI of an otpauth, pushauth or mfauth code holds a secret: other users of the machine can read a command's
            arguments, so rather give a picture, or '-' and the URI or picture on standard input. Several URIs and exports of other
            authenticators are for 'signet import'.
            """)

    @Argument(help: "A URI, a PNG or JPEG file with one QR code, or '-' for standard input.")
    var source: String

    @Flag(help: "Only show what would be enrolled, with secrets redacted. Changes nothing and makes no request.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Take the push messages of a server that sends them to phones only at a push gateway (docs/guides/push.md).",
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
            "Enroll under this account name, for example for a second realm of a server.", valueName: "name"))
    var account: String?

    @OptionGroup var plainHTTP: PlainHTTPOptions
    @OptionGroup var trust: TrustOptions
    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON with the members of the enrollment.")
    var json = false

    func validate() throws {
        guard !replace || !rename else { throw ValidationError("--replace and --rename exclude each other.") }
        guard account?.isSafeToShow ?? true, account != "" else {
            throw ValidationError("--account takes a name without control characters.")
        }
    }

    func run() async throws {
        let offered = try EnrollmentURI.parse(EnrollmentSource.uri(from: source), policy: plainHTTP.policy)
        let gateway = try gateway(for: offered)
        if dryRun {
            let needsVault = try (replace || rename) && Session.directory().holdsVault
            let plan = try await needsVault ? plan(for: offered, in: .open(options)) : Plan(enrollment: named(offered))
            report(plan, of: offered, heading: "Would enroll")
            return
        }
        let session = try Session.openOrCreate(options, trust: trust, json: json)
        let plan = try await plan(for: offered, in: session)
        if !plan.replaced.isEmpty, !yes { try Self.confirmation(of: plan.enrollment.account, plan.replaced).ask() }
        let uids = Set(plan.replaced.map(\.uid))
        _ = try await session.online { try await $0.enroll(plan.enrollment, pushGateway: gateway, replacing: uids) }
        report(plan, of: offered, heading: "Enrolled")
    }

    /// The enrollment under its final name, and the mechanisms that it replaces.
    private struct Plan {
        let enrollment: Enrollment
        var replaced: [Mechanism] = []
    }

    private func plan(for offered: Enrollment, in session: Session) async throws -> Plan {
        let enrollment = named(offered)
        return try await session.offline { authenticator in
            if rename { return Plan(enrollment: try await authenticator.withFreeName(enrollment)) }
            guard replace else { return Plan(enrollment: enrollment) }
            let account = try await authenticator.account(enrollment.account)
            let kinds = enrollment.kinds.map(Mechanism.KindName.init)
            return Plan(enrollment: enrollment, replaced: account?.mechanisms.filter { kinds.contains($0.kindName) } ?? [])
        }
    }

    /// Returns the enrollment with the account name of `--account`.
    private func named(_ offered: Enrollment) -> Enrollment {
        guard let account else { return offered }
        var enrollment = offered
        enrollment.account = AccountID(issuer: offered.account.issuer, accountName: account)
        return enrollment
    }

    private static func confirmation(of account: AccountID, _ replaced: [Mechanism]) -> Confirmation {
        let name: TerminalText = "\(account.issuer): \(account.accountName)"
        let list: String = replaced.map { "\($0.kindName.rawValue), enrolled \($0.timeAdded.text)" }.joined(separator: "; ")
        return Confirmation(
            warning: """
                This replaces in \(name): \(list). Its codes and push messages can't be brought back without a backup.
                """,
            action: "replace it", withoutTerminal: "replacing \(list) in \(name) can't be undone",
            declined: "nothing was changed")
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

    private func report(_ plan: Plan, of offered: Enrollment, heading: String) {
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

/// Reads an enrollment URI from an argument, a picture or standard input.
enum EnrollmentSource {
    /// Returns the URI in `source`: the text itself, or the URI in a picture or on standard input.
    static func uri(from source: String) throws -> String {
        if source == TransferFile.standardStream {
            guard let bytes = try TransferFile.contents(of: source, limit: PictureReader.maximumBytes) else {
                throw PictureError.tooLarge(
                    "standard input; at most \(PictureReader.maximumBytes / 1_000_000) million bytes are read")
            }
            return try uri(in: bytes)
        }
        if source.contains("://") { return try single(source) }
        return try single(QRScanner.singleCode(in: PictureReader.read(path: source)))
    }

    /// Returns the text if it can be one enrollment URI.
    ///
    /// Throws for an export of another authenticator and for several URIs, with a reference to `signet import`.
    private static func single(_ text: String) throws -> String {
        if let format = ImportFormat.detect(Array(text.utf8)), format != .otpauth {
            throw Failure(
                .badInput, "enrollment.unsupported", "this is not an enrollment: \(format.title); give it to 'signet import'",
                part: "scheme")
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

    private static func uri(in bytes: [UInt8]) throws -> String {
        do {
            return try single(QRScanner.singleCode(in: PictureReader.read(bytes)))
        } catch PictureError.unknownFormat {
            guard let text = String(validating: ImportFormat.withoutPadding(bytes), as: UTF8.self) else {
                throw Failure(.badInput, "input", "standard input is neither a PNG or JPEG picture nor text")
            }
            return try single(text)
        }
    }
}
