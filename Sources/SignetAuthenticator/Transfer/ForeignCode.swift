import SignetCore

/// One entry of another authenticator's export: what makes one-time codes, and whose they are. All formats have the same
/// members under different names, so what is acceptable is decided here, once.
struct ForeignCode {
    /// Which entry of the file it is, from 1.
    let number: Int
    var issuer: String?
    var account: String?
    /// The issuer that a person sees; one that is none to show is that of the code.
    var displayIssuer: String?
    /// `totp`, `hotp`, or what a file calls a kind of its own; in any case.
    var type: String?
    /// The key in base32, or as bytes.
    var secret: Result<[UInt8], InvalidEncoding>?
    var algorithm: String?
    var digits: Int64?
    /// In seconds.
    var period: Int64?
    /// The next counter that may be used.
    var counter: Int64?

    init(number: Int) {
        self.number = number
    }

    /// The secret as most formats write it.
    mutating func setSecret(base32 text: String?) {
        secret = text.map { text in Result { () throws(InvalidEncoding) in try Base32.decode(text) } }
    }

    /// Adds the entry to what was gathered, or says there why not.
    func add(to gathering: inout ImportGathering) {
        switch mechanism() {
        case .success(let mechanism):
            gathering.add(mechanism, to: id)
            guard let displayIssuer, displayIssuer != id.issuer else { return }
            gathering.describe(id) { $0.displayIssuer = $0.displayIssuer ?? displayIssuer }
        case .failure(let fault): gathering.skip(fault.entry)
        }
    }

    /// The entry as a mechanism, or why it is none.
    func mechanism() -> Result<ImportedMechanism, Skipped> {
        settings().map { ImportedMechanism(kind: .oath($0)) }
            .mapError { Skipped(entry: SkippedEntry(name, type: shownType, $0.reason, $0.detail)) }
    }

    /// An entry that cannot be taken over.
    struct Skipped: Error {
        let entry: SkippedEntry
    }

    /// Whose it is. As in an enrolment URI, a missing issuer is the account name and a missing account name is `Untitled`.
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

    /// The kinds that a report calls by their names. What else stands there could be anything.
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
