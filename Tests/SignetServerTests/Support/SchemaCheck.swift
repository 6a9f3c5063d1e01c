import SignetCore

/// Compares a value with a schema of an OpenAPI document, as far as ``OpenAPIDocument`` uses JSON Schema.
struct SchemaCheck {
    /// The schemas that `$ref` can name.
    let models: [String: JSONValue]

    init(document: JSONValue) {
        models = document["components"]?["schemas"]?.object ?? [:]
    }

    /// Returns what is wrong with a value, each with its place; empty when the value has the schema.
    func problems(_ value: JSONValue, _ schema: JSONValue, at place: String = "$") -> [String] {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            guard let model = models[String(name)] else { return ["\(place): there is no schema \(name)"] }
            return problems(value, model, at: place)
        }
        if let choices = schema["anyOf"]?.array {
            return choices.contains { problems(value, $0, at: place).isEmpty } ? [] : ["\(place): has no form of anyOf"]
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) {
            return ["\(place): \(JSON.text(of: value)) is not in enum"]
        }
        let types = schema["type"].map { $0.array ?? [$0] } ?? []
        guard types.isEmpty || types.contains(where: { isOfType(value, $0.string ?? "") }) else {
            return ["\(place): \(JSON.text(of: value)) has another type than \(types.compactMap(\.string))"]
        }
        if let elements = value.array, let items = schema["items"] {
            return elements.enumerated().flatMap { problems($1, items, at: "\(place)[\($0)]") }
        }
        return value.object.map { problems(ofMembers: $0, schema, at: place) } ?? []
    }

    private func problems(ofMembers members: [String: JSONValue], _ schema: JSONValue, at place: String) -> [String] {
        var found = (schema["required"]?.array ?? []).compactMap(\.string).filter { members[$0] == nil }
            .map { "\(place): '\($0)' is missing" }
        let properties = schema["properties"]?.object ?? [:]
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            if let property = properties[name] ?? additional(schema) {
                found += problems(member, property, at: "\(place).\(name)")
            } else if schema["additionalProperties"] == .bool(false) {
                found.append("\(place): '\(name)' is not in the schema")
            }
        }
        return found
    }

    /// The schema of members that have no own one; nil when there is none.
    private func additional(_ schema: JSONValue) -> JSONValue? {
        schema["additionalProperties"].flatMap { $0.object == nil ? nil : $0 }
    }

    private func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}
