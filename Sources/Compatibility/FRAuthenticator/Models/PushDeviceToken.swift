public import Foundation
import SignetAuthenticator
import SignetCore

/// The push token, by which the push service addresses this device.
///
/// Two tokens are equal when they have the same text and the same time.
public final class PushDeviceToken: NSObject, NSSecureCoding, Codable, Sendable {
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

    /// Creates a token that came from the system just now.
    public convenience init(tokenId: String) { self.init(tokenId: tokenId, timeAdded: SystemWallClock().now) }

    init(_ stored: StoredDeviceToken) {
        self.stored = stored
        super.init()
    }

    /// Returns true when another object is a token with the same text and the same time.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? PushDeviceToken else { return false }
        return tokenId == other.tokenId && timeAdded == other.timeAdded
    }

    /// The hash of the token.
    public override var hash: Int { tokenId.hashValue }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["tokenId": .string(tokenId)]
        members["timeAdded"] = .number(timeAdded.timeIntervalSince1970)
        // Members that only this SDK has.
        for (name, uids) in [("outstanding", stored.outstanding), ("unsupported", stored.unsupported)]
        where !uids.isEmpty {
            members[name] = .array(uids.sorted().map { .string($0) })
        }
        if stored.isUnsent { members["untold"] = .bool(true) }
        return members
    }

    private static func stored(_ members: JSONMembers) throws -> StoredDeviceToken {
        guard let time = members["timeAdded"]?.amount else { throw JSONMemberError(name: "timeAdded") }
        // The SDK for iOS writes seconds. The SDK for Android writes milliseconds, which as seconds would be in the far future.
        let seconds = abs(time) < 100_000_000_000 ? time : time / 1000
        func uids(_ name: String) -> Set<String> { Set(members[name]?.array?.compactMap(\.string) ?? []) }
        var stored = StoredDeviceToken(
            token: try members.text("tokenId"), timeAdded: Date(timeIntervalSince1970: seconds),
            outstanding: uids("outstanding"), unsupported: uids("unsupported"))
        stored.isUnsent = try members.optionalBool("untold") ?? false
        return stored
    }

    /// Returns the token as JSON text, in the form of the ForgeRock SDK for iOS: `timeAdded` is in seconds since 1970, with their
    /// fraction.
    public func toJson() -> String? { LegacyJSON.text(of: members) }

    /// Reads a token from the output of ``toJson()``, in the iOS or the Android form, which has milliseconds.
    /// - Throws: `DecodingError`, also for a time that isn't a number.
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

    // MARK: NSSecureCoding

    /// True: an unarchiver can require the class.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the token under the keys of the ForgeRock SDK for iOS.
    public func encode(with coder: NSCoder) { LegacyArchive.deviceToken.write(members, to: coder) }

    /// Reads a token from an archive of this SDK or of the ForgeRock SDK for iOS; nil when a value is missing or damaged.
    public convenience init?(coder: NSCoder) {
        guard let stored = try? Self.stored(JSONMembers(LegacyArchive.deviceToken.read(coder))) else { return nil }
        self.init(stored)
    }
}
