import SignetCore
import YAMLText

/// A type of node as a file names it: its properties, and what it makes of them.
struct NodeType: Sendable {
    /// AM's name, for example `DataStoreDecisionNode`.
    let name: String
    /// What AM's editor calls it, for example `Data Store Decision`.
    let title: String
    /// What it does, for the documentation.
    let about: String
    /// Reads the properties. A wrong one is noted and counts as not given, so there is always a node.
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

    /// A node type whose properties tell the node what to do.
    static func node(
        _ name: String, _ title: String, _ about: String, _ read: @escaping @Sendable (inout SectionReader) -> any NodeKind
    ) -> NodeType {
        NodeType(name, title, about) { reader, _ in .node(read(&reader)) }
    }

    /// One that asks for something, and can be on a page.
    static func collector(
        _ name: String, _ title: String, _ about: String, _ read: @escaping @Sendable (inout SectionReader) -> any Collector
    ) -> NodeType {
        NodeType(name, title, about) { reader, _ in .collectors([read(&reader)]) }
    }

    /// The type with a name, if there is one.
    static func named(_ name: String) -> NodeType? { all.first { $0.name == name } }

    /// All types, in the order of the documentation.
    static let all: [NodeType] = [page] + collectors + decisions + people + codes + push + devices + endings
}

/// What a node is made of.
enum DecodedNode: Sendable {
    case node(any NodeKind)
    /// A node of which a mistake, which was noted, hides what outcomes it has.
    case obscured(any NodeKind)
    /// What a page can show beside other things.
    case collectors([any Collector])
}

/// What a node's properties refer to.
struct NodeContext: Sendable {
    /// What attributes are, by name.
    var attributes = AttributeDefinition.standard
}

/// What is known of an attribute, wherever it is asked for.
struct AttributeDefinition: Sendable, Hashable {
    var title: String
    var kind = AttributeCollector.Kind.text
    var policies: [AttributePolicy] = []

    /// Those that AM's identity management has.
    static let standard: [String: AttributeDefinition] = [
        "userName": AttributeDefinition(
            title: "Username", policies: [.required, .minimumLength(3), .maximumLength(64), .unique]),
        "password": AttributeDefinition(
            title: "Password", policies: [.required, .minimumLength(8), .capitals(1), .digits(1)]),
        "givenName": AttributeDefinition(title: "First Name"), "sn": AttributeDefinition(title: "Last Name"),
        "mail": AttributeDefinition(title: "Email Address", policies: [.emailAddress]),
    ]

    /// What is known of one that nobody described: it is a text.
    static func plain(_ name: String) -> AttributeDefinition { AttributeDefinition(title: name) }
}

extension AttributePolicy {
    /// Those that a file can name, with any limit.
    private static let named: [AttributePolicy] = [
        .required, .unique, .emailAddress, .minimumLength(0), .maximumLength(0), .capitals(0), .digits(0), .minimum(0),
        .maximum(0),
    ]

    /// The names that a file can use.
    static let ids = named.map(\.id)

    /// The policy with AM's name, and its limit if it has one. Nil when there is none, or a limit is missing or too much.
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
    /// A list of policies: `not-empty`, or `minimum-length: 8`.
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
