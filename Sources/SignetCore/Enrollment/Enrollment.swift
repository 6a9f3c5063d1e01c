import Crypto

/// The content of an enrollment URI: an account with a one-time-code mechanism, a push mechanism, or both.
public struct Enrollment: Sendable, Hashable {
    /// The issuer and the account name.
    public var account: AccountID
    /// The settings for one-time codes, if the URI contains them.
    public var oath: OATHSettings?
    /// The server's id of the one-time-code device.
    public var oathResourceID: String?
    /// The values for the push registration, if the URI contains them.
    public var push: PushInvitation?
    /// The server's id of the user.
    public var userID: String?
    /// The address of a logo.
    public var imageURL: String?
    /// The background color: `#` and hexadecimal digits.
    public var backgroundColor: String?
    /// The issuer's policies: names and parameters.
    public var policies: [String: JSONValue]

    /// Creates an enrollment.
    public init(
        account: AccountID, oath: OATHSettings? = nil, oathResourceID: String? = nil, push: PushInvitation? = nil,
        userID: String? = nil, imageURL: String? = nil, backgroundColor: String? = nil, policies: [String: JSONValue] = [:]
    ) {
        self.account = account
        self.oath = oath
        self.oathResourceID = oathResourceID
        self.push = push
        self.userID = userID
        self.imageURL = imageURL
        self.backgroundColor = backgroundColor
        self.policies = policies
    }
}

/// The values that a server gives a device for one push registration.
///
/// They are valid once and for a short time.
public struct PushInvitation: Sendable, Hashable {
    /// The key that device and server will share: 32 bytes or more (RFC 7518 section 3.2).
    ///
    /// For privacyIDEA it is the enrollment credential, which proves to the server that the device has read the URI.
    public var secret: Secret
    /// The challenge.
    ///
    /// The device answers it to prove that it received the secret.
    public var challenge: [UInt8]
    /// The id of this registration.
    ///
    /// The device sends it back byte for byte.
    public var messageID: String
    /// The address for the registration.
    public var registrationEndpoint: Endpoint
    /// The address for later answers.
    public var authenticationEndpoint: Endpoint
    /// The load balancer's routing cookie to send with the registration, `name=value`.
    public var loadBalancerCookie: String?
    /// The server's id of the push device.
    public var resourceID: String?
    /// The name of the push platform whose protocol the server uses; nil for AM.
    ///
    /// It is not part of the URI. Reading an `otpauth://pipush` URI sets it to privacyIDEA's.
    public var platform: String?
    /// True when the server wants each approval to follow a check of the user's presence.
    package var requiresPresence = false

    /// Creates an invitation.
    public init(
        secret: Secret, challenge: [UInt8], messageID: String, registrationEndpoint: Endpoint, authenticationEndpoint: Endpoint,
        loadBalancerCookie: String? = nil, resourceID: String? = nil, platform: String? = nil
    ) {
        self.secret = secret
        self.challenge = challenge
        self.messageID = messageID
        self.registrationEndpoint = registrationEndpoint
        self.authenticationEndpoint = authenticationEndpoint
        self.loadBalancerCookie = loadBalancerCookie
        self.resourceID = resourceID
        self.platform = platform
    }
}

extension Enrollment {
    /// Checks that the ForgeRock and Ping SDKs have the codes of this enrollment too: those of 4 to 8 decimal digits.
    /// - Throws: ``EnrollmentError`` for codes of 9 or 10 digits, for those of Steam, and for push messages of privacyIDEA.
    package func requireCodesOfOtherSDKs() throws(EnrollmentError) {
        guard push?.platform != PrivacyIDEAURI.platform else {
            throw EnrollmentError(.unsupported, "type", "neither totp nor hotp")
        }
        guard let oath else { return }
        guard oath.encoding == .decimal else { throw .steam }
        guard oath.digits.count <= 8 else { throw EnrollmentError(.invalid, "digits", "not a number from 4 to 8") }
    }

    /// The id of the push mechanism that this enrollment creates; nil when it has no push invitation.
    ///
    /// The id is always the same for an enrollment, so that a device which repeats a failed registration is the same device to
    /// the server. The id can be computed only with the secret.
    package var pushMechanismUID: String? {
        guard let push else { return nil }
        var code = HMAC<SHA256>(key: push.secret.key)
        for part in ["signet mechanism", push.messageID, push.registrationEndpoint.url, account.issuer, account.accountName] {
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { code.update(data: $0) }
            code.update(data: Array(part.utf8))
        }
        return UUIDText.text(of: code.finalize(), version: 8)
    }
}
