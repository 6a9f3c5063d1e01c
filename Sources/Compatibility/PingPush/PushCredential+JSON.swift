#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON form of the Ping SDK, but without the shared secret, which that SDK includes. A shared secret in the JSON is decoded;
/// encoding never writes one.
extension PushCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userId, resourceId, issuer, displayIssuer, accountName, displayAccountName, serverEndpoint, sharedSecret
        case createdAt, imageURL, backgroundColor, policies, lockingPolicy, isLocked, platform
    }

    /// Decodes a credential.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        self.init(
            id: try members.decode(String.self, forKey: .id), userId: try text(.userId), resourceId: try text(.resourceId),
            issuer: try members.decode(String.self, forKey: .issuer), displayIssuer: try text(.displayIssuer),
            accountName: try members.decode(String.self, forKey: .accountName),
            displayAccountName: try text(.displayAccountName),
            serverEndpoint: try members.decode(String.self, forKey: .serverEndpoint),
            sharedSecret: try text(.sharedSecret) ?? "",
            createdAt: try members.decodeIfPresent(Date.self, forKey: .createdAt), imageURL: try text(.imageURL),
            backgroundColor: try text(.backgroundColor), policies: try text(.policies),
            lockingPolicy: try text(.lockingPolicy),
            isLocked: try members.decodeIfPresent(Bool.self, forKey: .isLocked) ?? false,
            platform: try text(.platform).map { PushPlatformName(rawValue: $0) } ?? .pingAM)
    }

    /// Encodes the credential, without its secret.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(userId, forKey: .userId)
        try members.encode(resourceId, forKey: .resourceId)
        try members.encode(issuer, forKey: .issuer)
        try members.encode(displayIssuer, forKey: .displayIssuer)
        try members.encode(accountName, forKey: .accountName)
        try members.encode(displayAccountName, forKey: .displayAccountName)
        try members.encode(serverEndpoint, forKey: .serverEndpoint)
        try members.encode(createdAt, forKey: .createdAt)
        try members.encodeIfPresent(imageURL, forKey: .imageURL)
        try members.encodeIfPresent(backgroundColor, forKey: .backgroundColor)
        try members.encodeIfPresent(policies, forKey: .policies)
        try members.encodeIfPresent(lockingPolicy, forKey: .lockingPolicy)
        try members.encode(isLocked, forKey: .isLocked)
        try members.encode(platform.rawValue, forKey: .platform)
    }
}
