import SignetCore

/// The trees, nodes and scripts in the files of an export, before they are put together.
///
/// A file of frodo has a tree with all its nodes. In the files of Amster and in the answers of AM's REST, each tree and each
/// node is a document of its own, and ids connect them.
struct ExportDocuments: Sendable {
    /// A value with its place.
    struct Located: Sendable {
        let value: JSONValue
        let place: ExportPlace
    }

    /// A tree, with the nodes in the same document.
    struct Tree: Sendable {
        let name: String
        let tree: Located
        /// The nodes by id.
        var nodes: [String: Located] = [:]
    }

    private(set) var trees: [Tree] = []
    /// The nodes by id that are documents of their own.
    ///
    /// Realms can have nodes with the same id.
    private(set) var nodes: [String: [Located]] = [:]
    /// The scripts by id.
    private(set) var scripts: [String: [Located]] = [:]
    private(set) var emailTemplates: [String: ExportPlace] = [:]
    private(set) var themes: [String: ExportPlace] = [:]

    /// Returns the document of a node that is the nearest to a file: realms are directories, and can have nodes with the same
    /// id.
    func node(_ id: String, near file: String) -> Located? {
        nodes[id]?.max { first, second in
            Self.commonLength(first.place.file, file) < Self.commonLength(second.place.file, file)
        }
    }

    private static func commonLength(_ path: String, _ other: String) -> Int {
        zip(path.utf8, other.utf8).prefix { $0 == $1 }.count
    }

    /// Reads a document: it adds each tree, node and script in it, and ignores everything else.
    mutating func read(_ value: JSONValue, at place: ExportPlace) {
        if let elements = value.array {
            for (index, element) in elements.enumerated() { read(element, at: place.appending(String(index))) }
            return
        }
        guard let members = value.object else { return }
        if members["metadata"]?.object != nil, let data = members["data"]?.object {
            readAmster(data, members["metadata"]?["entityId"]?.string, at: place.appending("data"))
        } else if members["tree"]?["entryNodeId"] != nil {
            readBundle(members, name: nil, at: place)
        } else if members["entryNodeId"] != nil, members["nodes"]?.object != nil {
            addTree(value, name: nil, members: [:], at: place, bundle: place)
        } else if members["_type"]?["_id"]?.string != nil, let id = members["_id"]?.string {
            nodes[id, default: []].append(Located(value: value, place: place))
        } else if let script = members["script"], script.object == nil || script["file"]?.string != nil,
            let id = members["_id"]?.string
        {
            scripts[id, default: []].append(Located(value: value, place: place))
        } else {
            readParts(members, at: place)
        }
    }

    /// Reads the members of a document that contains others.
    private mutating func readParts(_ members: [String: JSONValue], at place: ExportPlace) {
        for (name, bundle) in members["trees"]?.object?.sorted(by: { $0.key < $1.key }) ?? [] {
            if let parts = bundle.object { readBundle(parts, name: name, at: place.appending("trees").appending(name)) }
        }
        for (name, realm) in members["realm"]?.object?.sorted(by: { $0.key < $1.key }) ?? [] where realm.object != nil {
            read(realm, at: place.appending("realm").appending(name))
        }
        if let results = members["result"]?.array { read(.array(results), at: place.appending("result")) }
        readNames(members, at: place)
    }

    /// Reads a document of Amster, in which the id can be in the metadata only.
    private mutating func readAmster(_ data: [String: JSONValue], _ id: String?, at place: ExportPlace) {
        var data = data
        if data["_id"] == nil, let id { data["_id"] = .string(id) }
        read(.object(data), at: place)
    }

    /// Reads a tree together with its nodes, scripts, email templates and themes.
    private mutating func readBundle(_ members: [String: JSONValue], name: String?, at place: ExportPlace) {
        guard let tree = members["tree"] else { return }
        addTree(tree, name: name, members: members, at: place.appending("tree"), bundle: place)
        readNames(members, at: place)
    }

    private mutating func addTree(
        _ value: JSONValue, name: String?, members: [String: JSONValue], at place: ExportPlace, bundle: ExportPlace
    ) {
        var tree = Tree(name: value["_id"]?.string ?? name ?? "", tree: Located(value: value, place: place))
        // `innernodes` is the spelling of old versions of frodo.
        for part in ["nodes", "innerNodes", "innernodes"] {
            for (id, node) in members[part]?.object ?? [:] {
                tree.nodes[id] = Located(value: node, place: bundle.appending(part).appending(id))
            }
        }
        trees.append(tree)
    }

    private mutating func readNames(_ members: [String: JSONValue], at place: ExportPlace) {
        for part in ["scripts", "script"] {
            for (id, script) in members[part]?.object ?? [:] where script["script"] != nil {
                scripts[id, default: []].append(Located(value: script, place: place.appending(part).appending(id)))
            }
        }
        for (name, _) in members["emailTemplates"]?.object ?? [:] {
            emailTemplates[name] = place.appending("emailTemplates").appending(name)
        }
        for (index, theme) in (members["themes"]?.array ?? []).enumerated() {
            let name = theme["name"]?.string ?? theme["_id"]?.string ?? theme.string
            if let name { themes[name] = place.appending("themes").appending(String(index)) }
        }
    }
}
