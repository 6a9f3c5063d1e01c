import HTTPTypes
import SignetCore
import YAMLText

/// A change of the documents of AM's configuration REST, and of the journeys and clients that are made of them.
///
/// Journeys are converted by the import of exports (``JourneyConverter``), all of them at once, because each can run others.
struct ConfigurationEdit {
    let before: RunningConfiguration
    let realm: RealmPath
    private var documents: ConfigurationDocuments
    private var clients: ClientRegistry
    private var removed: Set<String> = []
    /// True when a journey has to be made again of its documents.
    private var hasChangedJourneys = false
    /// The trees whose documents a client has just stored.
    private var stored: Set<String> = []
    /// The changes, in a few words each; for the logs.
    private(set) var changes: [String] = []

    init(_ before: RunningConfiguration, _ realm: RealmPath) {
        (self.before, self.realm) = (before, realm)
        (documents, clients) = (before.documents, before.clients)
    }

    /// The documents as they are now.
    ///
    /// It has the journeys of before, because an edit changes one document.
    var view: ConfigurationView { ConfigurationView(before, realm) }

    private func key(_ id: String) -> ConfigurationDocuments.Key { ConfigurationDocuments.Key(realm: realm, id: id) }

    // MARK: Trees

    /// Stores a tree, so that its journey runs.
    /// - Parameters:
    ///   - name: The name of the journey.
    ///   - value: The document.
    /// - Throws: ``APIError`` with status 400 for a document that is not a tree, and 409 when another realm has the journey.
    mutating func putTree(_ name: String, _ value: JSONValue) throws(APIError) {
        let entry = value["entryNodeId"]?.string ?? ""
        guard let nodes = value["nodes"]?.object, nodes.values.allSatisfy({ $0["nodeType"]?.string != nil }) else {
            throw APIError(.badRequest, "Data validation failed for the attribute, Nodes")
        }
        guard nodes[entry] != nil || ExportedJourney.ends[entry] != nil else {
            throw APIError(.badRequest, "Node with ID entryNodeId must exist in the tree.")
        }
        let running = before.trees[name]
        guard running == nil || view.visibleTree(name) != nil else {
            throw APIError(
                .conflict,
                "Another realm has a journey of this name. Names are unique in this server: import one realm at a time."
            )
        }
        var facts = ConfigurationDocuments.TreeFacts(realm: realm, fingerprint: 0, base: nil)
        if let running {
            let present = view.export(of: running)
            let known = before.documents.current(running)?.facts
            if known == nil || known?.base != nil, Self.haveSameNodes(value, present.tree) {
                facts.base = known?.base ?? running
            } else {
                keepParts(of: present, for: value)
            }
        }
        var members = value.object ?? [:]
        members["_rev"] = nil
        members["_id"] = .string(name)
        documents.trees[name] = .object(members)
        documents.treeFacts[name] = facts
        stored.insert(name)
        hasChangedJourneys = true
        changes.append("journey \(name) " + (running == nil ? "added" : "changed"))
    }

    /// Returns true when two trees have the same nodes and connections, regardless of their places in the editor.
    private static func haveSameNodes(_ tree: JSONValue, _ other: JSONValue) -> Bool {
        func parts(_ tree: JSONValue) -> [String: [JSONValue?]] {
            (tree["nodes"]?.object ?? [:]).mapValues { [$0["nodeType"], $0["connections"] ?? .object([:])] }
        }
        return tree["entryNodeId"] == other["entryNodeId"] && parts(tree) == parts(other)
    }

    /// Stores the nodes and scripts of a journey that the realm has no documents of, and that a tree refers to.
    private mutating func keepParts(of export: TreeExport, for tree: JSONValue) {
        let outer = Set(tree.nodeIDs)
        let ids = outer.union(export.nodes.filter { outer.contains($0.key) }.values.flatMap(\.childIDs))
        for (id, node) in export.nodes where ids.contains(id) && documents.nodes[key(id)] == nil {
            documents.nodes[key(id)] = node
            guard let script = node["script"]?.string, documents.scripts[key(script)] == nil else { continue }
            documents.scripts[key(script)] = export.scripts[script]
        }
    }

    /// Removes a journey.
    /// - Returns: Its document.
    /// - Throws: ``APIError`` with status 404 when the realm has no such journey, and 409 when the configuration needs it.
    mutating func removeTree(_ name: String) throws(APIError) -> JSONValue {
        guard let tree = view.visibleTree(name) else { throw .documentNotFound }
        guard !before.usedByClients.contains(name) else { throw .journeyOfClients }
        // Journeys that are documents are made again, with a stub in the place of the node that ran this one.
        let outer = before.trees.values.filter {
            $0.name != name && $0.innerTrees.contains(name) && (before.documents.current($0).map { $0.facts.base != nil } ?? true)
        }
        guard outer.isEmpty else {
            throw APIError(.conflict, "These journeys run it: \(outer.map(\.name).sorted().joined(separator: ", ")).")
        }
        let export = view.export(of: tree)
        // Its nodes stay, as in AM: frodo deletes them one by one afterwards.
        keepParts(of: export, for: export.tree)
        documents.removeTree(name)
        removed.insert(name)
        hasChangedJourneys = true
        changes.append("journey \(name) removed")
        return export.tree
    }

    // MARK: Nodes and scripts

    mutating func putNode(_ type: String, _ id: String, _ body: JSONValue) {
        let document = NodeDocument.stored(body, type, id: id)
        let present = view.node(id)
        guard document != present else { return }
        documents.nodes[key(id)] = document
        changed(id)
        changes.append("node of type \(type) " + (present == nil ? "added" : "changed"))
    }

    mutating func removeNode(_ id: String) {
        changed(id)
        documents.nodes[key(id)] = nil
        changes.append("node removed")
    }

    mutating func putScript(_ id: String, _ document: JSONValue) {
        let present = view.script(id)
        guard document != present else { return }
        documents.scripts[key(id)] = document
        changed(id)
        changes.append("script \(document["name"]?.string ?? id) " + (present == nil ? "added" : "changed"))
    }

    mutating func removeScript(_ id: String) {
        changed(id)
        documents.scripts[key(id)] = nil
        changes.append("script removed")
    }

    /// Marks the journeys that have a node or a script with this id, or refer to it.
    ///
    /// A journey of the configuration file becomes documents, because one of its parts is one now.
    private mutating func changed(_ id: String) {
        for tree in before.trees.values {
            let known = before.documents.current(tree)?.facts
            let isStored = known != nil && known?.base == nil
            guard isStored || TreeExport.isGenerated(id),
                known.map({ $0.realm == realm }) ?? (tree.realms?.contains(realm) ?? true)
            else { continue }
            let export = view.export(of: tree)
            guard export.refers(to: id) else { continue }
            hasChangedJourneys = true
            guard !isStored else { continue }
            keepParts(of: export, for: export.tree)
            documents.trees[tree.name] = export.tree
            documents.treeFacts[tree.name] = ConfigurationDocuments.TreeFacts(realm: realm, fingerprint: 0, base: nil)
            stored.insert(tree.name)
        }
    }

    // MARK: Clients

    mutating func put(_ client: RegisteredClient, _ document: JSONValue) {
        let isNew = before.clients[client.key] == nil
        clients = ClientRegistry(clients.all.filter { $0.key != client.key } + [client])
        documents.clients[client.key] = document
        documents.clientHashes[client.key] = client.hashValue
        changes.append("client \(client.id) " + (isNew ? "added" : "changed"))
    }

    mutating func remove(_ key: ClientKey) {
        clients = ClientRegistry(clients.all.filter { $0.key != key })
        documents.clients[key] = nil
        documents.clientHashes[key] = nil
        changes.append("client \(key.id) removed")
    }

    // MARK: Result

    /// Returns the new configuration.
    /// - Throws: ``APIError`` when a limit is exceeded, or when the journeys cannot run together.
    mutating func result() throws(APIError) -> RunningConfiguration {
        try documents.checkLimits()
        var trees = before.configuration.journeys.trees.filter { !removed.contains($0.name) }
        if hasChangedJourneys {
            for tree in try convertedTrees() {
                documents.treeFacts[tree.name]?.fingerprint = tree.fingerprint
                if let index = trees.firstIndex(where: { $0.name == tree.name }) {
                    trees[index] = tree
                } else {
                    trees.append(tree)
                }
            }
            for name in before.usedByClients where before.trees[name]?.isInner == false {
                guard trees.contains(where: { $0.name == name && !$0.isInner }) else { throw .journeyOfClients }
            }
        }
        return before.with(clients).with(trees).with(documents)
    }

    /// Converts all documents of journeys.
    private mutating func convertedTrees() throws(APIError) -> [JourneyTree] {
        // The document of a journey that was changed in another way since is not used.
        for name in documents.trees.all.keys where !stored.contains(name) {
            guard before.trees[name].flatMap({ before.documents.current($0) }) == nil else { continue }
            documents.removeTree(name)
        }
        var result: [JourneyTree] = []
        var entries: [MarkedValue.Entry] = []
        let names = Set(before.trees.keys).subtracting(removed).union(documents.trees.all.keys)
        for (name, facts) in documents.treeFacts {
            guard let base = facts.base, let value = documents.trees[name] else { continue }
            result.append(base.with(value))
        }
        let made = Set(documents.trees.all.keys)
        let others = before.configuration.journeys.trees.filter { !removed.contains($0.name) && !made.contains($0.name) } + result
        for home in Set(documents.treeFacts.values.map(\.realm)) {
            entries += try converted(in: home, besides: names, others)
        }
        let configuration = before.configuration
        var reader = JourneyReader(
            configuration.nodeContext, realms: Set(configuration.realms.map { RealmPath($0) }), besides: others)
        let section = MarkedValue(content: .mapping(entries), position: .start)
        let trees = entries.isEmpty ? [] : reader.trees(section)
        if let problem = reader.problems.first {
            throw APIError(.badRequest, "The journey cannot run: \(problem.message)")
        }
        return result
            + trees.map { tree in
                var tree = tree
                tree.realms = before.trees[tree.name].map(\.realms) ?? documents.treeFacts[tree.name].map { Set([$0.realm]) }
                return tree
            }
    }

    /// Returns the journeys whose documents are in a realm, as entries of the configuration file.
    private mutating func converted(
        in home: RealmPath, besides names: Set<String>, _ known: [JourneyTree]
    ) throws(APIError) -> [MarkedValue.Entry] {
        var export = ExportDocuments()
        for (name, facts) in documents.treeFacts.sorted(by: { $0.key < $1.key }) where facts.realm == home && facts.base == nil {
            guard let tree = documents.trees[name] else { continue }
            export.read(bundle(tree, in: home), at: ExportPlace(file: name))
        }
        guard !export.trees.isEmpty else { return [] }
        let journeys: JourneyExport
        do throws(JourneyImportError) {
            journeys = try JourneyExport(export)
        } catch {
            throw APIError(.badRequest, error.description)
        }
        let converter = JourneyConverter(journeys, stubs: .fail, others: names, known: known)
        for journey in converter.journeys where stored.contains(journey.name) && !journey.stubs.isEmpty {
            changes.append("in \(journey.name) cannot run: \(journey.stubs.joined(separator: ", "))")
        }
        return converter.journeys.map(\.entry)
    }

    /// Returns a tree with its nodes and scripts, in the form of an export.
    private func bundle(_ tree: JSONValue, in home: RealmPath) -> JSONValue {
        func documents(_ ids: [String], _ table: DocumentTable<ConfigurationDocuments.Key>) -> [String: JSONValue] {
            let found = ids.map { ($0, table[ConfigurationDocuments.Key(realm: home, id: $0)]) }
            return Dictionary(found.compactMap { id, value in value.map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
        }
        let nodes = documents(tree.nodeIDs, self.documents.nodes)
        let inner = documents(nodes.values.flatMap(\.childIDs), self.documents.nodes)
        let scripts = documents(
            (Array(nodes.values) + Array(inner.values)).compactMap { $0["script"]?.string }, self.documents.scripts)
        return .object([
            "tree": tree, "nodes": .object(nodes), "innerNodes": .object(inner), "scripts": .object(scripts),
        ])
    }
}

extension JourneyTree {
    /// Returns the journey with the settings of a tree that has the same nodes.
    fileprivate func with(_ document: JSONValue) -> JourneyTree {
        var tree = self
        tree.isInner = document["innerTreeOnly"]?.bool ?? isInner || document["enabled"]?.bool == false
        var hasher = Hasher()
        hasher.combine(fingerprint)
        hasher.combine(document)
        tree.fingerprint = hasher.finalize()
        return tree
    }
}

extension APIError {
    /// AM's response for a document of the configuration that does not exist.
    static let documentNotFound = APIError(.notFound, "Not Found")
}
