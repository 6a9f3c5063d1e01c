import SignetCore

/// JSON for programs that read our output.
enum JSONText {
    /// One line, members sorted.
    static func line(_ value: JSONValue) -> String {
        // A JSONValue holds nothing that cannot be encoded but infinite numbers, and no verb has any.
        String(decoding: (try? JSON.encode(value)) ?? Array("null".utf8), as: UTF8.self)
    }

    /// A member that is left out when there is no value.
    static func object(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }
}

extension JSONValue {
    static func string(_ text: String?) -> JSONValue? { text.map { .string($0) } }
}
