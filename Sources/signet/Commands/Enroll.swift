import ArgumentParser
import SignetAuthenticator
import SignetCore

struct Enroll: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Add an account from an enrollment URI or a picture of a QR code.",
        discussion: """
            The URI of an otpauth, pushauth or mfauth code holds a secret: other users of the machine can read a command's
            arguments, so rather give a picture, or '-' and the URI or picture on standard input.
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

    @OptionGroup var plainHTTP: PlainHTTPOptions
    @OptionGroup var trust: TrustOptions
    @OptionGroup var options: VaultOptions

    @Flag(help: "Print JSON with the members of the enrollment.")
    var json = false

    func run() async throws {
        let enrollment = try EnrollmentURI.parse(EnrollmentSource.uri(from: source), policy: plainHTTP.policy)
        let gateway = try gateway(for: enrollment)
        if dryRun {
            report(enrollment, heading: "Would enroll")
            return
        }
        let session = try Session.openOrCreate(options, trust: trust, json: json)
        _ = try await session.online { try await $0.enroll(enrollment, pushGateway: gateway) }
        report(enrollment, heading: "Enrolled")
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

    private func report(_ enrollment: Enrollment, heading: String) {
        let description = EnrollmentDescription(enrollment)
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
        if source.contains("://") { return source }
        return try QRScanner.singleCode(in: PictureReader.read(path: source))
    }

    private static func uri(in bytes: [UInt8]) throws -> String {
        do {
            return try QRScanner.singleCode(in: PictureReader.read(bytes))
        } catch PictureError.unknownFormat {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Failure(.badInput, "input", "standard input is neither a PNG or JPEG picture nor text")
            }
            return text
        }
    }
}
