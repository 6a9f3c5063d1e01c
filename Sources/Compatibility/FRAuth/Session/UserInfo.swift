public import Foundation
import SignetCore
import SignetOAuth

/// The claims about a user (OpenID Connect Core section 5.1).
///
/// A claim that is absent or has another type is nil.
public final class UserInfo: NSObject, NSSecureCoding, Sendable {
    private let claims: [String: JSONValue]

    init(_ claims: [String: JSONValue]) { self.claims = claims }
    convenience init(_ info: SignetOAuth.UserInfo) { self.init(info.claims) }

    /// All claims, as the server sent them.
    public var userInfo: [String: Any] { claims.mapValues(\.any) }
    /// The user's permanent identifier at this server.
    public var sub: String? { text("sub") }
    /// The full name, to show.
    public var name: String? { text("name") }
    /// The given names.
    public var givenName: String? { text("given_name") }
    /// The family names.
    public var familyName: String? { text("family_name") }
    /// The middle names.
    public var middleName: String? { text("middle_name") }
    /// The casual name.
    public var nickName: String? { text("nickname") }
    /// The name by which the user wants to be called at this service.
    public var preferredUsername: String? { text("preferred_username") }
    /// The address of the user's profile page.
    public var profile: URL? { address("profile") }
    /// The address of a picture of the user.
    public var picture: URL? { address("picture") }
    /// The address of the user's website.
    public var website: URL? { address("website") }
    /// The email address.
    public var email: String? { text("email") }
    /// True when the server has verified that the email address is the user's.
    public var emailVerified: Bool { bool("email_verified") }
    /// The gender, as the server writes it.
    public var gender: String? { text("gender") }
    /// The date of birth, at midnight UTC.
    public var birthDate: Date? {
        text("birthdate").flatMap { try? Date($0, strategy: Date.ISO8601FormatStyle().year().month().day()) }
    }
    /// The time zone, for example `Europe/Paris`.
    public var zoneInfo: String? { text("zoneinfo") }
    /// The locale: language and country.
    public var locale: String? { text("locale") }
    /// The telephone number.
    public var phoneNumber: String? { text("phone_number") }
    /// True when the server has verified that the phone number is the user's.
    public var phoneNumberVerified: Bool { bool("phone_number_verified") }
    /// The time at which the claims last changed.
    public var updatedAt: Date? { claims["updated_at"]?.lenientInteger.map { Date(timeIntervalSince1970: Double($0)) } }
    /// The postal address.
    public var address: Address? { claims["address"]?.object.map(Address.init) }

    private func text(_ name: String) -> String? { claims[name]?.string }
    private func address(_ name: String) -> URL? { text(name).flatMap { URL(string: $0) } }
    private func bool(_ name: String) -> Bool { claims[name]?.bool ?? text(name).flatMap { Bool($0) } ?? false }

    /// The claims, with their values.
    override public var debugDescription: String { "UserInfo \(JSON.text(of: .object(claims)))" }
    /// Returns true for the same claims.
    override public func isEqual(_ object: Any?) -> Bool { (object as? UserInfo)?.claims == claims }
    /// The hash of the claims.
    override public var hash: Int { claims.hashValue }

    /// True: decoding accepts only this class.
    public static var supportsSecureCoding: Bool { true }
    /// Decodes the claims from an archive; nil when it has none.
    public convenience init?(coder: NSCoder) {
        guard let claims = Archive.members(in: coder) else { return nil }
        self.init(claims)
    }
    /// Encodes the claims for an archive.
    public func encode(with coder: NSCoder) { Archive.encode(.object(claims), in: coder) }
}

/// A postal address (OpenID Connect Core section 5.1.1).
public final class Address: NSObject, NSSecureCoding, Sendable {
    private let members: [String: JSONValue]

    init(_ members: [String: JSONValue]) { self.members = members }

    /// The whole address, formatted for a mailing label.
    public var formatted: String? { members["formatted"]?.string }
    /// Street and number.
    public var streetAddress: String? { members["street_address"]?.string }
    /// The city.
    public var locality: String? { members["locality"]?.string }
    /// The state or province.
    public var region: String? { members["region"]?.string }
    /// The postal code.
    public var postalCode: String? { members["postal_code"]?.string }
    /// The country.
    public var country: String? { members["country"]?.string }
    /// All members, as the server sent them.
    public var address: [String: Any] { members.mapValues(\.any) }

    /// The members, with their values.
    override public var debugDescription: String { "Address \(JSON.text(of: .object(members)))" }
    /// Returns true for the same members.
    override public func isEqual(_ object: Any?) -> Bool { (object as? Address)?.members == members }
    /// The hash of the members.
    override public var hash: Int { members.hashValue }

    /// True: decoding accepts only this class.
    public static var supportsSecureCoding: Bool { true }
    /// Decodes the address from an archive; nil when it has none.
    public convenience init?(coder: NSCoder) {
        guard let members = Archive.members(in: coder) else { return nil }
        self.init(members)
    }
    /// Encodes the address for an archive.
    public func encode(with coder: NSCoder) { Archive.encode(.object(members), in: coder) }
}

/// The JSON in the archive of an object.
enum Archive {
    private static let key = "json"

    static func encode(_ value: JSONValue, in coder: NSCoder) {
        coder.encode(NSData(data: Data(JSON.encode(value))), forKey: key)
    }

    static func members(in coder: NSCoder) -> [String: JSONValue]? { bytes(in: coder).flatMap { try? JSON.value(of: $0).object } }

    static func encode(_ value: some Encodable, in coder: NSCoder) {
        if let bytes = try? JSON.encode(value) { coder.encode(NSData(data: Data(bytes)), forKey: key) }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, in coder: NSCoder) -> Value? {
        bytes(in: coder).flatMap { try? JSON.decode(type, from: $0) }
    }

    private static func bytes(in coder: NSCoder) -> [UInt8]? {
        (coder.decodeObject(of: NSData.self, forKey: key)).map { Array(Data(referencing: $0)) }
    }
}
