/// Reads and writes the enrollment URIs of privacyIDEA's push tokens: `otpauth://pipush` and `pia://pipush`
/// (docs/protocol/privacyidea-push.md section 1).
///
/// The enrollment credential becomes the secret of the invitation, and the serial number its message id and its resource id.
package enum PrivacyIDEAURI {
    /// The name of the push platform, which invitations and mechanisms store.
    package static let platform = "privacyidea"

    private static let host = "pipush"
    private static let defaultIssuer = "privacyIDEA"
    /// The shortest credential that is accepted, in bytes; the server writes 40 hexadecimal digits.
    private static let minCredentialLength = 16

    /// Returns true when a URI is one of a push token of privacyIDEA.
    static func recognizes(_ parts: EnrollmentURIParts) -> Bool {
        parts.host == host && (parts.scheme == "otpauth" || parts.scheme == "pia")
    }

    /// Reads the account and the invitation.
    /// - Parameters:
    ///   - parts: The parts of the URI.
    ///   - policy: The policy for the server's address. It also decides if a server may ask for connections with unverified
    ///     certificates: only one that could be reached by plain `http`. Certificates are verified in any case.
    /// - Returns: The enrollment, with an invitation and without codes.
    /// - Throws: ``EnrollmentError`` for the first parameter that is missing, invalid or unsafe.
    static func enrollment(_ parts: EnrollmentURIParts, _ policy: EndpointPolicy) throws(EnrollmentError) -> Enrollment {
        guard parts.optional("v") ?? "1" == "1" else {
            throw EnrollmentError(.unsupported, "v", "only version 1 is known")
        }
        let serial = try parts.required("serial")
        // The signed texts separate their parts by this character.
        guard serial.isSafeToShow, !serial.utf8.contains(UInt8(ascii: "|")) else {
            throw EnrollmentError(.unsafe, "serial", "it contains control characters or a vertical line")
        }
        let credential = try parts.required("enrollment_credential")
        guard credential.utf8.count >= minCredentialLength else {
            throw EnrollmentError(.unsafe, "enrollment_credential", "shorter than \(minCredentialLength) bytes")
        }
        let server = try endpoint(parts, policy)
        switch parts.optional("sslverify") ?? "1" {
        case "1": break
        case "0":
            guard policy.allowsPlainHTTP(to: server.host) else {
                throw EnrollmentError(
                    .unsafe, "sslverify", "the server asks for connections without verified certificates; allow its host by name")
            }
        default: throw EnrollmentError(.invalid, "sslverify", "neither 0 nor 1")
        }
        var invitation = PushInvitation(
            secret: Secret(credential.utf8), challenge: [], messageID: serial, registrationEndpoint: server,
            authenticationEndpoint: server, resourceID: serial, platform: platform)
        invitation.requiresPresence = parts.optional("pin") == "True" || parts.optional("app_force_unlock") != nil
        var enrollment = Enrollment(account: try account(parts, serial), push: invitation)
        if let image = parts.optional("image") {
            guard image.isSafeToShow else { throw EnrollmentError(.unsafe, "image", "it contains control characters") }
            enrollment.imageURL = image
        }
        return enrollment
    }

    private static func endpoint(_ parts: EnrollmentURIParts, _ policy: EndpointPolicy) throws(EnrollmentError) -> Endpoint {
        let url = try parts.required("url")
        do {
            return try Endpoint(url, policy: policy)
        } catch {
            throw EnrollmentError(error == .notAWebAddress ? .invalid : .unsafe, "url", error.description)
        }
    }

    /// Returns the account: the issuer is a parameter, and the whole label is the name.
    ///
    /// An empty label, which a policy of the server can make, becomes the serial number.
    private static func account(_ parts: EnrollmentURIParts, _ serial: String) throws(EnrollmentError) -> AccountID {
        let issuer = (parts.optional("issuer") ?? defaultIssuer).trimmingWhitespace()
        guard issuer.isSafeToShow else {
            throw EnrollmentError(.unsafe, "issuer", "it contains control characters or changes the direction of the text")
        }
        let name = parts.labelIssuer.isEmpty ? parts.labelAccount : "\(parts.labelIssuer):\(parts.labelAccount)"
        return AccountID(
            issuer: issuer.isEmpty ? defaultIssuer : issuer, accountName: name.isEmpty ? serial : name)
    }

    /// Writes an enrollment with an invitation of this platform, as the server writes it.
    static func text(of enrollment: Enrollment, _ invitation: PushInvitation) -> String {
        let credential = invitation.secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        var parameters: [(name: String, value: String)] = [
            ("url", invitation.registrationEndpoint.url), ("issuer", enrollment.account.issuer),
            ("enrollment_credential", credential), ("v", "1"), ("serial", invitation.messageID), ("sslverify", "1"),
        ]
        if invitation.requiresPresence { parameters.append(("pin", "True")) }
        if let image = enrollment.imageURL { parameters.append(("image", image)) }
        return "otpauth://\(host)/\(enrollment.account.accountName.percentEncoded())?\(FormCoding.encode(parameters))"
    }
}
