import SignetCore
import YAMLText

/// A type of node in a configuration file. It reads the properties of a node and creates the node.
struct NodeType: Sendable {
    /// The name of the type in AM, for example `DataStoreDecisionNode`.
    let name: String
    /// The name of the type in AM's editor, for example `Data Store Decision`.
    let title: String
    /// The description of the node, for the documentation.
    let about: String
    /// Reads the properties. A property with a wrong value is reported and treated as absent, so the result is always a node.
    let read: @Sendable (inout SectionReader, NodeContext) -> DecodedNode

    init(
        _ name: String, _ title: String, _ about: String,
        _ read: @escaping @Sendable (inout SectionReader, NodeContext) -> DecodedNode
    ) {
        self.name = name
        self.title = title
        self.about = about
        self.read = read
    }

    /// Creates a node type whose properties configure the node.
    static func node(
        _ name: String, _ title: String, _ about: String, _ read: @escaping @Sendable (inout SectionReader) -> any Node
    ) -> NodeType {
        NodeType(name, title, about) { reader, _ in .node(read(&reader)) }
    }

    /// Creates the type of a collector, which asks for something and can be on a page.
    static func collector(
        _ name: String, _ title: String, _ about: String, _ read: @escaping @Sendable (inout SectionReader) -> any Collector
    ) -> NodeType {
        NodeType(name, title, about) { reader, _ in .collectors([read(&reader)]) }
    }

    /// Returns the type with a name; nil when it does not exist.
    static func named(_ name: String) -> NodeType? { all.first { $0.name == name } }

    /// All types, in the order of the documentation.
    static let all: [NodeType] = [page] + collectors + decisions + people + codes + push + devices + endings
}

/// The result of reading a node.
enum DecodedNode: Sendable {
    case node(any Node)
    /// A node with a reported mistake that makes its outcomes unknown.
    case incomplete(any Node)
    /// Collectors, which can be on a page with others.
    case collectors([any Collector])
}

/// The parts of the file that the properties of a node refer to.
struct NodeContext: Sendable {
    /// The definitions of the attributes, by name.
    var attributes = AttributeDefinition.standard
}

/// The definition of an attribute, which applies to every node that asks for it.
struct AttributeDefinition: Sendable, Hashable {
    var title: String
    var kind = AttributeCollector.Kind.text
    var policies: [AttributePolicy] = []

    /// The attributes of AM's identity management.
    static let standard: [String: AttributeDefinition] = [
        "userName": AttributeDefinition(
            title: "Username", policies: [.required, .minimumLength(3), .maximumLength(64), .unique]),
        "password": AttributeDefinition(
            title: "Password", policies: [.required, .minimumLength(8), .capitals(1), .digits(1)]),
        "givenName": AttributeDefinition(title: "First Name"), "sn": AttributeDefinition(title: "Last Name"),
        "mail": AttributeDefinition(title: "Email Address", policies: [.emailAddress]),
    ]

    /// Returns the definition of an attribute that the file does not define: a text.
    static func plain(_ name: String) -> AttributeDefinition { AttributeDefinition(title: name) }
}

extension AttributePolicy {
    /// The policies that a file can name. Their limits are placeholders.
    private static let named: [AttributePolicy] = [
        .required, .unique, .emailAddress, .minimumLength(0), .maximumLength(0), .capitals(0), .digits(0), .minimum(0),
        .maximum(0),
    ]

    /// The names of the policies.
    static let ids = named.map(\.id)

    /// Creates a policy from its name in AM. The result is nil when the name is unknown, or when a required limit is missing or
    /// an unexpected one is given.
    init?(id: String, limit: Int?) {
        guard let policy = Self.named.first(where: { $0.id == id })?.with(limit) else { return nil }
        self = policy
    }

    private func with(_ limit: Int?) -> AttributePolicy? {
        switch (self, limit) {
        case (.required, nil), (.unique, nil), (.emailAddress, nil): self
        case (.minimumLength, let limit?): .minimumLength(limit)
        case (.maximumLength, let limit?): .maximumLength(limit)
        case (.capitals, let limit?): .capitals(limit)
        case (.digits, let limit?): .digits(limit)
        case (.minimum, let limit?): .minimum(Double(limit))
        case (.maximum, let limit?): .maximum(Double(limit))
        default: nil
        }
    }
}

extension SectionReader {
    /// Reads a list of policies: `not-empty`, or `minimum-length: 8`.
    mutating func policies(_ name: String) -> [AttributePolicy] {
        elements(name, kind: "a list of policies").compactMap { element in
            let pair = element.mapping.flatMap { $0.count == 1 ? $0.first : nil }
            let id = pair?.key ?? element.text ?? ""
            if let policy = AttributePolicy(id: id, limit: pair?.value.wholeNumber) { return policy }
            let message =
                if !AttributePolicy.ids.contains(id) {
                    "there is no policy `\(id.shortened)`" + AttributePolicy.ids.advice(for: id, "there are")
                } else if AttributePolicy(id: id, limit: nil) != nil {
                    "the policy `\(id)` has no limit: write `\(id)` alone"
                } else {
                    "the policy `\(id)` needs a whole number, without quotes: `\(id): 8`"
                }
            note(element.place, message)
            return nil
        }
    }
}
