extension JourneyStep: Codable {
    /// Reads a step; what this version does not know goes to ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        var members = try MemberReader(decoder)
        authId = try members.required("authId")
        callbacks = try members.required("callbacks")
        stage = try members.optional("stage")
        header = try members.optional("header")
        description = try members.optional("description")
        otherMembers = try members.rest()
    }

    /// Writes every member that is there.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: JSONKey.self)
        for (name, value) in otherMembers { try members.encode(value, forKey: JSONKey(stringValue: name)) }
        try members.encode(authId, forKey: JSONKey(stringValue: "authId"))
        try members.encode(callbacks, forKey: JSONKey(stringValue: "callbacks"))
        try members.encodeIfPresent(stage, forKey: JSONKey(stringValue: "stage"))
        try members.encodeIfPresent(header, forKey: JSONKey(stringValue: "header"))
        try members.encodeIfPresent(description, forKey: JSONKey(stringValue: "description"))
    }
}

extension JourneyCallback: Codable {
    /// Reads a callback; what this version does not know goes to ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        var members = try MemberReader(decoder)
        type = try members.required("type")
        output = try members.optional("output") ?? []
        input = try members.optional("input")
        _id = try members.optional("_id")
        otherMembers = try members.rest()
    }

    /// Writes every member that is there.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: JSONKey.self)
        for (name, value) in otherMembers { try members.encode(value, forKey: JSONKey(stringValue: name)) }
        try members.encode(type, forKey: JSONKey(stringValue: "type"))
        try members.encode(output, forKey: JSONKey(stringValue: "output"))
        try members.encodeIfPresent(input, forKey: JSONKey(stringValue: "input"))
        try members.encodeIfPresent(_id, forKey: JSONKey(stringValue: "_id"))
    }
}

/// Reads members by name, and knows which nobody asked for.
private struct MemberReader {
    private let members: KeyedDecodingContainer<JSONKey>
    private var asked: Set<String> = []

    init(_ decoder: any Decoder) throws {
        members = try decoder.container(keyedBy: JSONKey.self)
    }

    mutating func required<Value: Decodable>(_ name: String) throws -> Value {
        asked.insert(name)
        return try members.decode(Value.self, forKey: JSONKey(stringValue: name))
    }

    mutating func optional<Value: Decodable>(_ name: String) throws -> Value? {
        asked.insert(name)
        return try members.decodeIfPresent(Value.self, forKey: JSONKey(stringValue: name))
    }

    func rest() throws -> [String: JSONValue] {
        let names = members.allKeys.filter { !asked.contains($0.stringValue) }
        return try Dictionary(
            names.map { ($0.stringValue, try members.decode(JSONValue.self, forKey: $0)) }, uniquingKeysWith: { $1 })
    }
}
