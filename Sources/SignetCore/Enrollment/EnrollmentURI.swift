/// Reads and writes enrollment URIs: `otpauth` (one-time codes), `pushauth` (push) and `mfauth` (both), and `otpauth://pipush` for
/// push messages of privacyIDEA (protocol/privacyidea-push.md).
///
/// An account of Steam is read from `otpauth://steam`, from `encoder=steam` as KeePassXC writes it, from five digits of the issuer
/// Steam as programs without Steam's codes write them, and from `steam://SECRET`, which Bitwarden writes without a name.
///
/// Reading accepts every form that at least one existing authenticator accepts (protocol/authenticator.md section 1). It rejects
/// unsafe values: control characters, unknown algorithms and versions, short push secrets, and endpoints that the policy does not
/// allow. It also rejects text from which programs read different accounts: a line break or a second URI inside, and a parameter
/// that is given twice with different values.
public enum EnrollmentURI {
    /// The maximum length of a URI in bytes; a QR code holds 2,953.
    public static let maxLength = 16_384

    /// Reads an enrollment URI.
    /// - Parameters:
    ///   - text: The URI. White space around it is ignored.
    ///   - policy: The policy for push endpoints.
    /// - Returns: The account, with the settings for one-time codes and push that the URI contains.
    /// - Throws: ``EnrollmentError``, which names the invalid part and contains nothing of the URI.
    public static func parse(_ text: String, policy: EndpointPolicy = .secure) throws(EnrollmentError) -> Enrollment {
        try EnrollmentURIReader(text, policy: policy).read()
    }

    /// Reads the account of an `otpauth` or `mfauth` URI and its settings for one-time codes.
    ///
    /// The part for push is neither needed nor read.
    /// - Throws: ``EnrollmentError``.
    package static func parseCodes(_ text: String) throws(EnrollmentError) -> Enrollment {
        try EnrollmentURIReader(text, policy: .secure).readCodes()
    }

    /// Reads an enrollment URI as ``parse(_:policy:)`` does, but ignores policies that can't be read, as the ForgeRock SDKs do.
    package static func parse(
        ignoringDamagedPoliciesOf text: String, policy: EndpointPolicy
    ) throws(EnrollmentError) -> Enrollment {
        try EnrollmentURIReader(text, policy: policy, ignoresDamagedPolicies: true).read()
    }

    /// Reads an enrollment URI as ``parse(_:policy:)`` does, and tells whether it names the hash function of its codes.
    ///
    /// Programs in Python write an account without an issuer with the parameter `issuer=None` and without an issuer in the label.
    /// Such a URI has no issuer here.
    package static func parseListed(
        _ text: String, policy: EndpointPolicy
    ) throws(EnrollmentError) -> (enrollment: Enrollment, namesAlgorithm: Bool) {
        let reader = try EnrollmentURIReader(text, policy: policy)
        var enrollment = try reader.read()
        if reader.hasPythonNone {
            let name = enrollment.account.accountName
            enrollment.account = AccountID(issuer: name, accountName: name)
        }
        return (enrollment, reader.namesAlgorithm)
    }

    /// Returns the account that a URI names, for a message about a URI that can't be read; nil when it names none.
    ///
    /// A label that may contain the secret is left out: one in a damaged URI that has no secret where it belongs.
    package static func account(namedBy text: String) -> AccountID? {
        let query = text.drop { $0 != "?" }.lowercased()
        guard ["?secret=", "&secret=", "?s=", "&s="].contains(where: { query.contains($0) }) else { return nil }
        let reader = try? EnrollmentURIReader(text, policy: .secure)
        guard let account = reader?.namedAccount ?? EnrollmentURIParts.labeledAccount(of: text) else { return nil }
        let names = "\(account.issuer)&\(account.accountName)".lowercased()
        return ["secret=", "&s=", "?s="].contains(where: { names.contains($0) }) ? nil : account
    }

    /// The schemes of enrollment URIs, of Steam's secrets, and of Google Authenticator's exports.
    private static let schemes = ["otpauth", "otpauth-migration", "pushauth", "mfauth", "steam"]

    /// Returns the positions in a text at which an enrollment URI or an export of Google Authenticator begins.
    package static func starts(in text: String) -> [String.Index] {
        let bytes = text.utf8
        var starts: [String.Index] = []
        var rest = bytes[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[colon...]
            if rest.starts(with: "://".utf8), let start = schemeStart(before: colon, in: bytes) { starts.append(start) }
            rest = rest.dropFirst()
        }
        return starts
    }

    /// Returns the position at which the scheme before a colon begins; nil when it is another scheme.
    private static func schemeStart(before colon: String.Index, in bytes: String.UTF8View) -> String.Index? {
        for scheme in schemes {
            guard let start = bytes.index(colon, offsetBy: -scheme.utf8.count, limitedBy: bytes.startIndex) else { continue }
            // The bit 0x20 is set in lower-case letters and in the hyphen.
            if bytes[start..<colon].elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 }) { return start }
        }
        return nil
    }

    /// Writes `enrollment` with the narrowest scheme that can express it.
    ///
    /// ``parse(_:policy:)`` returns an equal value, unless the result is longer than ``maxLength``: percent-encoding can triple
    /// the length of very long names.
    ///
    /// The result contains secrets: it may be shown or drawn, but must not be logged.
    public static func print(_ enrollment: Enrollment) -> String {
        EnrollmentURIWriter(enrollment).text
    }

    /// Writes `enrollment` as ``print(_:)`` does, for a list that other programs import: the URI names SHA-1 too, so that the
    /// importing program need not assume it.
    package static func printListed(_ enrollment: Enrollment) -> String {
        EnrollmentURIWriter(enrollment, namesSHA1: true).text
    }
}
