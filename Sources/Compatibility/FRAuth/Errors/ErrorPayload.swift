package import SignetCore

/// A JSON object that an error carries.
///
/// It may contain secrets of a server's answer, so it can be read and not printed.
public struct ErrorPayload: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package let members: [String: JSONValue]

    /// Creates a payload from a JSON object.
    package init(_ members: [String: JSONValue]) { self.members = members }

    /// Creates a payload from a dictionary; a value that JSON can't express is left out.
    public init(_ dictionary: [String: Any]) { members = dictionary.compactMapValues { JSONValue(any: $0) } }

    /// Creates a payload from a literal.
    public init(dictionaryLiteral elements: (String, any Sendable)...) {
        self.init(Dictionary(elements.map { ($0.0, $0.1 as Any) }, uniquingKeysWith: { $1 }))
    }

    /// The members as untyped values.
    public var dictionary: [String: Any] { members.mapValues(\.any) }

    /// The member with a name; nil without it.
    public subscript(name: String) -> Any? { members[name]?.any }
}

extension ErrorPayload: CustomStringConvertible, CustomReflectable {
    /// The names of the members, without their values.
    public var description: String { "[\(members.keys.sorted().joined(separator: ", "))]" }
    /// An empty mirror, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
