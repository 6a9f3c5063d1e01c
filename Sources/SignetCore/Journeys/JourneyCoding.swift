// Conversion of a step from and to JSON. A member that has an unexpected type is kept with the other members, so that the server
// receives it unchanged.

extension JourneyStep {
    /// Reads a step.
    /// - Throws: ``JSONMemberError`` with the name of the missing member, for example `callbacks[2].type`.
    package init(json: JSONValue) throws(JSONMemberError) {
        guard case .object(let members) = json, let authId = members["authId"]?.string else {
            throw JSONMemberError(name: "authId")
        }
        guard let callbacks = members["callbacks"]?.array else { throw JSONMemberError(name: "callbacks") }
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
        stage = members["stage"]?.string
        header = members["header"]?.string
        description = members["description"]?.string
        otherMembers = members.without([
            "authId", "callbacks", stage.map { _ in "stage" }, header.map { _ in "header" },
            description.map { _ in "description" },
        ])
    }

    /// The step as JSON, including unknown members.
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
        guard case .object(let members) = json, let type = members["type"]?.string else { throw JSONMemberError(name: "type") }
        self.type = type
        let output = try members.fields("output")
        self.output = output ?? []
        hasOutput = output != nil
        input = try members.fields("input")
        if case .integer(let number)? = members["_id"] { _id = Int(exactly: number) } else { _id = nil }
        otherMembers = members.without([
            "type", output.map { _ in "output" }, input.map { _ in "input" }, _id.map { _ in "_id" },
        ])
    }

    /// The callback as JSON, including unknown members.
    package var json: JSONValue {
        var members = otherMembers
        members["type"] = .string(type)
        if hasOutput || !output.isEmpty { members["output"] = .array(output.map(\.json)) }
        if let input { members["input"] = .array(input.map(\.json)) }
        if let _id { members["_id"] = .integer(Int64(_id)) }
        return .object(members)
    }
}

extension JourneyCallback.Field {
    fileprivate init?(json: JSONValue) {
        guard case .object(let members) = json, let name = members["name"]?.string else { return nil }
        let value = members["value"]
        self.init(name: name, value: value ?? .null)
        hasValue = value != nil
        otherMembers = members.without(["name", value.map { _ in "value" }])
    }

    fileprivate var json: JSONValue {
        var members = otherMembers
        members["name"] = .string(name)
        if hasValue || value != .null { members["value"] = value }
        return .object(members)
    }
}

extension [String: JSONValue] {
    /// Returns the members whose names are not in `names`.
    ///
    /// When none remain, nothing is copied.
    fileprivate func without(_ names: [String?]) -> [String: JSONValue] {
        count == names.count(where: { $0 != nil }) ? [:] : filter { !names.contains($0.key) }
    }

    /// Returns the fields of an array; nil when the member is absent or null.
    fileprivate func fields(_ name: String) throws(JSONMemberError) -> [JourneyCallback.Field]? {
        guard let value = self[name], value != .null else { return nil }
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

// Other encoders and decoders use Codable, which reads and writes the same JSON.

extension JourneyStep: Codable {
    /// Reads a step.
    ///
    /// Unknown members are kept in ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Writes all members, including unknown ones.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JourneyCallback: Codable {
    /// Reads a callback.
    ///
    /// Unknown members are kept in ``otherMembers``.
    public init(from decoder: any Decoder) throws {
        try self.init(json: JSONValue(from: decoder))
    }

    /// Writes all members, including unknown ones.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}
