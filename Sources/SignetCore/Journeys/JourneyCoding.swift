// The one shape of a step: read from a value of JSON and written as one. What has not the type that it should have is kept with
// the other members, so that a server gets back what it sent.

extension JourneyStep {
    /// Reads a step.
    /// - Throws: ``JSONMemberError`` that names what is missing, for example `callbacks[2].type`.
    package init(json: JSONValue) throws(JSONMemberError) {
        guard case .object(var members) = json else { throw JSONMemberError(name: "authId") }
        guard let authId = members.removeValue(forKey: "authId")?.string else { throw JSONMemberError(name: "authId") }
        guard let callbacks = members.removeValue(forKey: "callbacks")?.array else { throw JSONMemberError(name: "callbacks") }
        var read: [JourneyCallback] = []
        read.reserveCapacity(callbacks.count)
        for (index, callback) in callbacks.enumerated() {
            do {
                read.append(try JourneyCallback(json: callback))
            } catch {
                throw JSONMemberError(name: "callbacks[\(index)].\(error.name)")
            }
        }
        self.authId = authId
        self.callbacks = read
        stage = members.takeText("stage")
        header = members.takeText("header")
        description = members.takeText("description")
        otherMembers = members
    }

    /// The step as JSON, with every member that is there.
    package var json: JSONValue {
        var members = otherMembers
        members["authId"] = .string(authId)
        members["callbacks"] = .array(callbacks.map(\.json))
        members["stage"] = stage.map { .string($0) } ?? members["stage"]
        members["header"] = header.map { .string($0) } ?? members["header"]
        members["description"] = description.map { .string($0) } ?? members["description"]
        return .object(members)
    }
}

extension JourneyCallback {
    /// Reads a callback.
    /// - Throws: ``JSONMemberError``.
    package init(json: JSONValue) throws(JSONMemberError) {
        guard case .object(var members) = json, let type = members.removeValue(forKey: "type")?.string else {
            throw JSONMemberError(name: "type")
        }
        self.type = type
        output = try members.takeFields("output") ?? []
        input = try members.takeFields("input")
        if case .integer(let number)? = members["_id"], let position = Int(exactly: number) {
            _id = position
            members["_id"] = nil
        } else {
            _id = nil
        }
        otherMembers = members
    }

    /// The callback as JSON, with every member that is there.
    package var json: JSONValue {
        var members = otherMembers
        members["type"] = .string(type)
        members["output"] = .array(output.map(\.json))
        if let input { members["input"] = .array(input.map(\.json)) }
        if let _id { members["_id"] = .integer(Int64(_id)) }
        return .object(members)
    }
}

extension JourneyCallback.Field {
    /// A field without a value has none to show: it is null.
    fileprivate init?(json: JSONValue) {
        guard let members = json.object, let name = members["name"]?.string else { return nil }
        self.init(name: name, value: members["value"] ?? .null)
    }

    fileprivate var json: JSONValue { .object(["name": .string(name), "value": value]) }
}

extension [String: JSONValue] {
    fileprivate mutating func takeText(_ name: String) -> String? {
        guard let text = self[name]?.string else { return nil }
        self[name] = nil
        return text
    }

    /// The fields of an array; nil when there is none, or a null.
    fileprivate mutating func takeFields(_ name: String) throws(JSONMemberError) -> [JourneyCallback.Field]? {
        guard let value = removeValue(forKey: name), value != .null else { return nil }
        guard let elements = value.array else { throw JSONMemberError(name: name) }
        var fields: [JourneyCallback.Field] = []
        fields.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            guard let field = JourneyCallback.Field(json: element) else { throw JSONMemberError(name: "\(name)[\(index)].name") }
            fields.append(field)
        }
        return fields
    }
}

// What is not ours to read and write quickly goes through Codable, in the same shape.

extension JourneyStep: Codable {
    /// Reads a step; what this version does not know goes to ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Writes every member that is there.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JourneyCallback: Codable {
    /// Reads a callback; what this version does not know goes to ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Writes every member that is there.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
