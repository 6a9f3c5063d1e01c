import SignetCore

/// The schema of a value of the administration API.
indirect enum AdminSchema: Sendable {
    case any
    case string
    /// A string or null.
    case nullableString
    /// A time such as `2026-01-31T12:00:00Z`.
    case time
    /// A time, or a number of seconds since 1970.
    case timeOrSeconds
    case integer
    case number
    case bool
    /// One of several strings.
    case choice([String])
    case list(AdminSchema)
    /// Values by name.
    case map(AdminSchema)
    /// An object with the members of a model, which the document defines once.
    case model(AdminModel)
    /// An object with these members, and no others.
    case object([AdminMember])

    /// The schema in the form of JSON Schema 2020-12, which OpenAPI 3.1 uses.
    var json: [String: JSONValue] {
        switch self {
        case .any: [:]
        case .string: ["type": .string("string")]
        case .nullableString: ["type": .texts(["string", "null"])]
        case .time: ["type": .string("string"), "format": .string("date-time")]
        case .timeOrSeconds: ["anyOf": .array([.object(AdminSchema.time.json), .object(AdminSchema.number.json)])]
        case .integer: ["type": .string("integer")]
        case .number: ["type": .string("number")]
        case .bool: ["type": .string("boolean")]
        case .choice(let values): ["type": .string("string"), "enum": .texts(values)]
        case .list(let element): ["type": .string("array"), "items": .object(element.json)]
        case .map(let value): ["type": .string("object"), "additionalProperties": .object(value.json)]
        case .model(let model): ["$ref": .string("#/components/schemas/\(model.name)")]
        case .object(let members): AdminMember.json(of: members, isOpen: false)
        }
    }

    /// The models that the schema refers to, and those that they refer to in turn.
    var models: [AdminModel] {
        switch self {
        case .any, .string, .nullableString, .time, .timeOrSeconds, .integer, .number, .bool, .choice: []
        case .list(let inner), .map(let inner): inner.models
        case .model(let model): [model] + model.members.flatMap(\.schema.models)
        case .object(let members): members.flatMap(\.schema.models)
        }
    }
}

/// A member of an object in the administration API.
struct AdminMember: Sendable {
    let name: String
    let schema: AdminSchema
    let about: String
    let isRequired: Bool

    /// Returns a member that each object has.
    static func required(_ name: String, _ schema: AdminSchema, _ about: String = "") -> AdminMember {
        AdminMember(name: name, schema: schema, about: about, isRequired: true)
    }

    /// Returns a member that an object has only if there is a value.
    static func optional(_ name: String, _ schema: AdminSchema, _ about: String = "") -> AdminMember {
        AdminMember(name: name, schema: schema, about: about, isRequired: false)
    }

    /// Returns the schema of an object with these members, and with others if it is open.
    static func json(of members: [AdminMember], isOpen: Bool) -> [String: JSONValue] {
        var json: [String: JSONValue] = ["type": .string("object"), "additionalProperties": .bool(isOpen)]
        if !members.isEmpty {
            json["properties"] = .object(
                Dictionary(members.map { ($0.name, $0.json) }, uniquingKeysWith: { first, _ in first }))
        }
        let required = members.filter(\.isRequired).map(\.name)
        if !required.isEmpty { json["required"] = .texts(required) }
        return json
    }

    private var json: JSONValue {
        var json = schema.json
        if !about.isEmpty { json["description"] = .string(about) }
        return .object(json)
    }
}

/// An object of the administration API with a name.
struct AdminModel: Sendable {
    let name: String
    let about: String
    let members: [AdminMember]
    /// True when an object can have further members.
    let isOpen: Bool

    init(_ name: String, _ about: String, isOpen: Bool = false, _ members: [AdminMember]) {
        self.name = name
        self.about = about
        self.isOpen = isOpen
        self.members = members
    }

    var json: JSONValue {
        var json = AdminMember.json(of: members, isOpen: isOpen)
        json["description"] = .string(about)
        return .object(json)
    }
}
