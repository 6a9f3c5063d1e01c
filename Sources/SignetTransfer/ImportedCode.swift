import SignetCore

/// One entry of another authenticator's export: the settings of one-time codes and their account.
///
/// All formats have the same members under different names, so this type validates the members for all formats.
///
/// An account of Steam has the type `steam`. Programs without Steam's codes write it as `totp` with five digits of the issuer
/// Steam, which ``add(to:)`` recognizes. ``init(number:text:)`` reads the text `steam://` and a secret.
struct ImportedCode {
    /// The number of the entry in the file, from 1.
    let number: Int
    var issuer: String?
    /// The issuer in the file, when a name that the user gave stands for it in ``issuer``.
    var originalIssuer: String?
    var account: String?
    /// The issuer to show; nil when it is the issuer of the code.
    var displayIssuer: String?
    /// The type: `totp`, `hotp`, `steam`, or another type of the file format, in upper or lower case.
    var type: String?
    /// The secret, decoded from base32 or taken as bytes, or the error for one that can't be decoded; nil when it is missing.
    var secret: Result<[UInt8], JSONMemberError>?
    var algorithm: String?
    var digits: Int64?
    /// The period in seconds.
    var period: Int64?
    /// The next unused counter.
    var counter: Int64?
    /// The groups, the note and the icon of the entry.
    var details = ImportedDetails()
    /// The names of the members that the file has in a form that can't be read.
    ///
    /// The default of such a member would generate wrong codes.
    private var unreadable: Set<String> = []

    init(number: Int) {
        self.number = number
    }

    /// Creates an entry with a secret in base32 and with the members of `parameters`, as most formats have them.
    init(number: Int, secret: JSONValue?, parameters: JSONValue?, algorithm name: String = "algorithm") {
        self.number = number
        self.secret = secret?.string.map { text in
            Result { () throws(InvalidEncoding) in try Base32.decode(text) }
                .mapError { JSONMemberError(name: "secret", $0) }
        }
        algorithm = parameters?[name]?.string
        if let value = parameters?[name], value != .null, algorithm == nil { unreadable.insert("algorithm") }
        digits = lenientInteger("digits", in: parameters)
        period = lenientInteger("period", in: parameters)
        counter = lenientInteger("counter", in: parameters)
    }

    /// Creates an entry from the text of a password manager: `steam://` and a secret in base32, or a secret of TOTP alone.
    ///
    /// Returns nil for another URI, which `URIList.add(_:at:to:policy:)` reads.
    init?(number: Int, text: String) {
        let text = text.trimmingWhitespace()
        let scheme = "steam://"
        let isSteam = text.lowercased().hasPrefix(scheme)
        guard isSteam || !text.contains("://") else { return nil }
        self.init(number: number, secret: .string(isSteam ? String(text.dropFirst(scheme.count)) : text), parameters: nil)
        type = isSteam ? "steam" : "totp"
    }

    /// Returns a number of the file; nil when it is missing, null, or not an integer, which makes the entry invalid.
    mutating func lenientInteger(_ name: String, in members: JSONValue?) -> Int64? {
        guard let value = members?[name], value != .null else { return nil }
        if value.lenientInteger == nil { unreadable.insert(name.lowercased()) }
        return value.lenientInteger
    }

    /// Adds the entry to the gathered content, or adds the reason why it is skipped.
    func add(to builder: inout ImportBuilder) {
        do throws(JSONMemberError) {
            var settings = try settings()
            if settings.isSteam(of: id.issuer) || settings.isSteam(of: originalIssuer ?? "") {
                guard let steam = settings.asSteam else {
                    return builder.skip(SkippedEntry(name, type: "steam", .unsupportedType, EnrollmentError.steamSettings.reason))
                }
                settings = steam
            }
            var mechanism = ImportedMechanism(kind: .oath(settings))
            mechanism.assumesSHA1 = algorithm == nil && settings.encoding == .decimal
            builder.add(mechanism, to: id, details)
        } catch {
            return builder.skip(SkippedEntry(name, type: SkippedEntry.shownType(type), error))
        }
        guard let displayIssuer, displayIssuer != id.issuer else { return }
        builder.describe(id) { $0.displayIssuer = $0.displayIssuer ?? displayIssuer }
    }

    /// The account.
    ///
    /// As in an enrollment URI, a missing issuer is replaced by the account name, and a missing account name by `Untitled`.
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

    private func settings() throws(JSONMemberError) -> OATHSettings {
        guard id.issuer.isSafeToShow, id.accountName.isSafeToShow else {
            throw JSONMemberError(name: "name", "contains control characters or changes the direction of the text")
        }
        guard let secret else { throw JSONMemberError(name: "secret", "is missing") }
        let settings = try OATHSettings(
            type: type, secret: try secret.get(), algorithm: algorithm, digits: digits, period: period,
            counter: counter.flatMap { UInt64(exactly: $0) })
        // A counter has no default: one that can't be read is an error above. Codes of Steam have one length.
        var relevant = ["algorithm"]
        if settings.encoding == .decimal { relevant.append("digits") }
        if case .time = settings.factor { relevant.append("period") }
        for name in relevant where unreadable.contains(name) {
            throw JSONMemberError(name: name, "can't be read")
        }
        return settings
    }
}

extension SkippedEntry {
    /// Returns the name of a type for a report.
    ///
    /// The text of an unknown type is untrusted and not shown.
    static func shownType(_ type: String?) -> String {
        switch type?.lowercased() {
        case "push", "pushauth": "push"
        case let type? where ["totp", "hotp", "steam", "yandex", "motp", "blizzard"].contains(type): type
        default: "unknown"
        }
    }

    /// Creates the entry for a record with a member that is missing or can't be used.
    init(_ name: String, type: String, _ error: JSONMemberError) {
        let reason: Reason =
            switch error.name {
            case "type" where error.isUnsupported: .unsupportedType
            case "algorithm" where error.isUnsupported: .unsupportedAlgorithm
            case "digits" where error.isUnsupported: .unsupportedDigits
            default: .invalid
            }
        self.init(name, type: type, reason, "\(error.name) \(error.reason)")
    }
}
