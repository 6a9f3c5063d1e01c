import Foundation
import SignetAuthenticator

/// The JSON form of the Ping SDK, but without the shared secret, which that SDK includes. A shared secret in the JSON is decoded;
/// encoding never writes one.
extension PushCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userId, resourceId, serverEndpoint, sharedSecret, createdAt, platform
    }

    /// Decodes a credential.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        self.init(
            id: try members.decode(String.self, forKey: .id), userId: try text(.userId), resourceId: try text(.resourceId),
            serverEndpoint: try members.decode(String.self, forKey: .serverEndpoint),
            sharedSecret: try text(.sharedSecret) ?? "",
            createdAt: try members.decodeIfPresent(Date.self, forKey: .createdAt),
            platform: try text(.platform).map { PushPlatformName(rawValue: $0) } ?? .pingAM,
            details: try CredentialDetails(membersFrom: decoder))
    }

    /// Encodes the credential, without its secret.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(userId, forKey: .userId)
        try members.encode(resourceId, forKey: .resourceId)
        try members.encode(serverEndpoint, forKey: .serverEndpoint)
        try members.encode(createdAt, forKey: .createdAt)
        try details.encodeMembers(to: encoder)
        try members.encode(platform.rawValue, forKey: .platform)
    }
}
