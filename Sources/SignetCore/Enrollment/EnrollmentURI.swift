/// Enrolment URIs, read and written: `otpauth` (one-time codes), `pushauth` (push) and `mfauth` (both).
///
/// Reading takes the union of what the existing authenticators take (protocol/authenticator.md section 1), and is strict
/// where tolerance would be unsafe: control characters, unknown algorithms and versions, short push secrets, endpoints that
/// are not safe to talk to.
public enum EnrollmentURI {
    /// The most bytes a URI may have; a QR code holds 2,953.
    public static let longest = 16_384

    /// Reads an enrolment URI.
    /// - Parameters:
    ///   - text: The URI, white space around it allowed.
    ///   - policy: Which push endpoints are acceptable.
    /// - Throws: ``EnrollmentError``, which names the wrong part and contains nothing of it.
    public static func parse(_ text: String, policy: EndpointPolicy = .secure) throws(EnrollmentError) -> Enrollment {
        try EnrollmentURIReader(text, policy: policy).read()
    }

    /// Writes `enrollment` in the narrowest scheme that carries it. ``parse(_:policy:)`` gives the same value back, unless the
    /// result is longer than ``longest``: names of thousands of letters that a URI cannot hold as they are grow threefold.
    ///
    /// The result contains secrets: show it, draw it, but do not log it.
    public static func print(_ enrollment: Enrollment) -> String {
        EnrollmentURIWriter(enrollment).text
    }
}
