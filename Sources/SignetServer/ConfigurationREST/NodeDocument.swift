import SignetCore
import YAMLText

/// The documents of AM about nodes and their types.
enum NodeDocument {
    /// The members that AM adds to the settings of a node.
    static func members(_ type: String, id: String, outcomes: [String]) -> [String: JSONValue] {
        ["_id": .string(id), "_type": reference(type), "_outcomes": .array(outcomes.map(outcome))]
    }

    /// Returns the document of a node as it is stored.
    /// - Parameters:
    ///   - body: The document that a client has sent.
    ///   - type: The type in the address.
    ///   - id: The id in the address.
    /// - Returns: The document without its revision and without secrets, with what AM adds.
    static func stored(_ body: JSONValue, _ type: String, id: String) -> JSONValue {
        var members = body.withoutSecrets.object ?? [:]
        members["_rev"] = nil
        members["_id"] = .string(id)
        if members["_type"]?["_id"]?.string != type { members["_type"] = reference(type) }
        if members["_outcomes"] == nil { members["_outcomes"] = .array(outcomes(type, members).map(outcome)) }
        return .object(members)
    }

    private static func outcome(_ name: String) -> JSONValue { .object(["id": .string(name), "displayName": .string(name)]) }

    /// Returns the outcomes of a node with its settings; none for a type that does not run here.
    private static func outcomes(_ name: String, _ settings: [String: JSONValue]) -> [String] {
        guard let type = type(name) else { return [] }
        var decoder = ConfigurationDecoder(MarkedValue(.object(settings), at: .start), subject: nil)
        return type.decode(&decoder, NodeContext()).outcomes.map(\.rawValue)
    }

    // MARK: Types

    /// The types that AM's editor offers; a stub stands for types that do not run here.
    static let types = NodeType.all.filter { $0.name != StubNode.type.name && $0.name != SuccessNode.type.name }

    private static func type(_ name: String) -> NodeType? { types.first { $0.name == name } }

    private static func reference(_ name: String) -> JSONValue {
        .object(["_id": .string(name), "name": .string(type(name)?.title ?? name), "collection": .bool(true)])
    }

    /// Returns the document of a type.
    static func typeDocument(_ name: String) -> JSONValue {
        let tags = JSONValue.array([])
        return .object([
            "_id": .string(name), "name": .string(type(name)?.title ?? name), "collection": .bool(true), "tags": tags,
            "metadata": .object(["tags": tags]),
            "help": .string(
                type(name)?.about ?? "A node that cannot run here: a login that reaches it ends with the status 501."),
        ])
    }

    /// Returns the schema of the settings of a type; nil for a type that does not run here.
    static func schema(_ name: String) -> JSONValue? {
        guard let settings = settings(of: name) else { return nil }
        let properties = settings.enumerated().map { index, setting in
            var members = schema(of: setting.form)
            members["title"] = .string(setting.name)
            members["description"] = .string(setting.kind)
            members["propertyOrder"] = .integer(Int64(100 * (index + 1)))
            members["required"] = .bool(setting.isRequired)
            members["exampleValue"] = .string("")
            return (setting.name, JSONValue.object(members))
        }
        return .object([
            "type": .string("object"),
            "properties": .object(Dictionary(properties, uniquingKeysWith: { first, _ in first })),
        ])
    }

    private static func schema(of form: SettingForm) -> [String: JSONValue] {
        switch form {
        case .bool: ["type": .string("boolean")]
        case .integer: ["type": .string("integer")]
        case .choice(let names): ["type": .string("string"), "enum": .texts(names)]
        case .list(let element): ["type": .string("array"), "items": .object(schema(of: element))]
        case .localizedString, .mapping, .section, .part: ["type": .string("object")]
        case .string: ["type": .string("string")]
        // A setting of any form has no type.
        case .any: [:]
        }
    }

    /// Returns the settings of a new node of a type; nil for a type that does not run here.
    static func template(_ name: String) -> JSONValue? {
        guard let settings = settings(of: name) else { return nil }
        let members = settings.compactMap { setting in template(of: setting).map { (setting.name, $0) } }
        return .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
    }

    private static func template(of setting: Setting) -> JSONValue? {
        let text = setting.defaultValue.map { $0.replacing("`", with: "") }
        switch setting.form {
        case .bool: return .bool(text == "true")
        case .integer: return text.flatMap { Int64($0) }.map { .integer($0) }
        case .choice(let names): return text.flatMap { names.contains($0) ? .string($0) : nil }
        case .list: return .array([])
        case .localizedString, .mapping: return .object([:])
        case .string: return setting.defaultValue?.hasPrefix("`") == true ? text.map { .string($0) } : nil
        case .any, .section, .part: return nil
        }
    }

    private static func settings(of name: String) -> [Setting]? {
        guard let type = type(name) else { return nil }
        return ConfigurationDecoder.settings { type.decode(&$0, NodeContext()) }.filter { $0.name != "outcomes" }
    }
}
