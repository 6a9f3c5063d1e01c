#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON form of the Ping SDK, but without the secret. A decoded credential can update the stored credential with the same id.
/// It cannot be saved as a new credential, because it has no secret.
extension OathCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userId, resourceId, issuer, displayIssuer, accountName, displayAccountName, oathType, oathAlgorithm, digits
        case period, counter, createdAt, imageURL, backgroundColor, policies, lockingPolicy, isLocked
    }

    /// Decodes a credential, without its secret.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        self.init(
            id: try members.decode(String.self, forKey: .id), userId: try text(.userId), resourceId: try text(.resourceId),
            issuer: try members.decode(String.self, forKey: .issuer), displayIssuer: try text(.displayIssuer),
            accountName: try members.decode(String.self, forKey: .accountName),
            displayAccountName: try text(.displayAccountName), oathType: try members.decode(OathType.self, forKey: .oathType),
            oathAlgorithm: try members.decodeIfPresent(OathAlgorithm.self, forKey: .oathAlgorithm) ?? .sha1,
            digits: try members.decodeIfPresent(Int.self, forKey: .digits) ?? 6,
            period: try members.decodeIfPresent(Int.self, forKey: .period) ?? 30,
            counter: try members.decodeIfPresent(Int.self, forKey: .counter) ?? 0,
            createdAt: try members.decodeIfPresent(Date.self, forKey: .createdAt), imageURL: try text(.imageURL),
            backgroundColor: try text(.backgroundColor), policies: try text(.policies),
            lockingPolicy: try text(.lockingPolicy),
            isLocked: try members.decodeIfPresent(Bool.self, forKey: .isLocked) ?? false, secretKey: "")
    }

    /// Encodes the credential, without its secret.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(userId, forKey: .userId)
        try members.encodeIfPresent(resourceId, forKey: .resourceId)
        try members.encode(issuer, forKey: .issuer)
        try members.encode(displayIssuer, forKey: .displayIssuer)
        try members.encode(accountName, forKey: .accountName)
        try members.encode(displayAccountName, forKey: .displayAccountName)
        try members.encode(oathType, forKey: .oathType)
        try members.encode(oathAlgorithm, forKey: .oathAlgorithm)
        try members.encode(digits, forKey: .digits)
        try members.encode(period, forKey: .period)
        try members.encode(counter, forKey: .counter)
        try members.encode(createdAt, forKey: .createdAt)
        try members.encodeIfPresent(imageURL, forKey: .imageURL)
        try members.encodeIfPresent(backgroundColor, forKey: .backgroundColor)
        try members.encodeIfPresent(policies, forKey: .policies)
        try members.encodeIfPresent(lockingPolicy, forKey: .lockingPolicy)
        try members.encode(isLocked, forKey: .isLocked)
    }
}
