import SignetCore
import SignetJourney

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a server says about a person (OpenID Connect Core section 5.1). A claim that is absent, or of another type, is nil.
public struct UserInfo: Sendable, Hashable {
    private let claims: [String: JSONValue]

    init(_ info: SignetJourney.UserInfo) { claims = info.claims }

    /// Every claim as it came.
    public var userInfo: [String: Any] { LegacyJSON.dictionary(.object(claims)) }
    /// Who it is, at this server and for ever.
    public var sub: String? { text("sub") }
    /// The name to show.
    public var name: String? { text("name") }
    /// The given names.
    public var givenName: String? { text("given_name") }
    /// The family names.
    public var familyName: String? { text("family_name") }
    /// The middle names.
    public var middleName: String? { text("middle_name") }
    /// The casual name.
    public var nickname: String? { text("nickname") }
    /// The name that the person wants to be called by at this service.
    public var preferredUsername: String? { text("preferred_username") }
    /// The person's page.
    public var profile: URL? { address("profile") }
    /// A picture of the person.
    public var picture: URL? { address("picture") }
    /// The person's own site.
    public var website: URL? { address("website") }
    /// The address for e-mail.
    public var email: String? { text("email") }
    /// Whether that address was seen to be the person's.
    public var emailVerified: Bool? { truth("email_verified") }
    /// The gender, in the server's words.
    public var gender: String? { text("gender") }
    /// The birthday at midnight UTC.
    public var birthDate: Date? {
        text("birthdate").flatMap { try? Date($0, strategy: Date.ISO8601FormatStyle().year().month().day()) }
    }
    /// The time zone, for example `Europe/Paris`.
    public var zoneInfo: String? { text("zoneinfo") }
    /// The language and country.
    public var locale: String? { text("locale") }
    /// The telephone number.
    public var phoneNumber: String? { text("phone_number") }
    /// Whether that number was seen to be the person's.
    public var phoneNumberVerified: Bool? { truth("phone_number_verified") }
    /// When what is said here was changed last.
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

    /// The whole address, as on a label.
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
