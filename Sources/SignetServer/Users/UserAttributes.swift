import SignetCore

/// The attributes of a user in the terms of AM's identity management: `mail`, `preferences/marketing`.
///
/// A standard claim of OpenID Connect and its attribute are one value. All other attributes of a journey are stored with the user
/// and are not disclosed as claims.
enum UserAttributes {
    /// The OpenID Connect claims of the attributes.
    static let claims = [
        "mail": "email", "givenName": "given_name", "sn": "family_name", "telephoneNumber": "phone_number", "displayName": "name",
    ]

    /// The attribute that is the user's name.
    static let userName = "userName"

    /// All names of the attribute that is the user's name.
    static let userNames: Set = [userName, "username", "uid", "_id"]

    /// Splits a path, with or without a slash at its start, into the names of its members.
    static func names(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }
}

extension UserRecord {
    /// Returns the value of an attribute; nil when the user has none.
    ///
    /// The password is never a value (``Directory/hasPassword(_:)``).
    /// - Parameter path: The name of the attribute, or names separated by slashes: `preferences/marketing`.
    /// - Returns: The value, or nil.
    func attribute(_ path: String) -> JSONValue? {
        let names = UserAttributes.names(path)
        guard let first = names.first else { return nil }
        var value: JSONValue?
        if UserAttributes.userNames.contains(first) {
            value = .string(user.name)
        } else if first == "accountStatus" {
            value = .string(isLocked ? "inactive" : "active")
        } else {
            value = attributes?[first] ?? claims[UserAttributes.claims[first] ?? first]
        }
        for name in names.dropFirst() { value = value?[name] }
        return value == .null ? nil : value
    }
}

extension ConfigurationDecoder {
    /// Decodes the attribute that identifies the user of a journey without a name.
    mutating func identityAttribute() -> String { string("identityAttribute", UserAttributes.userName) }
}

extension JSONValue {
    /// Returns the object with a member in it or in one of its members.
    ///
    /// Members on the path that are absent or not objects become objects.
    /// - Parameters:
    ///   - value: The value of the member.
    ///   - path: The names of the members.
    /// - Returns: The object with the member.
    func setting(_ value: JSONValue, at path: ArraySlice<String>) -> JSONValue {
        guard let first = path.first else { return value }
        var members = object ?? [:]
        members[first] = (members[first] ?? .null).setting(value, at: path.dropFirst())
        return .object(members)
    }
}

extension Directory {
    /// The maximum number of users among which a user is looked for by an attribute.
    private static var maxSearched: Int { 10_000 }

    /// Returns the only user of a realm whose attribute has a value.
    ///
    /// Case is ignored, and spaces around the value, as in AM. It is nil when no user has the value, and when several have it. At most
    /// 10,000 users are searched.
    /// - Parameters:
    ///   - attribute: The name or the path of the attribute.
    ///   - value: The value.
    ///   - realm: The realm of the user.
    /// - Returns: The user, or nil.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func user(with attribute: String, _ value: String, in realm: RealmPath) throws -> UserKey? {
        guard !UserAttributes.userNames.contains(attribute) else { return try user(named: value, in: realm) }
        let wanted = value.trimming(" ").lowercased()
        guard !wanted.isEmpty else { return nil }
        let found = try users(Self.maxSearched).filter { user in
            guard user.realm == realm else { return false }
            return try self[user]?.attribute(attribute)?.string?.trimming(" ").lowercased() == wanted
        }
        return found.count == 1 ? found.first : nil
    }

    /// Stores an attribute of a user: a standard claim as such, and any other value among the attributes.
    /// - Parameters:
    ///   - value: The value.
    ///   - path: The name or the path of the attribute.
    ///   - user: The user. A user that does not exist stays absent.
    /// - Throws: The error of a row that cannot be read, or of the store.
    mutating func setAttribute(_ value: JSONValue, at path: String, of user: UserKey) throws {
        let names = UserAttributes.names(path)
        guard let first = names.first, !UserAttributes.userNames.contains(first) else { return }
        if names.count == 1, let claim = UserAttributes.claims[first] { return try merge([claim: value], into: user) }
        try update(user) { record in
            record.attributes = JSONValue.object(record.attributes ?? [:]).setting(value, at: names[...]).object
        }
    }

    /// Adds one to the number of the user's logins.
    mutating func countLogin(of user: UserKey) throws { try update(user) { $0.loginCount = ($0.loginCount ?? 0) + 1 } }

    /// Returns the user of a journey: that of its name, or without one the user that a collected attribute identifies.
    /// - Parameters:
    ///   - journey: The state of the journey.
    ///   - attribute: The attribute (`identityAttribute` in AM).
    /// - Returns: An existing user; nil for none.
    /// - Throws: The error of a row that cannot be read, or of the store.
    func user(of journey: JourneyState, by attribute: String) throws -> UserKey? {
        if let user = journey.user { return try contains(user) ? user : nil }
        guard let value = journey.attributes[attribute]?.string else { return nil }
        return try user(with: attribute, value, in: journey.realm)
    }
}
