import Foundation
package import SignetCore
import SignetStorage

/// A value that is stored as a JSON object.
///
/// Values with secrets are neither Codable nor a ``JSONObject``, so that a log or request cannot encode one by accident. This
/// protocol is internal to the package, and the encoded values leave it only into a store or a sealed archive.
package protocol StoredForm: Sendable {
    /// The members of the object.
    var storedMembers: [String: JSONValue] { get }
    /// Creates a value from the members of a stored object.
    /// - Throws: ``UndecodableRecord`` or ``JSONMemberError`` when the members do not form a valid value, or the error of an initializer
    ///   that rejects one of them.
    init(stored members: JSONMembers) throws
}

/// An error for a stored object whose content does not form a valid value.
package struct UndecodableRecord: Error {
    /// Creates the error.
    package init() {}
}

/// The conversion between values and the bytes of a record.
enum StoredForms {
    static func bytes(_ value: some StoredForm) -> [UInt8] { JSON.encode(.object(value.storedMembers)) }

    static func value<Value: StoredForm>(
        _ type: Value.Type, _ bytes: [UInt8], _ kind: RecordKind
    ) throws(StoreError) -> Value {
        do {
            return try Value(stored: JSON.members(of: bytes))
        } catch {
            throw StoreError(
                .corrupt, "read a record of kind \(kind.rawValue)", "its content is damaged; it was not changed")
        }
    }
}

/// Dates are stored as seconds since January 1, 2001, 00:00 UTC, which is how `Date` counts, so that no date is ever rounded.
extension JSONValue {
    fileprivate static func date(_ date: Date) -> JSONValue { .number(date.timeIntervalSinceReferenceDate) }
}

extension JSONMembers {
    fileprivate func date(_ name: String) throws -> Date { Date(timeIntervalSinceReferenceDate: try number(name)) }
}

// MARK: Accounts

extension AccountID: StoredForm {
    package var storedMembers: [String: JSONValue] { Dictionary(texts: ["issuer": issuer, "accountName": accountName]) }

    package init(stored members: JSONMembers) throws {
        self.init(issuer: try members.text("issuer"), accountName: try members.text("accountName"))
    }
}

extension Account: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members = Dictionary(texts: [
            "displayIssuer": displayIssuer, "displayAccountName": displayAccountName, "imageURL": imageURL,
            "backgroundColor": backgroundColor, "lockingPolicy": lockingPolicy, "note": note?.text, "iconName": iconName,
            "icon": iconID,
        ])
        if !groups.isEmpty { members["groups"] = .array(groups.map { .string($0) }) }
        members["id"] = .object(id.storedMembers)
        members["timeAdded"] = .date(timeAdded)
        members["policies"] = .object(policies)
        return members.merging(unknownMembers.values) { known, _ in known }
    }

    private static let knownMembers = [
        "id", "displayIssuer", "displayAccountName", "imageURL", "backgroundColor", "timeAdded", "policies", "lockingPolicy",
    ]

    package init(stored members: JSONMembers) throws {
        self.init(
            id: try AccountID(stored: members.object("id")), displayIssuer: try members.optionalText("displayIssuer"),
            displayAccountName: try members.optionalText("displayAccountName"), imageURL: try members.optionalText("imageURL"),
            backgroundColor: try members.optionalText("backgroundColor"), timeAdded: try members.date("timeAdded"),
            policies: try members.object("policies").all,
            lockingPolicy: try members.optionalText("lockingPolicy"))
        var others = members.others(than: Self.knownMembers)
        takeDetails(from: &others)
        unknownMembers = UnknownMembers(others)
    }

    /// Takes the groups, the note and the icon out of other members.
    ///
    /// A member with another type of value is of a later version and stays with the unknown ones.
    private mutating func takeDetails(from members: inout [String: JSONValue]) {
        guard !members.isEmpty else { return }
        if let names = members["groups"]?.array, case let texts = names.compactMap(\.string), texts.count == names.count {
            groups = texts
            members["groups"] = nil
        }
        func takeText(_ name: String) -> String? {
            guard let text = members[name]?.string else { return nil }
            members[name] = nil
            return text
        }
        note = takeText("note").map { Secret(text: $0) }
        iconName = takeText("iconName")
        iconID = takeText("icon")
    }
}

extension AccountIcon: StoredForm {
    package var storedMembers: [String: JSONValue] {
        ["type": .string(type.rawValue), "data": .string(Base64.encode(data, as: .standard))]
    }

    package init(stored members: JSONMembers) throws {
        guard let icon = AccountIcon(try Base64.decode(try members.text("data"))) else { throw UndecodableRecord() }
        self = icon
    }
}

// MARK: Mechanisms

extension Mechanism: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members = Dictionary(texts: ["uid": uid, "userID": userID, "resourceID": resourceID])
        members["account"] = .object(account.storedMembers)
        members["timeAdded"] = .date(timeAdded)
        switch kind {
        case .oath(let settings):
            members["secret"] = .string(Base64.encode(settings.secret.bytes, as: .standard))
            members[counterOwner == nil ? settings.storedName : Self.elsewhere] = .object(settings.storedMembers)
            members["counterOwner"] = counterOwner.map { .string($0) }
        case .push(let settings):
            members["secret"] = .string(Base64.encode(settings.secret.bytes, as: .standard))
            members[settings.storedName] = .object(settings.storedMembers)
        }
        return members.merging(unknownMembers.values) { known, _ in known }
    }

    private static let knownMembers = [
        "uid", "account", "timeAdded", "userID", "resourceID", "secret", "oath", "steam", "push", elsewhere, "counterOwner",
        PushSettings.storedNameWithKeys,
    ]

    /// The name of the member that has the settings of a counter of another machine.
    ///
    /// Version 0.1.0 doesn't know it. It reports the mechanism as a record that it cannot read, and generates none of its codes.
    private static let elsewhere = "elsewhere"

    package init(stored members: JSONMembers) throws {
        let secret = Secret(try Base64.decode(try members.text("secret")))
        let kind: Kind
        let foreign = try members.optionalObject(Self.elsewhere)
        let keyed = try members.optionalObject(PushSettings.storedNameWithKeys)
        switch (
            try foreign ?? members.optionalObject("oath"), try members.optionalObject("steam"),
            try keyed ?? members.optionalObject("push")
        ) {
        case (let oath?, nil, nil): kind = .oath(try OATHSettings(stored: oath, secret: secret))
        case (nil, let steam?, nil): kind = .oath(try OATHSettings(stored: steam, secret: secret, encoding: .steam))
        case (nil, nil, let push?): kind = .push(try PushSettings(stored: push, secret: secret, hasKeys: keyed != nil))
        default: throw UndecodableRecord()
        }
        self.init(
            uid: try members.text("uid"), account: try AccountID(stored: members.object("account")), kind: kind,
            timeAdded: try members.date("timeAdded"), userID: try members.optionalText("userID"),
            resourceID: try members.optionalText("resourceID"))
        if foreign != nil { counterOwner = try members.text("counterOwner") }
        unknownMembers = UnknownMembers(members.others(than: Self.knownMembers))
    }
}

extension OATHSettings {
    /// The name of the member that has the settings in a mechanism.
    ///
    /// Version 0.1.0 knows `oath` only. It reports a mechanism with another one as a record that it cannot read, and makes no wrong
    /// codes from it.
    fileprivate var storedName: String {
        switch encoding {
        case .decimal: "oath"
        case .steam: "steam"
        }
    }

    fileprivate var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = ["algorithm": .string(algorithm.rawValue), "digits": .integer(Int64(digits.count))]
        switch factor {
        case .time(let period): members["period"] = .integer(Int64(period.seconds))
        // The counter is stored as a string: it has 64 unsigned bits, and many JSON implementations do not keep a number of that
        // size exact.
        case .counter(let next): members["counter"] = .string(String(next))
        }
        return members
    }

    fileprivate init(stored members: JSONMembers, secret: Secret, encoding: OTPEncoding = .decimal) throws {
        guard let algorithm = OTPAlgorithm(rawValue: try members.text("algorithm")),
            let digits = OTPDigits(try members.integer("digits"))
        else { throw UndecodableRecord() }
        let factor: MovingFactor
        switch (try members.optionalInteger("period"), try members.optionalText("counter")) {
        case (let seconds?, nil):
            guard let period = OTPPeriod(seconds: seconds) else { throw UndecodableRecord() }
            factor = .time(period: period)
        case (nil, let counter?):
            guard let next = UInt64(counter) else { throw UndecodableRecord() }
            factor = .counter(next: next)
        default: throw UndecodableRecord()
        }
        self.init(secret: secret, algorithm: algorithm, digits: digits, factor: factor)
        self.encoding = encoding
    }
}

extension PushSettings {
    /// The name of the member that has settings with key pairs in a mechanism.
    ///
    /// Version 0.1.0 knows `push` only. It reports such a mechanism as a record that it cannot read, and never takes the private key
    /// for a shared secret.
    fileprivate static let storedNameWithKeys = "pushKeys"

    fileprivate var storedName: String { serverKey == nil ? "push" : Self.storedNameWithKeys }

    fileprivate var storedMembers: [String: JSONValue] {
        var members = Dictionary(texts: [
            "registrationEndpoint": registrationEndpoint.url, "authenticationEndpoint": authenticationEndpoint.url,
            "loadBalancerCookie": loadBalancerCookie, "deskEndpoint": streamEndpoint?.url, "platform": platform,
            "frontEndpoint": gatewayEndpoint?.url, "serverKey": serverKey.map { Base64.encode($0, as: .standard) },
        ])
        if requiresPresence { members["requiresPresence"] = .bool(true) }
        return members
    }

    fileprivate init(stored members: JSONMembers, secret: Secret, hasKeys: Bool) throws {
        self.init(
            secret: secret, registrationEndpoint: try Endpoint(stored: members.text("registrationEndpoint")),
            authenticationEndpoint: try Endpoint(stored: members.text("authenticationEndpoint")),
            loadBalancerCookie: try members.optionalText("loadBalancerCookie"),
            streamEndpoint: try members.optionalText("deskEndpoint").map { try Endpoint(stored: $0) },
            platform: try members.optionalText("platform"),
            gatewayEndpoint: try members.optionalText("frontEndpoint").map { try Endpoint(stored: $0) })
        if hasKeys { serverKey = try Base64.decode(try members.text("serverKey")) }
        requiresPresence = try members.optionalBool("requiresPresence") ?? false
    }
}

// MARK: Notifications

/// A notification is stored as the claims of its message and its decision.
extension PushNotification: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members = Dictionary(texts: [
            "messageID": messageID, "decision": decision?.rawValue, "unsignedSubject": unsignedSubject,
        ])
        members["claims"] = .object(message.claims)
        members["receivedAt"] = .date(receivedAt)
        members["clockOffset"] = clockOffset.map { .number($0) }
        members["decidedAt"] = decidedAt.map { .date($0) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        let decision = try members.optionalText("decision").map { text in
            guard let decision = Decision(rawValue: text) else { throw UndecodableRecord() }
            return decision
        }
        self.init(
            messageID: try members.text("messageID"), message: try PushMessage(claims: members.object("claims").all),
            receivedAt: try members.date("receivedAt"), decision: decision,
            clockOffset: try members.optionalNumber("clockOffset"))
        decidedAt = try members.optionalNumber("decidedAt").map { Date(timeIntervalSinceReferenceDate: $0) }
        unsignedSubject = try members.optionalText("unsignedSubject")
    }
}

// MARK: Device token and answers

extension StoredDeviceToken: StoredForm {
    package var storedMembers: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "token": .string(token), "timeAdded": .date(timeAdded),
            "outstanding": .array(outstanding.sorted().map { .string($0) }),
        ]
        if !unsupported.isEmpty { members["unsupported"] = .array(unsupported.sorted().map { .string($0) }) }
        return members
    }

    package init(stored members: JSONMembers) throws {
        guard let outstanding = members["outstanding"]?.array else { throw UndecodableRecord() }
        self.init(
            token: try members.text("token"), timeAdded: try members.date("timeAdded"),
            outstanding: Set(outstanding.compactMap(\.string)),
            unsupported: Set(members["unsupported"]?.array?.compactMap(\.string) ?? []))
    }
}

extension SentAnswer: StoredForm {
    package var storedMembers: [String: JSONValue] {
        ["notificationID": .string(notificationID), "decision": .string(decision.rawValue)]
    }

    package init(stored members: JSONMembers) throws {
        guard let decision = PushNotification.Decision(rawValue: try members.text("decision")) else { throw UndecodableRecord() }
        self.init(notificationID: try members.text("notificationID"), decision: decision)
    }
}
