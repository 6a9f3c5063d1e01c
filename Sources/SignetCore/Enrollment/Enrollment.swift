import Crypto

/// What an enrolment URI offers: an account with a one-time-code mechanism, a push mechanism, or both.
public struct Enrollment: Sendable, Hashable {
    /// Issuer and account name.
    public var account: AccountID
    /// The settings for one-time codes, if the URI has them.
    public var oath: OATHSettings?
    /// The server's id of the one-time-code device.
    public var oathResourceID: String?
    /// What is needed to register for push, if the URI has it.
    public var push: PushInvitation?
    /// The server's id of the user.
    public var userID: String?
    /// The address of a logo.
    public var imageURL: String?
    /// A colour, `#` and hexadecimal digits.
    public var backgroundColor: String?
    /// The issuer's policies: names and parameters.
    public var policies: [String: JSONValue]

    /// An enrolment made by hand or by a server.
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

/// What a server gives a device so that it can register for push: once, and for a short time.
public struct PushInvitation: Sendable, Hashable {
    /// The key that device and server will share; 32 bytes or more (RFC 7518 section 3.2).
    public var secret: Secret
    /// The bytes to answer, to prove that the secret arrived.
    public var challenge: [UInt8]
    /// The id of this registration, to be sent back byte for byte.
    public var messageID: String
    /// Where to register.
    public var registrationEndpoint: Endpoint
    /// Where to send answers later.
    public var authenticationEndpoint: Endpoint
    /// A routing cookie to send with the registration, `name=value`.
    public var loadBalancerCookie: String?
    /// The server's id of the push device.
    public var resourceID: String?
    /// The name of the push platform whose wire the server speaks; nil for AM's. No URI carries it.
    public var platform: String?

    /// An invitation as given.
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
    /// The id of the push mechanism that this enrolment makes; nil when it offers none. It is always the same one, so that who
    /// registers again after a failure is the same device to the server. Only who holds the secret can tell it.
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
