import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One source of one-time codes, as a value: change it and give it to ``OathClient/saveCredential(_:)``.
///
/// The credentials of one account share names, looks, policies and lock. The secret is in the value and cannot be read from it.
public struct OathCredential: Sendable, Hashable, Identifiable {
    /// What it is known by here.
    public let id: String
    /// The user's id on the server.
    public var userId: String?
    /// The device's id on the server.
    public var resourceId: String?
    /// Time or counter.
    public let oathType: OathType
    /// The hash.
    public let oathAlgorithm: OathAlgorithm
    /// The length of a code, 4 to 8.
    public let digits: Int
    /// The seconds that a time's code is good for.
    public let period: Int
    /// The counter of the next code. To save a lower one than what is stored does not lower it.
    public let counter: Int
    /// When it was enrolled.
    public let createdAt: Date
    var details: CredentialDetails
    /// Nil for one that was decoded, or made with what is no base32.
    let secret: Secret?

    /// A credential. Nothing is checked before it is saved.
    /// - Parameters:
    ///   - id: What it is known by; nil for a new id.
    ///   - userId: The user's id on the server, if it is known.
    ///   - resourceId: The device's id on the server, if it is known.
    ///   - issuer: The organisation.
    ///   - displayIssuer: The organisation as it is shown; nil for the original.
    ///   - accountName: The person's name there.
    ///   - displayAccountName: The person's name as it is shown; nil for the original.
    ///   - oathType: Whether the codes go by time or by a counter.
    ///   - oathAlgorithm: The hash.
    ///   - digits: How many digits a code has.
    ///   - period: How many seconds a code is shown.
    ///   - counter: The counter that is next.
    ///   - createdAt: Nil for now.
    ///   - imageURL: The address of a logo.
    ///   - backgroundColor: A colour, `#` and hexadecimal digits.
    ///   - policies: The text of a JSON object: names of policies and their parameters.
    ///   - lockingPolicy: The policy that it is locked by.
    ///   - isLocked: Whether it is locked.
    ///   - secretKey: The key in base32.
    public init(
        id: String? = nil, userId: String? = nil, resourceId: String? = nil, issuer: String, displayIssuer: String? = nil,
        accountName: String, displayAccountName: String? = nil, oathType: OathType, oathAlgorithm: OathAlgorithm = .sha1,
        digits: Int = 6, period: Int = 30, counter: Int = 0, createdAt: Date? = nil, imageURL: String? = nil,
        backgroundColor: String? = nil, policies: String? = nil, lockingPolicy: String? = nil, isLocked: Bool = false,
        secretKey: String
    ) {
        self.id = id ?? RandomID.uuid()
        self.userId = userId
        self.resourceId = resourceId
        self.oathType = oathType
        self.oathAlgorithm = oathAlgorithm
        self.digits = digits
        self.period = period
        self.counter = counter
        self.createdAt = createdAt ?? SystemWallClock().now
        details = CredentialDetails(
            issuer: issuer, displayIssuer: displayIssuer, accountName: accountName, displayAccountName: displayAccountName,
            imageURL: imageURL, backgroundColor: backgroundColor, policies: policies,
            lock: .given(lockingPolicy, isLocked: isLocked))
        secret = (try? Base32.decode(secretKey)).flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    init?(_ enrolled: EnrolledMechanism) {
        guard let settings = enrolled.mechanism.oath else { return nil }
        self.init(
            settings, id: enrolled.mechanism.uid, userId: enrolled.mechanism.userID, resourceId: enrolled.mechanism.resourceID,
            createdAt: enrolled.mechanism.timeAdded, details: enrolled.details)
    }

    private init(
        _ settings: OATHSettings, id: String, userId: String?, resourceId: String?, createdAt: Date, details: CredentialDetails
    ) {
        self.id = id
        self.userId = userId
        self.resourceId = resourceId
        oathAlgorithm = OathAlgorithm(settings.algorithm)
        digits = settings.digits.count
        switch settings.factor {
        case .time(let length): (oathType, period, counter) = (.totp, length.seconds, 0)
        case .counter(let next): (oathType, period, counter) = (.hotp, OTPPeriod.thirtySeconds.seconds, Int(clamping: next))
        }
        self.createdAt = createdAt
        self.details = details
        secret = settings.secret
    }
}

extension OathCredential {
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
    /// The same as ``oathType``.
    public var type: OathType { oathType }
    /// The same as ``oathAlgorithm``.
    public var algorithm: OathAlgorithm { oathAlgorithm }

    /// Locks the value. Save it to lock the account by hand.
    public mutating func lockCredential(policyName: String) {
        details.lock = CredentialLock(policy: policyName, isLocked: true, isWanted: true)
    }

    /// Unlocks the value. Save it to end a lock that was made by hand; a policy that is not met locks all the same.
    public mutating func unlockCredential() {
        details.lock = CredentialLock(policy: nil, isLocked: false, isWanted: true)
    }

    /// The credential that a URI offers. Nothing is stored.
    /// - Throws: ``OathError``.
    public static func fromUri(_ uri: String) async throws(OathError) -> OathCredential {
        let enrollment: Enrollment
        do {
            enrollment = try EnrollmentURI.parse(uri)
        } catch {
            throw OathError.translating(error, credentialId: nil) as? OathError ?? .invalidUri("not an enrolment URI")
        }
        guard let settings = enrollment.oath else { throw .invalidUri("the URI offers no one-time codes") }
        let now = SystemWallClock().now
        return OathCredential(
            settings, id: RandomID.uuid(), userId: enrollment.userID, resourceId: enrollment.oathResourceID, createdAt: now,
            details: CredentialDetails(Account(enrollment, timeAdded: now), lock: nil))
    }

    /// The credential as a URI that every authenticator reads. It holds the secret: show it, but do not log it.
    /// - Throws: ``OathError/uriFormatting(_:)`` when a part is invalid, or the secret not there.
    public func toUri() async throws(OathError) -> String {
        do {
            let mechanism = try mechanism(over: nil)
            return EnrollmentURI.print(
                Enrollment(
                    account: details.account, oath: mechanism.oath, oathResourceID: resourceId, userID: userId,
                    imageURL: imageURL, backgroundColor: backgroundColor, policies: details.policyObject ?? [:]))
        } catch {
            throw .uriFormatting(error.description)
        }
    }

    /// The mechanism that the credential describes.
    /// - Parameter stored: What is stored under its id. Its secret stands in for one that is missing, and its counter for a
    ///   lower one: codes would repeat.
    func mechanism(over stored: Mechanism?) throws(OathError) -> Mechanism {
        if let fault = details.fault { throw .invalidParameterValue(fault) }
        guard let digits = OTPDigits(digits) else { throw .invalidParameterValue("digits is a number from 4 to 8") }
        guard let period = OTPPeriod(seconds: period) else { throw .invalidParameterValue("period is a number of seconds") }
        guard counter >= 0 else { throw .invalidParameterValue("counter is 0 or more") }
        if let stored {
            guard stored.oath != nil, stored.kindName.rawValue == oathType.rawValue, stored.account == details.account else {
                throw .invalidParameterValue("a credential keeps its type, its issuer and its accountName")
            }
        }
        guard let secret = secret ?? stored?.oath?.secret else { throw .invalidSecret("the secret is missing, or no base32") }
        var next = UInt64(counter)
        if case .counter(let reached) = stored?.oath?.factor { next = max(next, reached) }
        return Mechanism(
            uid: id, account: details.account,
            kind: .oath(
                OATHSettings(
                    secret: secret, algorithm: oathAlgorithm.core, digits: digits,
                    factor: oathType == .totp ? .time(period: period) : .counter(next: next))),
            timeAdded: stored?.timeAdded ?? createdAt, userID: userId, resourceID: resourceId)
    }
}

extension OathCredential: CustomStringConvertible, CustomReflectable {
    /// Type and id.
    public var description: String { "\(oathType.rawValue) credential \(id)" }
    /// Type and id.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "oathType": oathType.rawValue]) }
}
