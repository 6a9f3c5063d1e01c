public import Foundation
import SignetAuthenticator
import SignetCore

/// The push token, by which the push service addresses this device.
public final class PushDeviceToken: Sendable, Hashable, Codable {
    /// The token as a string.
    public var tokenId: String { stored.token }
    /// The time at which the app got the token.
    public var timeAdded: Date { stored.timeAdded }
    /// The token as the engine stores it, with the mechanisms that still need it.
    let stored: StoredDeviceToken

    /// Creates a token that came from the system.
    public convenience init(tokenId: String, timeAdded: Date) {
        self.init(StoredDeviceToken(token: tokenId, timeAdded: timeAdded))
    }

    init(_ stored: StoredDeviceToken) {
        self.stored = stored
    }

    /// Returns true when two tokens have the same string and the same time.
    public static func == (left: PushDeviceToken, right: PushDeviceToken) -> Bool {
        left.tokenId == right.tokenId && left.timeAdded == right.timeAdded
    }

    /// Hashes the token.
    public func hash(into hasher: inout Hasher) { hasher.combine(tokenId) }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["tokenId": .string(tokenId)]
        members["timeAdded"] = .integer(Int64(timeAdded.timeIntervalSince1970.rounded(.down)))
        // Members that only this SDK has.
        for (name, uids) in [("outstanding", stored.outstanding), ("unsupported", stored.unsupported)]
        where !uids.isEmpty {
            members[name] = .array(uids.sorted().map { .string($0) })
        }
        if stored.isUnsent { members["untold"] = .bool(true) }
        return members
    }

    private static func stored(_ members: JSONMembers) throws -> StoredDeviceToken {
        guard let seconds = members["timeAdded"]?.wholeNumber else { throw JSONMemberError(name: "timeAdded") }
        func uids(_ name: String) -> Set<String> { Set(members[name]?.array?.compactMap(\.string) ?? []) }
        var stored = StoredDeviceToken(
            token: try members.text("tokenId"), timeAdded: Date(timeIntervalSince1970: Double(seconds)),
            outstanding: uids("outstanding"), unsupported: uids("unsupported"))
        stored.isUnsent = try members.optionalTruth("untold") ?? false
        return stored
    }

    /// Returns the token as JSON text, in the form of the ForgeRock SDK for iOS: `timeAdded` is in seconds since 1970.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads a token from the output of ``toJson()``.
    /// - Throws: `DecodingError`.
    public static func fromJson(_ json: String) throws -> PushDeviceToken {
        PushDeviceToken(try LegacyJSON.read("push device token", json, stored))
    }

    /// Writes the members of ``toJson()``.
    public func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// Reads the members of ``toJson()``.
    /// - Throws: `DecodingError`.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try LegacyJSON.read("push device token", from: decoder, Self.stored))
    }
}
