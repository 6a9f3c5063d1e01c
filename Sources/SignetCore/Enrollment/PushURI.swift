/// The push values of a `pushauth` or `mfauth` URI, for a caller that only describes a credential.
///
/// Unlike an ``Enrollment``, the value may lack the invitation to a registration, and the length of its secret and its addresses
/// have not passed the rules of a registration. Check them before the credential is stored or used.
package struct PushURI: Sendable, Hashable {
    /// The issuer and the account name.
    package let account: AccountID
    /// The address for the registration.
    package let registrationURL: String
    /// The address for answers.
    package let authenticationURL: String
    /// The shared key, of any length.
    package let secret: Secret
    /// The server's id of the user.
    package let userID: String?
    /// The server's id of the push device.
    package let resourceID: String?
    /// The address of a logo.
    package let imageURL: String?
    /// The background color: `#` and hexadecimal digits.
    package let backgroundColor: String?
    /// The text of the issuer's policies, which may not be JSON.
    package let policies: String?

    /// The values with which a device responds to an invitation.
    package struct Registration: Sendable, Hashable {
        /// The id of the registration.
        package let messageID: String
        /// The load balancer's routing cookie, `name=value`.
        package let loadBalancerCookie: String
        /// The challenge to answer.
        package let challenge: [UInt8]
    }

    /// Reads the push values of a URI.
    /// - Throws: ``EnrollmentError`` for a URI that is malformed, has another scheme, or has no `r`, `a` or `s`.
    package static func parse(_ text: String) throws(EnrollmentError) -> PushURI {
        try EnrollmentURIReader(text, policy: .secure).readPush()
    }

    /// Reads the values of a URI with which a device responds to the invitation.
    /// - Throws: ``EnrollmentError`` for a URI that is malformed, or has no `m`, `l` or `c`.
    package static func registration(_ text: String) throws(EnrollmentError) -> Registration {
        try EnrollmentURIReader(text, policy: .secure).readPushRegistration()
    }

    /// Writes a credential as a `pushauth` URI that ``parse(_:)`` reads back.
    ///
    /// The result contains the secret: it may be shown or drawn, but must not be logged.
    package var text: String {
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        let names = account.issuer.isEmpty ? [account.accountName] : [account.issuer, account.accountName]
        var parameters = [
            "r=\(base64(registrationURL))", "a=\(base64(authenticationURL))",
            "s=\(secret.withUnsafeBytes { Base64.encode($0, as: .url) })",
        ]
        if !account.issuer.isEmpty {
            // A plain issuer that is valid base64 would be decoded by a reader.
            let isPlain = (try? Base64.decode(account.issuer)).flatMap { String(strictUTF8: $0) } == nil
            parameters.append("issuer=\(isPlain ? account.issuer.percentEncoded() : base64(account.issuer))")
        }
        for (name, value) in [("d", userID), ("pid", resourceID), ("image", imageURL), ("policies", policies)] {
            if let value, !value.isEmpty { parameters.append("\(name)=\(base64(value))") }
        }
        if let backgroundColor, !backgroundColor.isEmpty {
            parameters.append("b=\(String(backgroundColor.drop { $0 == "#" }).percentEncoded())")
        }
        let label = names.map { $0.percentEncoded() }.joined(separator: ":")
        return "pushauth://push/\(label)?\(parameters.joined(separator: "&"))"
    }

    /// Creates the values of a credential.
    package init(
        account: AccountID, registrationURL: String, authenticationURL: String, secret: Secret, userID: String?,
        resourceID: String?, imageURL: String?, backgroundColor: String?, policies: String?
    ) {
        self.account = account
        self.registrationURL = registrationURL
        self.authenticationURL = authenticationURL
        self.secret = secret
        self.userID = userID
        self.resourceID = resourceID
        self.imageURL = imageURL
        self.backgroundColor = backgroundColor
        self.policies = policies
    }
}
