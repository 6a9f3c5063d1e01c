import HTTPTypes
import SignetCore

/// The documents that clients of AM's configuration REST have stored: what they can read back unchanged.
///
/// The journeys and clients that run are made of them (``ConfigurationEdit``). A document whose journey or client was changed in
/// another way since is not current any more, and is ignored.
struct ConfigurationDocuments: Sendable {
    /// The key of a node or a script.
    struct Key: Hashable, Sendable {
        let realm: RealmPath
        let id: String
    }

    /// The facts about a stored tree besides its document.
    struct TreeFacts: Sendable {
        /// The realm whose configuration has the nodes and scripts of the tree.
        var realm: RealmPath
        /// The fingerprint of the journey that was made of the document.
        var fingerprint: Int
        /// The journey that has the nodes; nil when the nodes are documents too.
        ///
        /// A client that only disables a journey of the configuration file changes no node of it.
        var base: JourneyTree?
    }

    /// The maximum size of all documents together, in bytes.
    static let maxSize = 64 << 20
    /// The maximum number of documents.
    static let maxCount = 20_000

    /// The trees by name.
    var trees = DocumentTable<String>()
    var treeFacts: [String: TreeFacts] = [:]
    var nodes = DocumentTable<Key>()
    var scripts = DocumentTable<Key>()
    /// The OAuth 2.0 clients.
    var clients = DocumentTable<ClientKey>()
    /// The hashes of the clients that were made of ``clients``.
    var clientHashes: [ClientKey: Int] = [:]

    private var size: Int { trees.size + nodes.size + scripts.size + clients.size }
    private var count: Int { trees.count + nodes.count + scripts.count + clients.count }

    /// Checks the limits.
    /// - Throws: ``APIError`` with status 413.
    func checkLimits() throws(APIError) {
        guard size <= Self.maxSize, count <= Self.maxCount else {
            throw APIError(
                .contentTooLarge,
                "The server keeps at most \(Self.maxCount) documents of \(Self.maxSize >> 20) MiB: use the configuration file."
            )
        }
    }

    /// Returns the document of a journey that runs; nil without one, and for one that is not current.
    func current(_ tree: JourneyTree) -> (value: JSONValue, facts: TreeFacts)? {
        guard let value = trees[tree.name], let facts = treeFacts[tree.name], facts.fingerprint == tree.fingerprint else {
            return nil
        }
        return (value, facts)
    }

    /// Returns the document of a client; nil without one, and for one that is not current.
    func current(_ client: RegisteredClient) -> JSONValue? {
        clientHashes[client.key] == client.hashValue ? clients[client.key] : nil
    }

    mutating func removeTree(_ name: String) {
        trees[name] = nil
        treeFacts[name] = nil
    }
}

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
    /// `isSecretName` has the rule for their names.
    var withoutSecrets: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutSecrets))
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        (name, name.isSecretName ? value.emptied : value.withoutSecrets)
                    }))
        default: self
        }
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
