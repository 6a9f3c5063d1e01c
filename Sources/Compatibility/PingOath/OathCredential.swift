public import Foundation
public import SignetAuthenticator
import SignetCore

/// A one-time-code credential, as a value: change it and pass it to ``OathClient/saveCredential(_:)``.
///
/// The credentials of one account share its names, logo, color, policies and lock. The value contains the secret, but has no
/// access to it in its API.
public struct OathCredential: AccountCredential, Sendable, Hashable, Identifiable {
    /// The id of the credential on this device.
    public let id: String
    /// The user's id on the server.
    public var userId: String?
    /// The device's id on the server.
    public var resourceId: String?
    /// The type of the codes: TOTP or HOTP.
    public let oathType: OathType
    /// The hash function.
    public let oathAlgorithm: OathAlgorithm
    /// The number of digits of a code, 4 to 8.
    public let digits: Int
    /// The period of a TOTP code in seconds.
    public let period: Int
    /// The counter of the next code.
    ///
    /// Saving a lower value than the stored one does not change the stored one.
    public var counter: Int
    /// The time of enrollment.
    public let createdAt: Date
    /// The names, appearance, policies and lock of the account.
    public var details: CredentialDetails
    /// The way in which the codes are written.
    ///
    /// Only a credential that another program has stored in a shared vault has the codes of Steam.
    var encoding = OTPEncoding.decimal
    /// The secret; nil in a decoded credential, and in one that was created with an invalid or empty base32 string.
    var secret: Secret?

    /// Creates a credential.
    ///
    /// The values are validated when the credential is saved.
    /// - Parameters:
    ///   - id: The id of the credential; nil to generate one.
    ///   - userId: The user's id on the server, if it is known.
    ///   - resourceId: The device's id on the server, if it is known.
    ///   - issuer: The issuer, usually an organization.
    ///   - displayIssuer: The issuer to show; nil for `issuer`.
    ///   - accountName: The user's account name at the issuer.
    ///   - displayAccountName: The account name to show; nil for `accountName`.
    ///   - oathType: The type of the codes: TOTP or HOTP.
    ///   - oathAlgorithm: The hash function.
    ///   - digits: The number of digits of a code.
    ///   - period: The period of a TOTP code in seconds.
    ///   - counter: The next counter.
    ///   - createdAt: The time of enrollment; nil for the current time.
    ///   - imageURL: The URL of a logo.
    ///   - backgroundColor: A color as `#` and hexadecimal digits.
    ///   - policies: The text of a JSON object with the names of policies and their parameters.
    ///   - lockingPolicy: The policy that locks the account.
    ///   - isLocked: True to lock the account.
    ///   - secretKey: The secret in base32.
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

    /// - Throws: `AuthenticatorError.Code.wrongKind` for a mechanism that generates no codes.
    init(_ enrolled: EnrolledMechanism) throws(AuthenticatorError) {
        guard let settings = enrolled.mechanism.oath else { throw .noCodes }
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
        encoding = settings.encoding
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
    /// The name of ``oathType``: `totp` or `hotp`.
    public var type: String { oathType.rawValue }
    /// The name of ``oathAlgorithm``, such as `SHA256`.
    public var algorithm: String { oathAlgorithm.rawValue }

    /// Returns the credential of an enrollment URI.
    ///
    /// Nothing is stored.
    /// - Throws: ``OathError``.
    public static func fromUri(_ uri: String) async throws(OathError) -> OathCredential {
        let enrollment = try OathURI.enrollment(of: uri)
        guard let settings = enrollment.oath else { throw .invalidUri("the URI offers no one-time codes") }
        let now = SystemWallClock().now
        return OathCredential(
            settings, id: RandomID.uuid(), userId: enrollment.userID, resourceId: enrollment.oathResourceID, createdAt: now,
            details: CredentialDetails(Account(enrollment, timeAdded: now), lock: nil))
    }

    /// Returns the credential as an enrollment URI that other authenticators can read.
    ///
    /// The URI contains the secret: show it, but do not log it.
    /// - Throws: ``OathError/uriFormatting(_:)`` when a part is invalid or the secret is missing.
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

    /// Returns the mechanism that the credential describes.
    /// - Parameter stored: The stored mechanism with the same id. Its secret is used when the credential has no secret, and its
    ///   counter when the credential's counter is lower, because codes would repeat.
    /// - Returns: A mechanism with the credential's id, account and settings. It keeps the creation time of the stored mechanism.
    /// - Throws: ``OathError/invalidParameterValue(_:)``, ``OathError/invalidSecret(_:)``.
    func mechanism(over stored: Mechanism?) throws(OathError) -> Mechanism {
        if let fault = details.fault { throw .invalidParameterValue(fault) }
        guard let digits = OTPDigits(digits), digits.count <= 8 || digits == stored?.oath?.digits else {
            throw .invalidParameterValue("digits is a number from 4 to 8")
        }
        guard let length = OTPPeriod(seconds: period),
            period <= OathURI.maxPeriod || stored?.oath?.factor == .time(period: length)
        else { throw .invalidParameterValue("period is a number of seconds from 1 to \(OathURI.maxPeriod)") }
        guard counter >= 0 else { throw .invalidParameterValue("counter is 0 or more") }
        if let stored {
            guard stored.oath != nil, stored.kindName.rawValue == oathType.rawValue, stored.account == details.account else {
                throw .invalidParameterValue("a credential keeps its type, its issuer and its accountName")
            }
        }
        guard let secret = secret ?? stored?.oath?.secret else { throw .invalidSecret("the secret is missing, or no base32") }
        var next = UInt64(counter)
        if case .counter(let reached) = stored?.oath?.factor { next = max(next, reached) }
        var settings = OATHSettings(
            secret: secret, algorithm: oathAlgorithm.core, digits: digits,
            factor: oathType == .totp ? .time(period: length) : .counter(next: next))
        settings.encoding = stored?.oath?.encoding ?? encoding
        return Mechanism(
            uid: id, account: details.account, kind: .oath(settings), timeAdded: stored?.timeAdded ?? createdAt, userID: userId,
            resourceID: resourceId)
    }
}

extension OathCredential: CustomStringConvertible, CustomReflectable {
    /// The type and the id.
    public var description: String { "\(oathType.rawValue) credential \(id)" }
    /// The type and the id.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "oathType": oathType.rawValue]) }
}
