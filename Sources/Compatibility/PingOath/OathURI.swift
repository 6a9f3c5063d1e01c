import SignetCore

/// Enrollment URIs of one-time codes, with the limits of the Ping SDK.
///
/// The engine reads the URIs. The limits hold for this module only: `signet enroll` and imports accept longer periods, and labels
/// with the characters that this module refuses.
enum OathURI {
    /// The maximum length of a URI in characters.
    static let maxLength = 4096
    /// The maximum length of the value of a parameter in characters.
    static let maxParameterLength = 256
    /// The maximum period in seconds.
    static let maxPeriod = 300

    /// Reads the account of a URI and its settings for one-time codes.
    ///
    /// A part for push is ignored.
    static func enrollment(of uri: String) throws(OathError) -> Enrollment {
        try checkText(uri)
        let enrollment: Enrollment
        do throws(EnrollmentError) {
            enrollment = try EnrollmentURI.parseCodes(uri)
            try enrollment.requireCodesOfOtherSDKs()
        } catch {
            throw OathError(error)
        }
        if case .time(let period) = enrollment.oath?.factor, period.seconds > maxPeriod {
            throw .invalidParameterValue("period: it is longer than \(maxPeriod) seconds")
        }
        let issuer = label(of: uri).prefix { $0 != ":" }
        guard
            issuer.count == label(of: uri).count || issuer.isEmpty
                || issuer.trimmingWhitespace().lowercased() == enrollment.account.issuer.lowercased()
        else { throw .invalidUri("the issuer differs from the one in the label") }
        return enrollment
    }

    /// Returns the label, percent-decoded, without the slashes around it.
    private static func label(of uri: String) -> String {
        guard let start = uri.firstRange(of: "://")?.upperBound else { return "" }
        let path = uri[start...].prefix { $0 != "?" }.drop { $0 != "/" }
        return String((path.percentDecoded() ?? String(path)).trimming("/"))
    }

    private static func checkText(_ uri: String) throws(OathError) {
        guard uri.count <= maxLength else { throw .invalidUri("the URI is longer than \(maxLength) characters") }
        guard !uri.hasHiddenCharacters else {
            throw .invalidUri("the URI has control characters, or changes the direction of text")
        }
        guard !uri.hasScript else { throw .invalidUri("the URI contains a script") }
        guard let start = uri.firstRange(of: "://")?.upperBound else { throw .invalidUri("this is not an enrollment URI") }
        try checkLabel(label(of: uri))
        for pair in uri[start...].drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            try check(parts[1].percentDecoded() ?? String(parts[1]))
        }
    }

    private static func checkLabel(_ label: String) throws(OathError) {
        guard !label.hasHiddenCharacters else {
            throw .invalidUri("the label has control characters, or changes the direction of text")
        }
        guard !["../", "..\\", "/..", "\\.."].contains(where: { label.contains($0) }) else {
            throw .invalidUri("the label contains the path of a parent directory")
        }
        guard !label.hasTags, !label.hasScript else { throw .invalidUri("the label contains markup or a script") }
    }

    private static func check(_ value: String) throws(OathError) {
        guard value.count <= maxParameterLength else {
            throw .invalidParameterValue("a parameter is longer than \(maxParameterLength) characters")
        }
        guard !value.hasHiddenCharacters else {
            throw .invalidParameterValue("a parameter has control characters, or changes the direction of text")
        }
        guard !value.hasTags, !value.hasScript else {
            throw .invalidParameterValue("a parameter contains markup or a script")
        }
    }
}

extension StringProtocol {
    fileprivate var hasHiddenCharacters: Bool { !String(self).isSafeToShow }
    fileprivate var hasScript: Bool { lowercased().contains("javascript:") }
    fileprivate var hasTags: Bool { contains("<") && contains(">") }
}
