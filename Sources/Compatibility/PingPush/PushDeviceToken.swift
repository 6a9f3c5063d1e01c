public import Foundation
import SignetCore

/// The token by which a push service addresses this device, as a ``PushStorage`` keeps it.
///
/// Two values with the same token are equal.
public struct PushDeviceToken: Codable, Identifiable, Sendable, Equatable {
    /// The id of the record.
    public let id: String
    /// The token.
    public let token: String
    /// The time at which the token was set.
    public let createdAt: Date

    /// Creates a token.
    /// - Parameters:
    ///   - id: The id of the record; nil to generate one.
    ///   - token: The token.
    ///   - createdAt: The time at which the token was set; nil for the current time.
    public init(id: String? = nil, token: String, createdAt: Date? = nil) {
        self.id = id ?? RandomID.uuid()
        self.token = token
        self.createdAt = createdAt ?? SystemWallClock().now
    }

    /// Compares the tokens only.
    public static func == (first: PushDeviceToken, second: PushDeviceToken) -> Bool { first.token == second.token }
}
