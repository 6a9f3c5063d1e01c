import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form in which a value is stored.
///
/// Values that hold secrets are not Codable, so that no log or request can encode one by accident. Their stored forms are,
/// and leave this module only into a store.
protocol StoredForm: Codable {
    associatedtype Value
    init(_ value: Value)
    /// The value again.
    /// - Throws: ``Damaged`` when the form holds what no value can be.
    func value() throws -> Value
}

/// A stored form holds what no value can be.
struct Damaged: Error {}

/// An ``Account`` holds no secret and is its own stored form.
struct AccountForm: StoredForm {
    private let account: Account
    init(_ value: Account) { account = value }
    init(from decoder: any Decoder) throws { account = try Account(from: decoder) }
    func encode(to encoder: any Encoder) throws { try account.encode(to: encoder) }
    func value() -> Account { account }
}

/// A ``Mechanism`` as it is stored.
struct MechanismForm: StoredForm {
    private let uid: String
    private let account: AccountID
    private let timeAdded: Date
    private let userID: String?
    private let resourceID: String?
    /// The shared secret, in base64.
    private let secret: String
    private let oath: OATH?
    private let push: Push?

    private struct OATH: Codable {
        var algorithm: OTPAlgorithm
        var digits: Int
        var period: Int?
        var counter: UInt64?
    }

    private struct Push: Codable {
        var registrationEndpoint: String
        var authenticationEndpoint: String
        var loadBalancerCookie: String?
        var deskEndpoint: String?
    }

    init(_ value: Mechanism) {
        uid = value.uid
        account = value.account
        timeAdded = value.timeAdded
        userID = value.userID
        resourceID = value.resourceID
        switch value.kind {
        case .oath(let settings):
            secret = Base64.encode(settings.secret.bytes, as: .standard)
            var form = OATH(algorithm: settings.algorithm, digits: settings.digits.count)
            switch settings.factor {
            case .time(let period): form.period = period.seconds
            case .counter(let next): form.counter = next
            }
            oath = form
            push = nil
        case .push(let settings):
            secret = Base64.encode(settings.secret.bytes, as: .standard)
            oath = nil
            push = Push(
                registrationEndpoint: settings.registrationEndpoint.url,
                authenticationEndpoint: settings.authenticationEndpoint.url,
                loadBalancerCookie: settings.loadBalancerCookie, deskEndpoint: settings.deskEndpoint?.url)
        }
    }

    func value() throws -> Mechanism {
        Mechanism(uid: uid, account: account, kind: try kind(), timeAdded: timeAdded, userID: userID, resourceID: resourceID)
    }

    private func kind() throws -> Mechanism.Kind {
        let secret = Secret(try Base64.decode(secret))
        switch (oath, push) {
        case (let oath?, nil):
            guard let digits = OTPDigits(oath.digits) else { throw Damaged() }
            let factor: MovingFactor
            switch (oath.period, oath.counter) {
            case (let seconds?, nil):
                guard let period = OTPPeriod(seconds: seconds) else { throw Damaged() }
                factor = .time(period: period)
            case (nil, let counter?): factor = .counter(next: counter)
            default: throw Damaged()
            }
            return .oath(OATHSettings(secret: secret, algorithm: oath.algorithm, digits: digits, factor: factor))
        case (nil, let push?):
            return .push(
                PushSettings(
                    secret: secret, registrationEndpoint: try Endpoint(stored: push.registrationEndpoint),
                    authenticationEndpoint: try Endpoint(stored: push.authenticationEndpoint),
                    loadBalancerCookie: push.loadBalancerCookie,
                    deskEndpoint: try push.deskEndpoint.map { try Endpoint(stored: $0) }))
        default:
            throw Damaged()
        }
    }
}

/// A ``PushNotification`` as it is stored: the claims as they came, and what became of them.
struct NotificationForm: StoredForm {
    private let notification: PushNotification

    private enum Member: String, CodingKey {
        case id, messageID, claims, receivedAt, decision
    }

    init(_ value: PushNotification) { notification = value }

    func value() -> PushNotification { notification }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        notification = PushNotification(
            id: try members.decode(String.self, forKey: .id), messageID: try members.decode(String.self, forKey: .messageID),
            message: try members.decode(PushMessage.self, forKey: .claims),
            receivedAt: try members.decode(Date.self, forKey: .receivedAt),
            decision: try members.decodeIfPresent(PushNotification.Decision.self, forKey: .decision))
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(notification.id, forKey: .id)
        try members.encode(notification.messageID, forKey: .messageID)
        try members.encode(notification.message.claims, forKey: .claims)
        try members.encode(notification.receivedAt, forKey: .receivedAt)
        try members.encodeIfPresent(notification.decision, forKey: .decision)
    }
}
