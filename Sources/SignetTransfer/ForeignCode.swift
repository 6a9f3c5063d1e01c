import SignetCore

/// One entry of another authenticator's export: the settings of one-time codes and their account. All formats have the same
/// members under different names, so this type validates the members for all formats.
struct ForeignCode {
    /// The number of the entry in the file, from 1.
    let number: Int
    var issuer: String?
    var account: String?
    /// The issuer to show; nil when it is the issuer of the code.
    var displayIssuer: String?
    /// The type: `totp`, `hotp`, or another type of the file format, in upper or lower case.
    var type: String?
    /// The secret, decoded from base32 or taken as bytes.
    var secret: Result<[UInt8], InvalidEncoding>?
    var algorithm: String?
    var digits: Int64?
    /// The period in seconds.
    var period: Int64?
    /// The next unused counter.
    var counter: Int64?

    init(number: Int) {
        self.number = number
    }

    /// Sets the secret from base32, the encoding of most formats.
    mutating func setSecret(base32 text: String?) {
        secret = text.map { text in Result { () throws(InvalidEncoding) in try Base32.decode(text) } }
    }

    /// Adds the entry to the gathered content, or adds the reason why it is skipped.
    func add(to gathering: inout ImportGathering) {
        switch mechanism() {
        case .success(let mechanism):
            gathering.add(mechanism, to: id)
            guard let displayIssuer, displayIssuer != id.issuer else { return }
            gathering.describe(id) { $0.displayIssuer = $0.displayIssuer ?? displayIssuer }
        case .failure(let fault): gathering.skip(fault.entry)
        }
    }

    /// Returns the entry as a mechanism, or the reason why it cannot be imported.
    func mechanism() -> Result<ImportedMechanism, Skipped> {
        settings().map { ImportedMechanism(kind: .oath($0)) }
            .mapError { Skipped(entry: SkippedEntry(name, type: shownType, $0.reason, $0.detail)) }
    }

    /// The error for an entry that cannot be imported.
    struct Skipped: Error {
        let entry: SkippedEntry
    }

    /// The account. As in an enrollment URI, a missing issuer is replaced by the account name, and a missing account name by
    /// `Untitled`.
    var id: AccountID {
        let account = account?.trimmingWhitespace() ?? ""
        let issuer = issuer?.trimmingWhitespace() ?? ""
        let missing = "Untitled"
        return AccountID(
            issuer: issuer.isEmpty ? (account.isEmpty ? missing : account) : issuer,
            accountName: account.isEmpty ? missing : account)
    }

    private var name: String {
        (issuer ?? account).map { $0.isEmpty } ?? true ? "entry \(number)" : id.reportName
    }

    /// The types that a report may name. The text of any other type is untrusted and is reported as `unknown`.
    private static let knownTypes: Set<String> = ["totp", "hotp", "steam", "yandex", "motp", "blizzard"]

    private var shownType: String {
        type.map { $0.lowercased() }.flatMap { Self.knownTypes.contains($0) ? $0 : nil } ?? "unknown"
    }

    private struct Fault: Error {
        let reason: SkippedEntry.Reason
        let detail: String

        init(_ reason: SkippedEntry.Reason, _ detail: String) {
            self.reason = reason
            self.detail = detail
        }
    }

    private func settings() -> Result<OATHSettings, Fault> {
        Result { () throws(Fault) in
            guard id.issuer.isSafeToShow, id.accountName.isSafeToShow else {
                throw Fault(.invalid, "name: it contains control characters or changes the direction of the text")
            }
            let factor = try factor()
            return OATHSettings(
                secret: try key(), algorithm: try hash(), digits: try length(), factor: factor)
        }
    }

    private func key() throws(Fault) -> Secret {
        switch secret {
        case nil: throw Fault(.invalid, "secret: required, and not there")
        case .failure(let error): throw Fault(.invalid, "secret: \(error.description)")
        case .success(let bytes):
            guard !bytes.isEmpty else { throw Fault(.invalid, "secret: it is empty") }
            return Secret(bytes)
        }
    }

    private func hash() throws(Fault) -> OTPAlgorithm {
        guard let algorithm else { return .sha1 }
        guard let known = OTPAlgorithm(spelling: algorithm) else {
            throw Fault(.unsupportedAlgorithm, "algorithm: not SHA1, SHA256 or SHA512")
        }
        return known
    }

    private func length() throws(Fault) -> OTPDigits {
        guard let digits else { return .six }
        guard let known = Int(exactly: digits).flatMap(OTPDigits.init) else {
            throw Fault(.unsupportedDigits, "digits: not a number from 4 to 8")
        }
        return known
    }

    private func factor() throws(Fault) -> MovingFactor {
        switch type?.lowercased() {
        case "totp":
            guard let period else { return .time(period: .thirtySeconds) }
            guard let known = Int(exactly: period).flatMap({ OTPPeriod(seconds: $0) }) else {
                throw Fault(.invalid, "period: not a number of seconds of 1 or more, or too large")
            }
            return .time(period: known)
        case "hotp":
            guard let counter else { throw Fault(.invalid, "counter: required, and not there") }
            guard counter >= 0 else { throw Fault(.invalid, "counter: below 0") }
            return .counter(next: UInt64(counter))
        default:
            throw Fault(.unsupportedType, "type: neither totp nor hotp")
        }
    }
}
