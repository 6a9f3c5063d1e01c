public import Foundation
import SignetCore
import SignetStorage

/// A passkey in a vault, without its private key.
public struct Passkey: Sendable, Hashable, Identifiable {
    /// The credential ID, 32 random bytes.
    public let id: [UInt8]
    /// The ID of the relying party: the domain for which the passkey is valid.
    public let relyingPartyID: String
    /// The name of the relying party, for display.
    public let relyingPartyName: String
    /// The user handle: the server's ID of the user, at most 64 bytes.
    public let userID: [UInt8]
    /// The user's name on the server.
    public let userName: String
    /// The user's name, for display.
    public let displayName: String
    /// The algorithm of the key.
    public let algorithm: PasskeyAlgorithm
    /// The creation time.
    public let createdAt: Date
    /// The time of the last signature; nil before the first one.
    public internal(set) var lastUsedAt: Date?
    /// The number of signatures: the signature counter of the passkey (WebAuthn Level 2 section 6.1.1).
    public internal(set) var signatureCount: UInt32 = 0

    /// The credential ID in Base64url, as servers and browsers write it.
    public var idText: String { Base64.encode(id, as: .url) }
}

/// A passkey with its private key, in its stored form (docs/reference/passkeys.md).
struct StoredPasskey: Sendable {
    private(set) var passkey: Passkey
    let key: PasskeyKey
    /// The members of the record that this version doesn't know, and keeps.
    private let others: [String: JSONValue]

    private static let version: JSONValue = .integer(1)
    private static let names: Set<String> = [
        "version", "id", "relyingParty", "relyingPartyName", "userID", "userName", "displayName", "algorithm", "createdAt",
        "lastUsedAt", "signatures", "key",
    ]

    init(_ passkey: Passkey, _ key: PasskeyKey) {
        (self.passkey, self.key) = (passkey, key)
        others = [:]
    }

    /// Reads a record.
    /// - Throws: `StoreError` with the code `corrupt` for content of another form, and `newerFormat` for a later version.
    init(_ bytes: [UInt8]) throws(StoreError) {
        let json = (try? JSON.value(of: bytes))?.object ?? [:]
        guard json["version"] == Self.version else { throw PasskeyRecords.unreadable(json["version"]) }
        func decoded(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { try? Base64.decode($0) } }
        guard let id = decoded("id"), !id.isEmpty, let party = json["relyingParty"]?.string, !party.isEmpty,
            let userID = decoded("userID"), let name = json["userName"]?.string,
            case .integer(let number)? = json["algorithm"], let algorithm = PasskeyAlgorithm(rawValue: Int(clamping: number)),
            let createdAt = json["createdAt"]?.double, case .integer(let count)? = json["signatures"],
            let signatures = UInt32(exactly: count), let scalar = decoded("key"), let key = PasskeyKey(algorithm, Secret(scalar))
        else { throw PasskeyRecords.unreadable(nil) }
        passkey = Passkey(
            id: id, relyingPartyID: party, relyingPartyName: json["relyingPartyName"]?.string ?? "", userID: userID,
            userName: name, displayName: json["displayName"]?.string ?? "", algorithm: algorithm,
            createdAt: Date(timeIntervalSinceReferenceDate: createdAt),
            lastUsedAt: json["lastUsedAt"]?.double.map { Date(timeIntervalSinceReferenceDate: $0) }, signatureCount: signatures)
        self.key = key
        others = json.filter { !Self.names.contains($0.key) }
    }

    /// The content of the record.
    var bytes: [UInt8] {
        var members = others
        members["version"] = Self.version
        members["id"] = .string(passkey.idText)
        members["relyingParty"] = .string(passkey.relyingPartyID)
        members["relyingPartyName"] = .string(passkey.relyingPartyName)
        members["userID"] = .string(Base64.encode(passkey.userID, as: .url))
        members["userName"] = .string(passkey.userName)
        members["displayName"] = .string(passkey.displayName)
        members["algorithm"] = .integer(Int64(passkey.algorithm.rawValue))
        members["createdAt"] = .number(passkey.createdAt.timeIntervalSinceReferenceDate)
        members["lastUsedAt"] = passkey.lastUsedAt.map { .number($0.timeIntervalSinceReferenceDate) }
        members["signatures"] = .integer(Int64(passkey.signatureCount))
        members["key"] = .string(Base64.encode(key.secret.bytes, as: .url))
        return JSON.encode(.object(members))
    }

    /// Counts a signature.
    /// - Parameter now: The current time.
    /// - Returns: False when the counter has its highest value; nothing is changed then.
    mutating func countSignature(at now: Date) -> Bool {
        guard passkey.signatureCount < .max else { return false }
        passkey.signatureCount += 1
        passkey.lastUsedAt = now
        return true
    }
}
