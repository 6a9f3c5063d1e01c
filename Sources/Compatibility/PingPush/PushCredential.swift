public import Foundation
public import SignetAuthenticator
import SignetCore

/// A push credential, as a value: change it and pass it to ``PushClient/saveCredential(_:)``.
///
/// The credentials of one account share its names, logo, color, policies and lock.
public struct PushCredential: AccountCredential, Sendable, Hashable, Identifiable {
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
    /// The push platform, which determines the protocol of the server.
    public let platform: PushPlatformName
    /// The names, appearance, policies and lock of the account.
    public var details: CredentialDetails
    /// The shared secret; nil when the credential was created or decoded with an empty or invalid base64 string.
    let secret: Secret?

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
    ///   - sharedSecret: The shared secret in base64.
    ///   - createdAt: The time of enrollment; nil for the current time.
    ///   - imageURL: The URL of a logo.
    ///   - backgroundColor: A color as `#` and hexadecimal digits.
    ///   - policies: The text of a JSON object with the names of policies and their parameters.
    ///   - lockingPolicy: The policy that locks the account.
    ///   - isLocked: True to lock the account.
    ///   - platform: The push platform.
    public init(
        id: String? = nil, userId: String? = nil, resourceId: String? = nil, issuer: String, displayIssuer: String? = nil,
        accountName: String, displayAccountName: String? = nil, serverEndpoint: String, sharedSecret: String,
        createdAt: Date? = nil, imageURL: String? = nil, backgroundColor: String? = nil, policies: String? = nil,
        lockingPolicy: String? = nil, isLocked: Bool = false, platform: PushPlatformName = .pingAM
    ) {
        self.init(
            id: id ?? RandomID.uuid(), userId: userId, resourceId: resourceId, serverEndpoint: serverEndpoint,
            sharedSecret: sharedSecret, createdAt: createdAt, platform: platform,
            details: CredentialDetails(
                issuer: issuer, displayIssuer: displayIssuer, accountName: accountName, displayAccountName: displayAccountName,
                imageURL: imageURL, backgroundColor: backgroundColor, policies: policies,
                lock: .given(lockingPolicy, isLocked: isLocked)))
    }

    /// Creates a credential with the details of its account.
    init(
        id: String, userId: String?, resourceId: String?, serverEndpoint: String, sharedSecret: String, createdAt: Date?,
        platform: PushPlatformName, details: CredentialDetails
    ) {
        self.id = id
        self.userId = userId
        self.resourceId = resourceId.flatMap { $0.isEmpty ? nil : $0 } ?? id
        registrationEndpoint = serverEndpoint + "?_action=register"
        authenticationEndpoint = serverEndpoint + "?_action=authenticate"
        self.createdAt = createdAt ?? SystemWallClock().now
        self.platform = platform
        self.details = details
        secret = (try? Base64.decode(sharedSecret)).flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// - Throws: ``AuthenticatorError/Code/wrongKind`` for a mechanism that takes no push messages.
    init(_ enrolled: EnrolledMechanism) throws(AuthenticatorError) {
        guard let settings = enrolled.mechanism.push else { throw .noPush }
        self.init(
            settings, id: enrolled.mechanism.uid, userId: enrolled.mechanism.userID, resourceId: enrolled.mechanism.resourceID,
            createdAt: enrolled.mechanism.timeAdded, details: enrolled.details)
    }

    private init(
        _ settings: PushSettings, id: String, userId: String?, resourceId: String?, createdAt: Date, details: CredentialDetails
    ) {
        self.id = id
        self.userId = userId
        self.resourceId = resourceId ?? id
        registrationEndpoint = settings.registrationEndpoint.url
        authenticationEndpoint = settings.authenticationEndpoint.url
        self.createdAt = createdAt
        platform = settings.platform.map { PushPlatformName(rawValue: $0) } ?? .pingAM
        self.details = details
        secret = settings.secret
    }
}

extension PushCredential {
    /// The registration URL without its query.
    public var serverEndpoint: String { String(registrationEndpoint.prefix { $0 != "?" }) }
    /// The URL for a new device token; nil when it cannot be derived from the registration URL.
    public var updateEndpoint: String? {
        (try? Endpoint(unchecked: registrationEndpoint)).flatMap(AccessManagerPlatform.refreshEndpoint)?.url
    }

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
    /// - Throws: ``PushError``.
    public static func fromUri(_ uri: String) async throws(PushError) -> PushCredential {
        let enrollment: Enrollment
        do {
            enrollment = try EnrollmentURI.parse(uri)
        } catch {
            throw PushError.translating(error, id: nil) as? PushError ?? .invalidUri("not an enrollment URI")
        }
        guard let invitation = enrollment.push, let uid = enrollment.pushMechanismUID else {
            throw .invalidUri("the URI offers no push")
        }
        let now = SystemWallClock().now
        return PushCredential(
            PushSettings(invitation), id: uid, userId: enrollment.userID, resourceId: invitation.resourceID,
            createdAt: now, details: CredentialDetails(Account(enrollment, timeAdded: now), lock: nil))
    }

    /// Returns the mechanism that the credential describes.
    /// - Parameter stored: The stored mechanism with the same id. Its secret is used when the credential has no secret; its
    ///   addresses, cookie and platform stay.
    /// - Returns: A mechanism with the credential's id and account. It keeps the creation time of the stored mechanism.
    /// - Throws: ``PushError/invalidParameterValue(_:)``.
    func mechanism(over stored: Mechanism?) throws(PushError) -> Mechanism {
        if let fault = details.fault { throw .invalidParameterValue(fault) }
        if let stored {
            guard let push = stored.push, stored.account == details.account, push.platform == (platform.mark) else {
                throw .invalidParameterValue("a credential keeps its type, its issuer, its accountName and its platform")
            }
        }
        guard let secret = secret ?? stored?.push?.secret, secret.count >= 32 else {
            throw .invalidParameterValue("the shared secret is missing, no base64, or shorter than 32 bytes")
        }
        var settings: PushSettings
        if let push = stored?.push {
            settings = push
            settings.secret = secret
        } else {
            do {
                settings = PushSettings(
                    secret: secret, registrationEndpoint: try Endpoint(registrationEndpoint),
                    authenticationEndpoint: try Endpoint(authenticationEndpoint), platform: platform.mark)
            } catch {
                throw .invalidParameterValue("serverEndpoint: \(error.description)")
            }
        }
        return Mechanism(
            uid: id, account: details.account, kind: .push(settings), timeAdded: stored?.timeAdded ?? createdAt, userID: userId,
            resourceID: resourceId == id ? nil : resourceId)
    }
}

extension PushPlatformName {
    /// The platform name that mechanisms store; nil for AM's platform.
    var mark: String? { self == .pingAM ? nil : rawValue }
}

extension PushCredential: CustomStringConvertible, CustomReflectable {
    /// The id.
    public var description: String { "push credential \(id)" }
    /// The id.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
