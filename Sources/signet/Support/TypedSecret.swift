import ArgumentParser
import SignetCore
import SignetStorage

/// The options of `signet enroll` for an account whose secret the user types.
struct TypedSecretOptions: ParsableArguments {
    /// The types of one-time codes.
    enum CodeType: String, ExpressibleByArgument, CaseIterable {
        case totp, hotp, steam
    }

    @Flag(help: "Type the secret, unseen, at the terminal. Needs --account.")
    var secret = false

    @Option(
        name: .customLong("secret-fd"),
        help: ArgumentHelp("Read the secret from this open file descriptor. Needs --account.", valueName: "fd"))
    var secretDescriptor: Int32?

    @Option(help: "With a typed secret: the issuer; without it the account's name.")
    var issuer: String?

    @Option(help: "With a typed secret: the type of the codes, totp without it.")
    var type: CodeType?

    @Option(help: "With a typed secret: the number of digits, 6 without it.")
    var digits: Int?

    @Option(help: ArgumentHelp("With a typed secret: the period in seconds, 30 without it.", valueName: "seconds"))
    var period: Int?

    @Option(
        help: "With a typed secret: SHA1, SHA256 or SHA512; SHA1 without it.",
        completion: .list(OTPAlgorithm.allCases.map(\.rawValue)))
    var algorithm: String?

    @Option(help: "With a typed secret of the type hotp: the counter of the next code, 0 without it.")
    var counter: UInt64?

    /// True when the secret comes from these options.
    var isUsed: Bool { secret || secretDescriptor != nil }

    func validate() throws {
        guard !secret || secretDescriptor == nil else { throw ValidationError("--secret and --secret-fd exclude each other.") }
        let names = [
            "--issuer": issuer != nil, "--type": type != nil, "--digits": digits != nil, "--period": period != nil,
            "--algorithm": algorithm != nil, "--counter": counter != nil,
        ].filter { $0.value }.keys.sorted()
        if let name = names.first, !isUsed {
            throw ValidationError("\(name) is for a typed secret: it needs --secret or --secret-fd.")
        }
        if type == .steam, let name = names.first(where: { $0 != "--type" && $0 != "--issuer" }) {
            throw ValidationError("The codes of Steam have one form: \(name) is not for --type steam.")
        }
        if period != nil, type == .hotp { throw ValidationError("--period is not for --type hotp.") }
        if counter != nil, type != .hotp { throw ValidationError("--counter needs --type hotp.") }
        guard issuer?.isSafeToShow ?? true, issuer != "" else {
            throw ValidationError("--issuer takes a name without control characters.")
        }
        if let digits, OTPDigits(digits) == nil {
            throw ValidationError("--digits takes \(OTPDigits.range.lowerBound) to \(OTPDigits.range.upperBound).")
        }
        if let period, OTPPeriod(seconds: period) == nil {
            throw ValidationError("--period takes a number of seconds, 1 or more.")
        }
        if let algorithm, OTPAlgorithm(spelling: algorithm) == nil {
            throw ValidationError("--algorithm takes SHA1, SHA256 or SHA512.")
        }
    }

    /// Reads the secret, and returns the enrollment with the settings of the options.
    /// - Parameter accountName: The name of the account.
    /// - Returns: The enrollment, which follows the rules for enrollment URIs.
    /// - Throws: `StoreError` when the secret cannot be read, or when the user cancels the prompt; ``Failure`` for a text that is not
    ///   a secret in Base32; `EnrollmentError` for names or settings that no URI can have. None of them contains the text.
    func enrollment(accountName: String) throws -> Enrollment {
        let secret = try decodedSecret()
        var settings = OATHSettings(secret: secret)
        if type == .steam { settings = .steam(secret: secret) }
        if let digits = digits.flatMap(OTPDigits.init) { settings.digits = digits }
        if let algorithm = algorithm.flatMap({ OTPAlgorithm(spelling: $0) }) { settings.algorithm = algorithm }
        if let period = period.flatMap({ OTPPeriod(seconds: $0) }) { settings.factor = .time(period: period) }
        if type == .hotp { settings.factor = .counter(next: counter ?? 0) }
        let account = AccountID(issuer: issuer ?? (type == .steam ? "Steam" : accountName), accountName: accountName)
        // The rules for names and settings are those of a URI.
        return try EnrollmentURI.parse(EnrollmentURI.print(Enrollment(account: account, oath: settings)))
    }

    private func decodedSecret() throws -> Secret {
        let text: Secret
        do throws(StoreError) {
            text = try PassphraseSource(
                descriptor: secretDescriptor, prompt: "Secret: ", option: "--secret-fd", operation: "read the secret"
            ).passphrase()
        } catch {
            // No key of the vault is missing.
            guard error.code == .keyUnavailable else { throw error }
            throw StoreError(.invalid, error.operation, error.reason)
        }
        guard !text.text.contains("://") else {
            throw Self.invalid("this is a URI, which has its own names and settings: give it to 'signet enroll -'")
        }
        guard let bytes = try? Base32.decode(text.text) else {
            throw Self.invalid("the secret is not Base32, which has the letters A to Z and the digits 2 to 7")
        }
        guard !bytes.isEmpty else { throw Self.invalid("the secret is empty") }
        return Secret(bytes)
    }

    private static func invalid(_ reason: String) -> Failure {
        Failure(.badInput, "enrollment.invalid", reason, part: "secret")
    }
}
