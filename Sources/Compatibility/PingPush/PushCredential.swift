public import Foundation
import SignetAuthenticator
import SignetCore

/// A push credential, as a value: change it and pass it to ``PushClient/saveCredential(_:)``.
///
/// The credentials of one account share its names, logo, color, policies and lock.
public struct PushCredential: Sendable, Hashable, Identifiable {
    /// The id of the credential, on this device and on the server.
    public let id: String
    /// The user's id on the server.
    public var userId: String?
    /// The device's id on the server; equal to ``id`` when the server has not sent one.
    public var resourceId: String
    /// The registration URL, with its query.
    public let registrationEndpoint: String
    /// The URL for answers, with its query.
    public let authenticationEndpoint: String
    /// The time of enrollment.
    public let createdAt: Date
    /// The name of the push platform, which determines the protocol of the server: `pingam`, or a name of
    /// ``PushConfiguration/customPushHandlers``.
    public let platformName: String
    /// The names, appearance, policies and lock of the account.
    var details: CredentialDetails
    /// The text of the shared secret, which should be base64.
    let encodedSecret: Secret
    /// The members of ``additionalData``.
    var otherMembers: [String: JSONValue]?
    /// The rule for the shared secret in the JSON form.
    var secretCoding = SecretCoding.excluded

    /// Creates a credential.
    ///
    /// The values are validated when the credential is saved, and no request is sent.
    /// - Parameters:
    ///   - id: The id of the credential; nil to generate one.
    ///   - userId: The user's id on the server, if it is known.
    ///   - resourceId: The device's id on the server, if it is known.
    ///   - issuer: The issuer, usually an organization.
    ///   - displayIssuer: The issuer to show; nil for `issuer`.
    ///   - accountName: The user's account name at the issuer.
    ///   - displayAccountName: The account name to show; nil for `accountName`.
    ///   - serverEndpoint: The URL of the server's push resource, without a query: `?_action=register` and the other actions are
    ///     appended.
    ///   - sharedSecret: The shared secret in base64; 32 bytes or more, so that the credential can be saved.
    ///   - createdAt: The time of enrollment; nil for the current time.
    ///   - imageURL: The URL of a logo.
    ///   - backgroundColor: A color as `#` and hexadecimal digits.
    ///   - policies: The text of a JSON object with the names of policies and their parameters.
    ///   - lockingPolicy: The policy that locks the account.
    ///   - isLocked: True to lock the account.
    ///   - platform: The push platform.
    ///   - additionalData: Further values, which are not stored. Those that JSON can't express are left out.
    ///   - platformName: The name of a push platform of the app, in place of `platform`.
    public init(
        id: String? = nil, userId: String? = nil, resourceId: String? = nil, issuer: String, displayIssuer: String? = nil,
        accountName: String, displayAccountName: String? = nil, serverEndpoint: String, sharedSecret: String,
        createdAt: Date? = nil, imageURL: String? = nil, backgroundColor: String? = nil, policies: String? = nil,
        lockingPolicy: String? = nil, isLocked: Bool = false, platform: PushPlatform = .pingAM,
        additionalData: [String: Any]? = nil, platformName: String? = nil
    ) {
        self.init(
            id: id ?? RandomID.uuid(), userId: userId, resourceId: resourceId,
            registrationEndpoint: serverEndpoint + "?_action=register",
            authenticationEndpoint: serverEndpoint + "?_action=authenticate", createdAt: createdAt ?? SystemWallClock().now,
            platformName: platformName ?? platform.rawValue,
            details: CredentialDetails(
                issuer: issuer, displayIssuer: displayIssuer, accountName: accountName, displayAccountName: displayAccountName,
                imageURL: imageURL, backgroundColor: backgroundColor, policies: policies,
                lock: CredentialLock(policy: lockingPolicy, isLocked: isLocked, isWanted: isLocked)),
            encodedSecret: Secret(text: sharedSecret))
        otherMembers = additionalData.flatMap { JSONValue(any: $0)?.object }
        secretCoding = .included
    }

    /// Creates a credential with the details of its account.
    init(
        id: String, userId: String?, resourceId: String?, registrationEndpoint: String, authenticationEndpoint: String,
        createdAt: Date, platformName: String, details: CredentialDetails, encodedSecret: Secret
    ) {
        self.id = id
        self.userId = userId
        self.resourceId = resourceId.flatMap { $0.isEmpty ? nil : $0 } ?? id
        self.registrationEndpoint = registrationEndpoint
        self.authenticationEndpoint = authenticationEndpoint
        self.createdAt = createdAt
        self.platformName = platformName
        self.details = details
        self.encodedSecret = encodedSecret
    }

    /// Creates the value for a stored mechanism.
    /// - Throws: `AuthenticatorError.Code.wrongKind` for a mechanism that takes no push messages.
    init(_ enrolled: EnrolledMechanism) throws(AuthenticatorError) {
        let mechanism = enrolled.mechanism
        guard let settings = mechanism.push else { throw .noPush }
        self.init(
            id: mechanism.uid, userId: mechanism.userID, resourceId: mechanism.resourceID,
            registrationEndpoint: settings.registrationEndpoint.url, authenticationEndpoint: settings.authenticationEndpoint.url,
            createdAt: mechanism.timeAdded, platformName: settings.platform ?? AccessManagerPlatform.name,
            details: enrolled.details,
            encodedSecret: Secret(text: settings.secret.withUnsafeBytes { Base64.encode($0, as: .standard) }))
    }
}

extension PushCredential {
    /// The issuer.
    ///
    /// Credentials with the same issuer and account name belong to one account.
    public var issuer: String { details.issuer }
    /// The name of the account.
    public var accountName: String { details.accountName }
    /// The issuer to show.
    public var displayIssuer: String {
        get { details.displayIssuer }
        set { details.displayIssuer = newValue }
    }
    /// The account name to show.
    public var displayAccountName: String {
        get { details.displayAccountName }
        set { details.displayAccountName = newValue }
    }
    /// The URL of a logo.
    public var imageURL: String? {
        get { details.imageURL }
        set { details.imageURL = newValue }
    }
    /// A color as `#` and hexadecimal digits.
    public var backgroundColor: String? {
        get { details.backgroundColor }
        set { details.backgroundColor = newValue }
    }
    /// The issuer's policies as the text of a JSON object.
    public var policies: String? {
        get { details.policies }
        set { details.policies = newValue }
    }
    /// The policy that locks the account.
    ///
    /// Save a changed value to change the account.
    public var lockingPolicy: String? {
        get { details.lock.policy }
        set { details.lock = CredentialLock(policy: newValue, isLocked: isLocked, isWanted: true) }
    }
    /// True when the account is locked, manually or because the device violated a policy when the credential was read.
    ///
    /// Save a changed value to lock or unlock the account manually.
    public var isLocked: Bool {
        get { details.lock.isLocked }
        set { details.lock = CredentialLock(policy: lockingPolicy, isLocked: newValue, isWanted: true) }
    }

    /// Marks this value as locked.
    ///
    /// Save it to lock the account manually.
    public mutating func lockCredential(policyName: String) {
        details.lock = CredentialLock(policy: policyName, isLocked: true, isWanted: true)
    }

    /// Marks this value as unlocked.
    ///
    /// Save it to remove a manual lock. A policy that the device violates still locks the account.
    public mutating func unlockCredential() {
        details.lock = CredentialLock(policy: nil, isLocked: false, isWanted: true)
    }

    /// The push platform; ``PushPlatform/pingAM`` also for a platform of the app, which ``platformName`` names.
    public var platform: PushPlatform { PushPlatform(rawValue: platformName) ?? .pingAM }
    /// The registration URL without its query.
    public var serverEndpoint: String { String(registrationEndpoint.prefix { $0 != "?" }) }
    /// The URL for a new device token.
    public var updateEndpoint: String {
        let endpoint = (try? Endpoint(unchecked: registrationEndpoint)).flatMap(AccessManagerPlatform.refreshEndpoint)
        return endpoint?.url ?? serverEndpoint + "?_action=refresh"
    }

    /// Values of the app, which are not stored.
    ///
    /// Values that JSON can't express are left out when the property is set.
    public var additionalData: [String: Any]? {
        get { otherMembers?.mapValues(\.any) }
        set { otherMembers = newValue.flatMap { JSONValue(any: $0)?.object } }
    }

    /// The shared secret; nil when its text is empty or no base64.
    var secret: Secret? { (try? Base64.decode(encodedSecret.text)).flatMap { $0.isEmpty ? nil : Secret($0) } }

    /// Passes the bytes of the shared secret to `body`, for a ``PushHandler`` that signs.
    ///
    /// The buffer is valid only during the call. Returns nil when the credential has no secret.
    public func withSharedSecret<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        try secret?.withUnsafeBytes(body)
    }

    /// Returns the credential of an enrollment URI.
    ///
    /// Nothing is stored and no request is sent. The credential receives no messages until it is registered with
    /// ``PushClient/addCredentialFromUri(_:)``.
    /// - Throws: ``PushError/invalidUri(_:)``.
    public static func fromUri(_ uri: String) async throws -> PushCredential { try await PushUriParser.parse(uri) }

    /// Returns the credential as a `pushauth` URI.
    ///
    /// The URI contains the shared secret: show it or draw it, but do not log it.
    /// - Throws: ``PushError/uriFormatting(_:)`` when the credential has no usable secret.
    public func toUri() async throws -> String { try await PushUriParser.format(self) }
}

extension PushCredential {
    /// Returns the mechanism that the credential describes.
    /// - Parameters:
    ///   - stored: The stored mechanism with the same id. Its secret is used when the credential has no secret; its addresses,
    ///     cookie and platform stay.
    ///   - policy: The policy for the addresses of a new mechanism.
    ///   - setting: The setting that allows plain `http`, which the error names.
    /// - Returns: A mechanism with the credential's id and account. It keeps the creation time of the stored mechanism.
    /// - Throws: ``PushError/invalidParameterValue(_:)``.
    func mechanism(
        over stored: Mechanism?, _ policy: EndpointPolicy, allowedBy setting: String = "PushConfiguration.plainHTTPHosts"
    ) throws(PushError) -> Mechanism {
        if let fault = details.fault { throw .invalidParameterValue(fault) }
        if let stored {
            guard let push = stored.push, stored.account == details.account, push.platform == mark else {
                throw .invalidParameterValue("a credential keeps its type, its issuer, its accountName and its platform")
            }
        }
        guard let secret = secret ?? stored?.push?.secret, secret.count >= Self.minSecretLength else {
            throw .invalidParameterValue("the shared secret is missing, no base64, or shorter than 32 bytes")
        }
        var settings: PushSettings
        if let push = stored?.push {
            settings = push
            settings.secret = secret
        } else {
            do {
                settings = PushSettings(
                    secret: secret, registrationEndpoint: try Endpoint(registrationEndpoint, policy: policy),
                    authenticationEndpoint: try Endpoint(authenticationEndpoint, policy: policy), platform: mark)
            } catch {
                throw .invalidParameterValue(
                    "serverEndpoint: \(error.description); \(setting) names the hosts that may use plain http")
            }
        }
        return Mechanism(
            uid: id, account: details.account, kind: .push(settings), timeAdded: stored?.timeAdded ?? createdAt, userID: userId,
            resourceID: resourceId == id ? nil : resourceId)
    }

    /// The minimum length of a shared secret in bytes (RFC 7518 section 3.2).
    static let minSecretLength = 32

    /// The platform name that mechanisms store; nil for AM's platform.
    var mark: String? { platformName == AccessManagerPlatform.name ? nil : platformName }
}

extension PushCredential: CustomStringConvertible, CustomReflectable {
    /// The id, the names to show, the platform and the lock, without the secret.
    public var description: String {
        """
        PushCredential(id: \(id), issuer: \(displayIssuer), account: \(displayAccountName), platform: \(platformName), \
        locked: \(isLocked))
        """
    }
    /// The id.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
