package import SignetCore
import YAMLText

/// The form of the values of a setting.
indirect enum SettingForm: Sendable, Hashable {
    case any
    case string
    /// A string, or strings by language.
    case localizedString
    case bool
    case integer(ClosedRange<Int>)
    /// One of several keywords.
    case choice([String])
    case list(SettingForm)
    /// Values by name.
    case mapping(SettingForm)
    /// A nested section, or a keyword in its place.
    case section([Setting], keyword: String?)
    /// A part of the file that has a definition of its own.
    case part(Part)

    /// A part of the file.
    enum Part: String, Sendable, Hashable, CaseIterable {
        case file, server, push, sns, gateway, pushKey, email, attribute, language, user, client, journey, node
    }
}

/// The JSON Schema of the configuration file, for editors (`signet serve --schema`).
///
/// It is made from the settings that the reader of the file asks for, so it has all of them.
package enum ConfigurationSchema {
    /// The schema, in draft 7, which editors support.
    package static var value: JSONValue {
        let parts = ConfigurationReader.probe()
        var definitions: [String: JSONValue] = [:]
        for part in SettingForm.Part.allCases where part != .file && part != .node {
            definitions[part.rawValue] = object(parts[part] ?? [])
        }
        definitions[SettingForm.Part.node.rawValue] = node
        var members = object(parts[.file] ?? []).object ?? [:]
        members["$schema"] = .string("http://json-schema.org/draft-07/schema#")
        members["title"] = .string("A configuration of signet serve")
        members["definitions"] = .object(definitions)
        return .object(members)
    }

    /// Returns the schema of a section: its settings, and no others.
    private static func object(_ settings: [Setting]) -> JSONValue {
        var members: [String: JSONValue] = [
            "type": .string("object"), "additionalProperties": .bool(false),
            "properties": .object(
                Dictionary(settings.map { ($0.name, schema(of: $0)) }, uniquingKeysWith: { first, _ in first })),
        ]
        let required = settings.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members["required"] = .texts(required) }
        return .object(members)
    }

    private static func schema(of setting: Setting) -> JSONValue {
        var members = schema(of: setting.form)
        let text = setting.kind + (setting.defaultValue.map { "; default: \($0)" } ?? "")
        // Draft 7 ignores what is beside a reference.
        if members["$ref"] != nil { members = ["allOf": .array([.object(members)])] }
        members["description"] = .string(text)
        return .object(members)
    }

    private static func schema(of form: SettingForm) -> [String: JSONValue] {
        switch form {
        case .any: [:]
        // A string that looks like a number or like true and false needs no quotes.
        case .string: ["type": .texts(["string", "number", "boolean"])]
        case .localizedString:
            [
                "anyOf": .array([
                    .object(schema(of: .string)), .object(schema(of: .mapping(.string))),
                ])
            ]
        case .bool: ["type": .string("boolean")]
        case .integer(let range):
            [
                "type": .string("integer"), "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        case .choice(let names): ["enum": .array(names.flatMap(values))]
        case .list(let element): ["type": .string("array"), "items": .object(schema(of: element))]
        case .mapping(let value): ["type": .string("object"), "additionalProperties": .object(schema(of: value))]
        case .section(let settings, nil): object(settings).object ?? [:]
        case .section(let settings, let keyword?): ["anyOf": .array([.object(["const": .string(keyword)]), object(settings)])]
        case .part(let part): ["$ref": .string("#/definitions/\(part.rawValue)")]
        }
    }

    /// Returns the values that a keyword can be written as: `400` is a number without quotes.
    private static func values(of keyword: String) -> [JSONValue] {
        [.string(keyword)] + (Int64(keyword).map { [.integer($0)] } ?? [])
    }

    /// The schema of a node, whose settings depend on its type.
    private static var node: JSONValue {
        let types = NodeType.all.map { type in
            let settings = ConfigurationDecoder.settings { type.decode(&$0, NodeContext()) }
                .filter { $0.name != "type" && $0.name != "outcomes" }
            var members = object(settings).object ?? [:]
            var properties = members["properties"]?.object ?? [:]
            properties["type"] = .object(["const": .string(type.name), "description": .string(type.about)])
            // On a page, some nodes have a list of outcomes.
            properties["outcomes"] = .object(["type": .texts(["object", "array"])])
            members["properties"] = .object(properties)
            return JSONValue.object([
                "if": .object([
                    "required": .texts(["type"]),
                    "properties": .object(["type": .object(["const": .string(type.name)])]),
                ]),
                "then": .object(members),
            ])
        }
        return .object([
            "type": .string("object"), "required": .texts(["type"]),
            "properties": .object(["type": .object(["enum": .texts(NodeType.all.map(\.name))])]), "allOf": .array(types),
        ])
    }
}
