/// A type that converts itself to and from a JSON object.
package protocol JSONObject {
    /// The members of the JSON object.
    var members: [String: JSONValue] { get }
    /// Creates a value from the members of a JSON object. Unknown members are ignored.
    /// - Throws: ``JSONMemberError``, or the error that the type throws for the content of a member.
    init(_ members: JSONMembers) throws
}

/// The members of a JSON object, read by name and required type.
///
/// A member that is null counts as absent.
///
/// The members are stored in a list: objects have few members, and hashing a name takes longer than comparing it with all of
/// them.
package struct JSONMembers {
    private var members: [Member] = []
    /// The names, once there are too many to compare each new one with all others.
    private var names: Set<String> = []
    /// The JSON text that contains the plain strings.
    private let text: [UInt8]

    private struct Member {
        let name: JSONSpelling
        let content: Content
    }

    enum Content {
        case text(JSONSpelling)
        case value(JSONValue)
        case members(JSONMembers)
    }

    /// Creates an empty list of members of an object in `text`.
    init(text: [UInt8]) {
        self.text = text
        members.reserveCapacity(8)
    }

    package init(_ members: [String: JSONValue]) {
        self.init(text: [])
        for (name, value) in members { self.members.append(Member(name: .string(name), content: .value(value))) }
    }

    /// Adds a member.
    ///
    /// Returns false, and adds nothing, when there is a member with this name.
    mutating func append(_ name: JSONSpelling, _ content: Content) -> Bool {
        guard isNew(name) else { return false }
        members.append(Member(name: name, content: content))
        return true
    }

    /// Returns true unless a member has this name.
    ///
    /// Comparing a few names takes less time than hashing them. Comparing many of them would take quadratic time.
    private mutating func isNew(_ name: JSONSpelling) -> Bool {
        guard members.count >= 32 else { return !members.contains { $0.name.equals(name, in: text) } }
        if names.isEmpty { names = Set(members.map { $0.name.string(in: text) }) }
        return names.insert(name.string(in: text)).inserted
    }

    package func text(_ name: String) throws(JSONMemberError) -> String { try required(name, optionalText(name)) }
    package func optionalText(_ name: String) throws(JSONMemberError) -> String? {
        guard let index = index(of: name) else { return nil }
        switch members[index].content {
        case .text(let spelling): return spelling.string(in: text)
        case .value(.string(let text)): return text
        case .value(.null): return nil
        default: throw JSONMemberError(name: name)
        }
    }
    package func integer(_ name: String) throws(JSONMemberError) -> Int { try required(name, optionalInteger(name)) }
    package func optionalInteger(_ name: String) throws(JSONMemberError) -> Int? { try optional(name) { $0.integer } }
    package func number(_ name: String) throws(JSONMemberError) -> Double { try required(name, optional(name) { $0.double }) }
    package func optionalNumber(_ name: String) throws(JSONMemberError) -> Double? { try optional(name) { $0.double } }
    package func optionalBool(_ name: String) throws(JSONMemberError) -> Bool? { try optional(name) { $0.bool } }
    package func object(_ name: String) throws(JSONMemberError) -> JSONMembers { try required(name, optionalObject(name)) }
    package func optionalObject(_ name: String) throws(JSONMemberError) -> JSONMembers? {
        guard let index = index(of: name) else { return nil }
        switch members[index].content {
        case .members(let members): return members
        case .value(.object(let members)): return JSONMembers(members)
        case .value(.null): return nil
        default: throw JSONMemberError(name: name)
        }
    }

    /// Returns the elements of an array of objects.
    package func objects(_ name: String) throws(JSONMemberError) -> [JSONMembers] {
        let elements = try required(name, optional(name) { $0.array })
        let objects = elements.compactMap { $0.object.map(JSONMembers.init) }
        guard objects.count == elements.count else { throw JSONMemberError(name: name) }
        return objects
    }

    /// The value of a member; nil when it is absent or null.
    package subscript(name: String) -> JSONValue? {
        guard let value = index(of: name).map({ value(members[$0].content) }), value != .null else { return nil }
        return value
    }

    /// All members as a dictionary.
    package var all: [String: JSONValue] {
        Dictionary(members.map { ($0.name.string(in: text), value($0.content)) }, uniquingKeysWith: { _, last in last })
    }

    /// Returns the members with other names than these.
    package func others(than names: [String]) -> [String: JSONValue] {
        var others: [String: JSONValue] = [:]
        for member in members where !names.contains(where: { member.name.equals($0, in: text) }) {
            others[member.name.string(in: text)] = value(member.content)
        }
        return others
    }

    private func index(of name: String) -> Int? { members.firstIndex { $0.name.equals(name, in: text) } }

    private func value(_ content: Content) -> JSONValue {
        switch content {
        case .text(let spelling): .string(spelling.string(in: text))
        case .value(let value): value
        case .members(let members): .object(members.all)
        }
    }

    private func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(JSONMemberError) -> Value? {
        guard let value = self[name] else { return nil }
        return try required(name, read(value))
    }

    private func required<Value>(_ name: String, _ value: Value?) throws(JSONMemberError) -> Value {
        guard let value else { throw JSONMemberError(name: name) }
        return value
    }
}

/// An error that reports a member that is missing or that can't be used.
///
/// It never contains the member's content.
package struct JSONMemberError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the member.
    package let name: String
    /// The problem, as the rest of a sentence that begins with the name.
    package let reason: String
    /// True for a valid value that this package does not support, such as another hash function.
    package let isUnsupported: Bool

    /// Creates an error.
    package init(name: String, _ reason: String = "is missing or of another type", isUnsupported: Bool = false) {
        self.name = name
        self.reason = reason
        self.isUnsupported = isUnsupported
    }

    /// Creates the error for a member whose text can't be decoded.
    package init(name: String, _ error: InvalidEncoding) {
        self.init(name: name, "can't be decoded: \(error.description)")
    }

    package var description: String { "member \(name) \(reason)" }
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
    /// Creates an object from texts.
    ///
    /// Members whose text is nil are left out.
    package init(texts: [String: String?]) {
        self = texts.compactMapValues { $0.map { .string($0) } }
    }
}
