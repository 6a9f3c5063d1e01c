import Foundation
import SignetAuthenticator
import SignetCore

/// The JSON form of the Ping SDK.
///
/// It contains the shared secret when the app itself has given the secret, or keeps the credential in its own ``PushStorage``. The
/// JSON of a credential that a client has read from a vault has no secret.
extension PushCredential: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userId, resourceId, serverEndpoint, sharedSecret, createdAt, platform
        // Not of the Ping SDK; written only when they do not follow from `serverEndpoint`.
        case registrationEndpoint, authenticationEndpoint
    }

    /// Decodes a credential.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        let server = try members.decode(String.self, forKey: .serverEndpoint)
        let secret = try text(.sharedSecret)
        self.init(
            id: try members.decode(String.self, forKey: .id), userId: try text(.userId), resourceId: try text(.resourceId),
            registrationEndpoint: try text(.registrationEndpoint) ?? server + "?_action=register",
            authenticationEndpoint: try text(.authenticationEndpoint) ?? server + "?_action=authenticate",
            createdAt: try members.decodeIfPresent(Date.self, forKey: .createdAt) ?? SystemWallClock().now,
            platformName: try text(.platform) ?? AccessManagerPlatform.name, details: try CredentialDetails(membersFrom: decoder),
            encodedSecret: Secret(text: secret ?? ""))
        secretCoding = secret == nil ? .excluded : .included
    }

    /// Encodes the credential.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encodeIfPresent(userId, forKey: .userId)
        try members.encode(resourceId, forKey: .resourceId)
        try members.encode(serverEndpoint, forKey: .serverEndpoint)
        for (address, action, key) in [
            (registrationEndpoint, "register", CodingKeys.registrationEndpoint),
            (authenticationEndpoint, "authenticate", .authenticationEndpoint),
        ] where address != "\(serverEndpoint)?_action=\(action)" {
            try members.encode(address, forKey: key)
        }
        if secretCoding.isIncluded { try members.encode(encodedSecret.text, forKey: .sharedSecret) }
        try members.encode(createdAt, forKey: .createdAt)
        try details.encodeMembers(to: encoder)
        try members.encode(platformName, forKey: .platform)
    }
}

/// The rule for the shared secret in the JSON form of a credential.
///
/// It does not belong to a credential's identity: all values are equal.
struct SecretCoding: Hashable, Sendable {
    let isIncluded: Bool

    static let included = SecretCoding(isIncluded: true)
    static let excluded = SecretCoding(isIncluded: false)

    static func == (first: SecretCoding, second: SecretCoding) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
