import Foundation
import SignetCore
import SignetStorage

// The objects that the ForgeRock SDK for iOS writes with NSKeyedArchiver, as the records of its JSON (protocol/authenticator.md
// section 7.2): the SDK gives the same values other names, and counts times in seconds.

extension LegacySDKFile.Record {
    /// Creates a record from an archived object.
    /// - Throws: ``ArchiveError`` when a member has another type than the SDK writes.
    init(_ object: ArchivedObject) throws(ArchiveError) {
        switch object.className {
        case "Account": self = .account(JSONMembers(try Self.account(object)))
        case "Mechanism", "OathMechanism", "TOTPMechanism", "HOTPMechanism", "PushMechanism":
            self = .mechanism(JSONMembers(try Self.mechanism(object)))
        case "PushNotification": self = .notification(JSONMembers(try Self.notification(object)))
        case "PushDeviceToken": self = .deviceToken
        default: self = .unknown("it is not an object of the ForgeRock SDK's authenticator")
        }
    }

    private static func account(_ object: ArchivedObject) throws(ArchiveError) -> [String: JSONValue] {
        var members = try texts(
            of: object,
            [
                "issuer": "issuer", "displayIssuer": "displayIssuer", "accountName": "accountName",
                "displayAccountName": "displayAccountName", "imageUrl": "imageURL", "backgroundColor": "backgroundColor",
                "policies": "policies", "lockingPolicy": "lockingPolicy",
            ])
        members["timeAdded"] = try milliseconds(object, "timeAdded")
        // The name of the policy remains when an account is unlocked.
        members["lock"] = try object.bool("lock").map { .bool($0) }
        return members
    }

    private static func mechanism(_ object: ArchivedObject) throws(ArchiveError) -> [String: JSONValue] {
        var members = try texts(
            of: object,
            [
                "mechanismUUID": "mechanismUID", "type": "type", "secret": "secret", "issuer": "issuer",
                "accountName": "accountName", "uid": "uid", "resourceId": "resourceId", "algorithm": "algorithm",
                "authEndpoint": "authenticationEndpoint", "regEndpoint": "registrationEndpoint", "loadBalancer": "loadBalancer",
            ])
        members["timeAdded"] = try milliseconds(object, "timeAdded")
        for name in ["digits", "period", "counter"] { members[name] = try object.integer(name).map { .integer($0) } }
        // The class decides, whatever the type says: with the wrong type, a counter would be taken for a time.
        if let type = ["TOTPMechanism": "totp", "HOTPMechanism": "hotp", "PushMechanism": "push"][object.className] {
            guard members["type"]?.string?.lowercased() == type else { throw ArchiveError("type", "is not that of the class") }
        }
        return members
    }

    private static func notification(_ object: ArchivedObject) throws(ArchiveError) -> [String: JSONValue] {
        var members = try texts(
            of: object,
            [
                "messageId": "messageId", "challenge": "challenge", "loadBalanceKey": "amlbCookie",
                "mechanismUUID": "mechanismUID", "customPayload": "customPayload", "message": "message",
                "pushType": "pushType", "numbersChallenge": "numbersChallenge", "contextInfo": "contextInfo",
            ])
        members["timeAdded"] = try milliseconds(object, "timeAdded")
        members["ttl"] = try object.number("ttl").flatMap { Int64(exactly: $0.rounded()) }.map { .integer($0) }
        for name in ["pending", "approved"] { members[name] = try object.bool(name).map { .bool($0) } }
        return members
    }

    private static func texts(
        of object: ArchivedObject, _ names: [String: String]
    ) throws(ArchiveError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (archived, name) in names { members[name] = try object.text(archived).map { .string($0) } }
        return members
    }

    private static func milliseconds(_ object: ArchivedObject, _ name: String) throws(ArchiveError) -> JSONValue? {
        guard let seconds = try object.number(name) else { return nil }
        guard let time = Int64(exactly: (seconds * 1000).rounded()) else { throw ArchiveError(name, "is not a plausible time") }
        return .integer(time)
    }
}
