import HTTPTypes
import SignetCore

/// The documents of AM about users: attributes of LDAP, each a list of texts.
enum UserDocument {
    /// AM's response for a user that does not exist.
    static let notFound = APIError(.notFound, "Resource cannot be found.")

    /// The members that are not attributes, or that the server makes itself.
    private static let own: Set = [
        "_id", "_rev", "username", "realm", "uid", "universalid", "dn", "objectclass", "createtimestamp", "userpassword",
        "inetuserstatus", "roles",
    ]

    /// The attributes with another name in LDAP, by that name.
    private static let names = ["cn": "displayName"]

    /// Returns the document of a user, without the password and the answers to security questions.
    static func value(of user: UserRecord) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for (name, claim) in UserAttributes.claims { members[name] = user.claims[claim].map(list) }
        for (name, value) in user.attributes ?? [:] where value.isText { members[name] = list(value) }
        members["cn"] = members["displayName"] ?? list(.string(user.user.name))
        members["displayName"] = nil
        members.merge([
            "_id": .string(user.user.name), "username": .string(user.user.name),
            "realm": .string(user.user.realm.description), "uid": list(.string(user.user.name)),
            "universalid": list(.string(user.user.universalID)), "dn": list(.string(user.user.universalID)),
            "inetUserStatus": list(.string(user.isLocked ? "Inactive" : "Active")),
        ]) { $1 }
        return .object(members.mapValues(\.withoutSecrets))
    }

    private static func list(_ value: JSONValue) -> JSONValue { value.array == nil ? .array([value]) : value }

    /// The changes of a user that a document asks for.
    struct Changes: Sendable {
        let password: Secret?
        /// True to lock the user; nil to keep the user as it is.
        let isLocked: Bool?
        let attributes: [String: JSONValue]

        init(_ document: JSONValue) {
            let members = document.object ?? [:]
            func text(_ name: String) -> String? {
                let value = members.first { $0.key.lowercased() == name }?.value
                return (value?.array?.first ?? value)?.string
            }
            password = text("userpassword").flatMap { $0.isEmpty ? nil : Secret($0.utf8) }
            isLocked = text("inetuserstatus").map { $0.lowercased() != "active" }
            var attributes: [String: JSONValue] = [:]
            for (name, value) in members where !UserDocument.own.contains(name.lowercased()) && !name.hasPrefix("_") {
                // A list of one text is that text, because an attribute here is a value.
                let single = value.array.map { $0.count == 1 ? $0[0] : value } ?? value
                guard single != .null else { continue }
                attributes[UserDocument.names[name] ?? name] = single
            }
            self.attributes = attributes
        }
    }
}

extension JSONValue {
    /// True for a text and for a list of texts.
    fileprivate var isText: Bool { string != nil || (array?.allSatisfy { $0.string != nil } ?? false) }
}

extension ServerTransaction {
    /// Changes a user that exists as a document of AM asks for, except the password.
    mutating func apply(_ changes: UserDocument.Changes, to user: UserKey) throws {
        if let isLocked = changes.isLocked {
            try directory.setLocked(isLocked, user)
            if !isLocked { try lockouts.clearAll(user) }
        }
        for (name, value) in changes.attributes.sorted(by: { $0.key < $1.key }) where !name.contains("/") {
            try directory.setAttribute(value, at: name, of: user)
        }
    }
}
