import SignetCore

/// The journeys of a realm as documents of AM: those that a client has stored, and those that are made of the journeys of the
/// configuration file.
struct ConfigurationView {
    let trees: [String: JourneyTree]
    let documents: ConfigurationDocuments
    let realm: RealmPath

    init(_ running: RunningConfiguration, _ realm: RealmPath) {
        self.init(running.trees, running.documents, realm)
    }

    init(_ trees: [String: JourneyTree], _ documents: ConfigurationDocuments, _ realm: RealmPath) {
        (self.trees, self.documents, self.realm) = (trees, documents, realm)
    }

    // MARK: Trees

    /// The journeys of the realm, in the order of their names.
    var visible: [JourneyTree] {
        trees.values.filter { $0.realms?.contains(realm) ?? true }.sorted { $0.name < $1.name }
    }

    /// Returns a journey of the realm; nil when it has none of the name.
    func visibleTree(_ name: String) -> JourneyTree? { trees[name].flatMap { $0.realms?.contains(realm) ?? true ? $0 : nil } }

    func tree(_ name: String) -> JSONValue? {
        visibleTree(name).map { documents.current($0)?.value ?? TreeExport($0).tree }
    }

    // MARK: Nodes and scripts

    /// The nodes of the realm by id.
    var nodes: [String: JSONValue] { parts(stored: documents.nodes.all, \.nodes) }

    /// The scripts of the realm by id.
    var scripts: [String: JSONValue] { parts(stored: documents.scripts.all, \.scripts) }

    func node(_ id: String) -> JSONValue? { documents.nodes[key(id)] ?? part(id) { $0.nodes[id] } }

    func script(_ id: String) -> JSONValue? { documents.scripts[key(id)] ?? part(id) { $0.scripts[id] } }

    private func key(_ id: String) -> ConfigurationDocuments.Key { ConfigurationDocuments.Key(realm: realm, id: id) }

    /// Returns a part of a journey whose documents another realm has, or that has none.
    private func part(_ id: String, _ find: (TreeExport) -> JSONValue?) -> JSONValue? {
        for tree in visible {
            // The documents of a journey of the configuration file are made only for one of their ids.
            let isStored = documents.current(tree).map { $0.facts.base == nil } ?? false
            guard isStored || TreeExport.isGenerated(id) else { continue }
            if let value = find(export(of: tree, hasPlaces: false)) { return value }
        }
        return nil
    }

    private func parts(
        stored: [ConfigurationDocuments.Key: JSONValue], _ part: (TreeExport) -> [String: JSONValue]
    ) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        for tree in visible { result.merge(part(export(of: tree, hasPlaces: false))) { first, _ in first } }
        for (key, value) in stored where key.realm == realm { result[key.id] = value }
        return result
    }

    /// Returns a journey with its nodes and scripts.
    func export(of tree: JourneyTree, hasPlaces: Bool = true) -> TreeExport {
        guard let (value, facts) = documents.current(tree) else { return TreeExport(tree, hasPlaces: hasPlaces) }
        if let base = facts.base { return TreeExport(base, hasPlaces: false).with(value) }
        func stored(_ ids: [String], _ table: DocumentTable<ConfigurationDocuments.Key>) -> [String: JSONValue] {
            let found = ids.map { ($0, table[ConfigurationDocuments.Key(realm: facts.realm, id: $0)]) }
            return Dictionary(found.compactMap { id, value in value.map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
        }
        let outer = stored(value.nodeIDs, documents.nodes)
        let nodes = outer.merging(stored(outer.values.flatMap(\.childIDs), documents.nodes)) { first, _ in first }
        let scripts = stored(nodes.values.compactMap { $0["script"]?.string }, documents.scripts)
        return TreeExport(tree: value, nodes: nodes, scripts: scripts)
    }
}
