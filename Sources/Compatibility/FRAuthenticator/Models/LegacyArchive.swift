import Foundation
import SignetCore

/// The keys under which the models are archived: those of the ForgeRock SDK for iOS, and then those that only this SDK has.
///
/// A model is archived from the members of its JSON, and read with the reader of its JSON.
struct LegacyArchive: Sendable {
    private let keys: [Key]

    /// A key of the archive, the member that it stands for, and the form of the value.
    private struct Key: Sendable {
        let name: String
        let member: String
        let form: Form

        init(_ name: String, _ member: String? = nil, _ form: Form) {
            (self.name, self.member, self.form) = (name, member ?? name, form)
        }
    }

    private enum Form: Sendable {
        case text, integer, number, bool
        /// A member of any type, as JSON text.
        case json
        /// A time: seconds since 1970 in the archive, and milliseconds in the JSON.
        case seconds
    }

    static let account = LegacyArchive(keys: [
        Key("issuer", nil, .text), Key("displayIssuer", nil, .text), Key("accountName", nil, .text),
        Key("displayAccountName", nil, .text),
        Key("imageUrl", "imageURL", .text), Key("backgroundColor", nil, .text), Key("timeAdded", nil, .seconds),
        Key("policies", nil, .text),
        Key("lockingPolicy", nil, .text), Key("lock", nil, .bool),
    ])

    static let mechanism = LegacyArchive(keys: [
        Key("mechanismUUID", "mechanismUID", .text), Key("type", nil, .text), Key("version", nil, .integer),
        Key("secret", nil, .text),
        Key("issuer", nil, .text), Key("accountName", nil, .text), Key("uid", nil, .text), Key("resourceId", nil, .text),
        Key("timeAdded", nil, .seconds), Key("algorithm", nil, .text), Key("digits", nil, .integer),
        Key("counter", nil, .integer),
        Key("period", nil, .integer), Key("authEndpoint", "authenticationEndpoint", .text),
        Key("regEndpoint", "registrationEndpoint", .text), Key("messageId", nil, .text), Key("challenge", nil, .text),
        Key("loadBalancer", nil, .text),
        // A counter that is too large for the key of the ForgeRock SDK is text under this one.
        Key("counterText", "counter", .text), Key("deskEndpoint", nil, .text), Key("frontEndpoint", nil, .text),
        Key("platform", nil, .text),
    ])

    static let notification = LegacyArchive(keys: [
        Key("messageId", nil, .text), Key("challenge", nil, .text), Key("loadBalanceKey", "amlbCookie", .text),
        Key("ttl", nil, .number),
        Key("mechanismUUID", "mechanismUID", .text), Key("timeAdded", nil, .seconds), Key("pending", nil, .bool),
        Key("approved", nil, .bool), Key("customPayload", nil, .text), Key("message", nil, .text), Key("pushType", nil, .text),
        Key("numbersChallenge", nil, .text), Key("contextInfo", nil, .text),
        Key("receivedAt", nil, .number), Key("claims", nil, .json), Key("clockOffset", nil, .number),
    ])

    static let deviceToken = LegacyArchive(keys: [
        Key("tokenId", nil, .text), Key("timeAdded", nil, .number), Key("outstanding", nil, .json),
        Key("unsupported", nil, .json),
        Key("untold", nil, .bool),
    ])

    /// Archives the members of a model; a member that is null or absent has no value.
    /// - Parameters:
    ///   - members: The members of the model's JSON.
    ///   - times: The times of the model with their full precision.
    ///   - coder: The archiver.
    func write(_ members: [String: JSONValue], _ times: [(String, Date)] = [], to coder: NSCoder) {
        for key in keys {
            guard let value = members[key.member], value != .null else { continue }
            switch key.form {
            case .text: if let text = value.string { coder.encode(text as NSString, forKey: key.name) }
            case .integer:
                if let number = value.lenientInteger, value.string == nil { coder.encode(Int(number), forKey: key.name) }
            case .number: if let number = value.amount { coder.encode(number, forKey: key.name) }
            case .bool: if let bool = value.bool { coder.encode(bool, forKey: key.name) }
            case .json: coder.encode(JSON.text(of: value) as NSString, forKey: key.name)
            case .seconds: continue
            }
        }
        for (name, time) in times { coder.encode(time.timeIntervalSince1970, forKey: name) }
    }

    /// Returns the members that an archive has.
    func read(_ coder: NSCoder) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for key in keys where coder.containsValue(forKey: key.name) {
            switch key.form {
            case .text: members[key.member] = text(key.name, coder).map { .string($0) }
            case .integer: members[key.member] = .integer(Int64(coder.decodeInteger(forKey: key.name)))
            case .number: members[key.member] = .number(coder.decodeDouble(forKey: key.name))
            case .bool: members[key.member] = .bool(coder.decodeBool(forKey: key.name))
            case .json: members[key.member] = text(key.name, coder).flatMap { try? JSON.value(of: $0.utf8) }
            case .seconds: members[key.member] = .number(coder.decodeDouble(forKey: key.name) * 1000)
            }
        }
        return members
    }

    private func text(_ name: String, _ coder: NSCoder) -> String? {
        coder.decodeObject(of: NSString.self, forKey: name).map { String($0) }
    }
}

extension JSONValue {
    /// The number when this value is one, whole or not; otherwise nil.
    var amount: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
