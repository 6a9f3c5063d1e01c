import SignetCore

extension JSONValue {
    /// The ids of the nodes of a tree, without AM's nodes that end it.
    var nodeIDs: [String] {
        (self["nodes"]?.object ?? [:]).keys.filter { ExportedJourney.ends[$0] == nil && $0 != "startNode" }.sorted()
    }

    /// The ids of the nodes on a page.
    var childIDs: [String] {
        guard self["_type"]?["_id"]?.string == "PageNode" else { return [] }
        return (self["nodes"]?.array ?? []).compactMap { $0["_id"]?.string }
    }

    /// Returns the document without the values of its secrets, which are not stored and never answered.
    ///
    /// The names are those that AM's nodes and clients give to passwords.
    var withoutSecrets: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutSecrets))
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        (name, Self.isSecret(name) ? value.emptied : value.withoutSecrets)
                    }))
        default: self
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix("-encrypted")
            || ["password", "passwd", "secret", "passphrase", "apikey", "privatekey"].contains(where: name.hasSuffix)
    }

    /// Null in the place of a text; the value of an object (`{"inherited": false, "value": "..."}`) is emptied too.
    private var emptied: JSONValue {
        switch self {
        case .string: .null
        case .array(let elements): .array(elements.map(\.emptied))
        case .object(let members): .object(members.mapValues(\.emptied))
        default: self
        }
    }
}
