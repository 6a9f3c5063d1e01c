import Foundation
import SignetAuthenticator
import SignetCore

/// The JSON form of the Ping SDK, but without the secret. A decoded credential can update the stored credential with the same id.
/// It cannot be saved as a new credential, because it has no secret.
extension OathCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userId, resourceId, oathType, oathAlgorithm, digits, period, counter, createdAt
    }

    /// Decodes a credential, without its secret.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        userId = try members.decodeIfPresent(String.self, forKey: .userId)
        resourceId = try members.decodeIfPresent(String.self, forKey: .resourceId)
        oathType = try members.decode(OathType.self, forKey: .oathType)
        oathAlgorithm = try members.decodeIfPresent(OathAlgorithm.self, forKey: .oathAlgorithm) ?? .sha1
        digits = try members.decodeIfPresent(Int.self, forKey: .digits) ?? 6
        period = try members.decodeIfPresent(Int.self, forKey: .period) ?? 30
        counter = try members.decodeIfPresent(Int.self, forKey: .counter) ?? 0
        createdAt = try members.decodeIfPresent(Date.self, forKey: .createdAt) ?? SystemWallClock().now
        details = try CredentialDetails(membersFrom: decoder)
        secret = nil
    }

    /// Encodes the credential, without its secret.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(userId, forKey: .userId)
        try members.encodeIfPresent(resourceId, forKey: .resourceId)
        try members.encode(oathType, forKey: .oathType)
        try members.encode(oathAlgorithm, forKey: .oathAlgorithm)
        try members.encode(digits, forKey: .digits)
        try members.encode(period, forKey: .period)
        try members.encode(counter, forKey: .counter)
        try members.encode(createdAt, forKey: .createdAt)
        try details.encodeMembers(to: encoder)
    }
}
