import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One registration for push, as a value: change it and give it to ``PushClient/saveCredential(_:)``.
///
/// The credentials of one account share names, looks, policies and lock.
public struct PushCredential: Sendable, Hashable, Identifiable {
    /// What it is known by, here and on the server.
    public let id: String
    /// The user's id on the server.
    public var userId: String?
    /// The device's id on the server; the ``id`` when the server told none.
    public var resourceId: String
    /// Where it was registered, with its query.
    public let registrationEndpoint: String
    /// Where answers go, with its query.
    public let authenticationEndpoint: String
    /// When it was enrolled.
    public let createdAt: Date
    /// Whose protocol its server speaks.
    public let platform: PushPlatformName
    var details: CredentialDetails
    /// Nil for one that was decoded, or made with what is no base64.
    let secret: Secret?

    /// A credential. Nothing is checked before it is saved, and no server is asked.
    /// - Parameters:
    ///   - id: What it is known by; nil for a new id.
    ///   - userId: The user's id on the server, if it is known.
    ///   - resourceId: The device's id on the server, if it is known.
    ///   - issuer: The organisation.
    ///   - displayIssuer: The organisation as it is shown; nil for the original.
    ///   - accountName: The person's name there.
    ///   - displayAccountName: The person's name as it is shown; nil for the original.
    ///   - serverEndpoint: The address of the server's push resource, without a query: `?_action=register` and the other
    ///     actions are put behind it.
    ///   - sharedSecret: The key in base64.
    ///   - createdAt: Nil for now.
    ///   - imageURL: The address of a logo.
    ///   - backgroundColor: A colour, `#` and hexadecimal digits.
    ///   - policies: The text of a JSON object: names of policies and their parameters.
    ///   - lockingPolicy: The policy that it is locked by.
    ///   - isLocked: Whether it is locked.
    ///   - platform: The push platform.
    public init(
        id: String? = nil, userId: String? = nil, resourceId: String? = nil, issuer: String, displayIssuer: String? = nil,
        accountName: String, displayAccountName: String? = nil, serverEndpoint: String, sharedSecret: String,
        createdAt: Date? = nil, imageURL: String? = nil, backgroundColor: String? = nil, policies: String? = nil,
        lockingPolicy: String? = nil, isLocked: Bool = false, platform: PushPlatformName = .pingAM
    ) {
        let id = id ?? RandomID.uuid()
        self.id = id
        self.userId = userId
        self.resourceId = resourceId.flatMap { $0.isEmpty ? nil : $0 } ?? id
        registrationEndpoint = serverEndpoint + "?_action=register"
        authenticationEndpoint = serverEndpoint + "?_action=authenticate"
        self.createdAt = createdAt ?? SystemWallClock().now
        self.platform = platform
        details = CredentialDetails(
            issuer: issuer, displayIssuer: displayIssuer, accountName: accountName, displayAccountName: displayAccountName,
            imageURL: imageURL, backgroundColor: backgroundColor, policies: policies,
            lock: .given(lockingPolicy, isLocked: isLocked))
        secret = (try? Base64.decode(sharedSecret)).flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    init?(_ enrolled: EnrolledMechanism) {
        guard let settings = enrolled.mechanism.push else { return nil }
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
    /// The issuer; the credentials of one issuer and account name are one account.
    public var issuer: String { details.issuer }
    /// The name of the account.
    public var accountName: String { details.accountName }
    /// The issuer to show.
    public var displayIssuer: String {
        get { details.displayIssuer }
        set { details.displayIssuer = newValue }
    }
    /// The name to show.
    public var displayAccountName: String {
        get { details.displayAccountName }
        set { details.displayAccountName = newValue }
    }
    /// The address of a logo.
    public var imageURL: String? {
        get { details.imageURL }
        set { details.imageURL = newValue }
    }
    /// A colour, `#` and hexadecimal digits.
    public var backgroundColor: String? {
        get { details.backgroundColor }
        set { details.backgroundColor = newValue }
    }
    /// The issuer's policies: the text of a JSON object.
    public var policies: String? {
        get { details.policies }
        set { details.policies = newValue }
    }
    /// The policy that the account is locked by.
    public var lockingPolicy: String? { details.lock.policy }
    /// Whether the account is locked: by hand, or because a policy was not met when the credential was read.
    public var isLocked: Bool { details.lock.isLocked }
    /// Where it was registered, without the query.
    public var serverEndpoint: String { String(registrationEndpoint.prefix { $0 != "?" }) }
    /// Where a new device token is told; nil when the server's addresses name no such place.
    public var updateEndpoint: String? {
        (try? Endpoint(unchecked: registrationEndpoint)).flatMap(AccessManagerPlatform.refreshEndpoint)?.url
    }

    /// Locks the value. Save it to lock the account by hand.
    public mutating func lockCredential(policyName: String) {
        details.lock = CredentialLock(policy: policyName, isLocked: true, isWanted: true)
    }

    /// Unlocks the value. Save it to end a lock that was made by hand; a policy that is not met locks all the same.
    public mutating func unlockCredential() {
        details.lock = CredentialLock(policy: nil, isLocked: false, isWanted: true)
    }

    /// Lends the shared secret, for a ``PushHandler`` that signs. The bytes must not outlive the call. Nil when there is none.
    public func withSharedSecret<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        try secret?.withUnsafeBytes(body)
    }

    /// The credential that a URI offers. Nothing is stored, and no server asked: it cannot take messages before it is registered,
    /// with ``PushClient/addCredentialFromUri(_:)``.
    /// - Throws: ``PushError``.
    public static func fromUri(_ uri: String) async throws(PushError) -> PushCredential {
        let enrollment: Enrollment
        do {
            enrollment = try EnrollmentURI.parse(uri)
        } catch {
            throw PushError.translating(error, id: nil) as? PushError ?? .invalidUri("not an enrolment URI")
        }
        guard let invitation = enrollment.push, let uid = enrollment.pushMechanismUID else {
            throw .invalidUri("the URI offers no push")
        }
        let now = SystemWallClock().now
        return PushCredential(
            PushSettings(invitation), id: uid, userId: enrollment.userID, resourceId: invitation.resourceID,
            createdAt: now, details: CredentialDetails(Account(enrollment, timeAdded: now), lock: nil))
    }

    /// The mechanism that the credential describes.
    /// - Parameter stored: What is stored under its id. Its secret stands in for one that is missing; its addresses, cookie and
    ///   platform stay.
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
    /// What mechanisms of the platform carry: nil for AM's.
    var mark: String? { self == .pingAM ? nil : rawValue }
}

extension PushCredential: CustomStringConvertible, CustomReflectable {
    /// The id.
    public var description: String { "push credential \(id)" }
    /// The id.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
