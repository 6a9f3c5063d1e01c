/// A value that is a JSON object on the wire or at rest, and says itself how.
package protocol JSONObject {
    /// The members of the object.
    var members: [String: JSONValue] { get }
    /// The value again; members that it does not know are passed over.
    /// - Throws: ``JSONMemberError``, or what refuses the content of a member.
    init(_ members: JSONMembers) throws
}

/// The members of an object, by the type that each must have. A member that is null is none.
package struct JSONMembers {
    private let members: [String: JSONValue]

    package init(_ members: [String: JSONValue]) { self.members = members }

    package func text(_ name: String) throws(JSONMemberError) -> String { try required(name, optionalText(name)) }
    package func optionalText(_ name: String) throws(JSONMemberError) -> String? { try optional(name) { $0.string } }
    package func integer(_ name: String) throws(JSONMemberError) -> Int { try required(name, optionalInteger(name)) }
    package func optionalInteger(_ name: String) throws(JSONMemberError) -> Int? { try optional(name) { $0.integer } }
    package func number(_ name: String) throws(JSONMemberError) -> Double { try required(name, optional(name) { $0.double }) }
    package func optionalNumber(_ name: String) throws(JSONMemberError) -> Double? { try optional(name) { $0.double } }
    package func optionalTruth(_ name: String) throws(JSONMemberError) -> Bool? { try optional(name) { $0.bool } }
    package func object(_ name: String) throws(JSONMemberError) -> JSONMembers { try required(name, optionalObject(name)) }
    package func optionalObject(_ name: String) throws(JSONMemberError) -> JSONMembers? {
        try optional(name) { $0.object.map(JSONMembers.init) }
    }

    /// The elements of an array of objects.
    package func objects(_ name: String) throws(JSONMemberError) -> [JSONMembers] {
        let elements = try required(name, optional(name) { $0.array })
        let objects = elements.compactMap { $0.object.map(JSONMembers.init) }
        guard objects.count == elements.count else { throw JSONMemberError(name: name) }
        return objects
    }

    /// The member as it is.
    package subscript(name: String) -> JSONValue? { members[name].flatMap { $0 == .null ? nil : $0 } }

    /// All members as they are.
    package var all: [String: JSONValue] { members }

    private func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(JSONMemberError) -> Value? {
        guard let value = self[name] else { return nil }
        return try required(name, read(value))
    }

    private func required<Value>(_ name: String, _ value: Value?) throws(JSONMemberError) -> Value {
        guard let value else { throw JSONMemberError(name: name) }
        return value
    }
}

/// A member is missing or is of another type.
package struct JSONMemberError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its name.
    package let name: String

    package init(name: String) { self.name = name }

    package var description: String { "member \(name) is missing or of another type" }
}

extension JSONValue {
    fileprivate var integer: Int? {
        if case .integer(let value) = self { Int(exactly: value) } else { nil }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension [String: JSONValue] {
    /// An object without the members that have no text.
    package init(texts: [String: String?]) {
        self = texts.compactMapValues { $0.map { .string($0) } }
    }
}
