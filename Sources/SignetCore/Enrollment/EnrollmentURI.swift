/// Reads and writes enrollment URIs: `otpauth` (one-time codes), `pushauth` (push) and `mfauth` (both).
///
/// Reading accepts every form that at least one existing authenticator accepts (protocol/authenticator.md section 1). It rejects
/// unsafe values: control characters, unknown algorithms and versions, short push secrets, and endpoints that the policy does not
/// allow.
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

    /// Writes `enrollment` with the narrowest scheme that can express it.
    ///
    /// ``parse(_:policy:)`` returns an equal value, unless the result is longer than ``maxLength``: percent-encoding can triple
    /// the length of very long names.
    ///
    /// The result contains secrets: it may be shown or drawn, but must not be logged.
    public static func print(_ enrollment: Enrollment) -> String {
        EnrollmentURIWriter(enrollment).text
    }
}
