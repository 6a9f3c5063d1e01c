public import Foundation
import SignetCore
import SignetOAuth

/// The claims about a user (OpenID Connect Core section 5.1).
///
/// A claim that is absent or has another type is nil.
public struct UserInfo: Sendable, Hashable {
    private let claims: [String: JSONValue]

    init(_ info: SignetOAuth.UserInfo) { claims = info.claims }

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
    public var nickname: String? { text("nickname") }
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
    public var emailVerified: Bool? { truth("email_verified") }
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
    public var phoneNumberVerified: Bool? { truth("phone_number_verified") }
    /// The time at which the claims last changed.
    public var updatedAt: Date? { claims["updated_at"]?.wholeNumber.map { Date(timeIntervalSince1970: Double($0)) } }
    /// The postal address.
    public var address: Address? { claims["address"]?.object.map(Address.init) }

    private func text(_ name: String) -> String? { claims[name]?.string }
    private func address(_ name: String) -> URL? { text(name).flatMap { URL(string: $0) } }
    private func truth(_ name: String) -> Bool? { claims[name]?.bool ?? text(name).flatMap { Bool($0) } }
}

/// A postal address (OpenID Connect Core section 5.1.1).
public struct Address: Sendable, Hashable {
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
}
