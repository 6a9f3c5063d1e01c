import SignetCore

/// Puts a tree and the documents of its nodes together.
struct ExportedJourneyReader {
    private(set) var findings: [ImportFinding] = []
    private let tree: ExportDocuments.Tree
    private let documents: ExportDocuments
    private let limits: ImportLimits
    private var nodeCount = 0

    init(_ tree: ExportDocuments.Tree, _ documents: ExportDocuments, _ limits: ImportLimits) {
        self.tree = tree
        self.documents = documents
        self.limits = limits
    }

    private var value: JSONValue { tree.tree.value }
    private var place: ExportPlace { tree.tree.place }

    /// Returns the journey.
    /// - Throws: ``JourneyImportError`` when it exceeds a limit.
    mutating func journey() throws(JourneyImportError) -> ExportedJourney {
        let name = try checked(tree.name.isEmpty ? "Unnamed" : tree.name, "the name of the journey")
        var journey = ExportedJourney(name: name, entry: value["entryNodeId"]?.string ?? "", place: place)
        journey.description = value["description"]?.string
        journey.isEnabled = value["enabled"]?.bool ?? true
        journey.isInner = value["innerTreeOnly"]?.bool ?? false
        for (setting, meaning) in [
            ("noSession", "it creates a session here"), ("transactionalOnly", "clients can start it here"),
        ] where value[setting]?.bool == true {
            findings.append(
                ImportFinding(.warning, at: place.appending(setting), journey: name, "`\(setting)` has no effect: \(meaning)"))
        }
        for (id, reference) in value["nodes"]?.object ?? [:] where ExportedJourney.ends[id] == nil && id != "startNode" {
            journey.nodes[id] = try node(id, reference, at: place.appending("nodes").appending(id))
        }
        return journey
    }

    /// Returns a node of the tree, with its settings from its own document.
    private mutating func node(
        _ id: String, _ reference: JSONValue, at place: ExportPlace
    ) throws(JourneyImportError) -> ExportedNode {
        let document = tree.nodes[id] ?? documents.node(id, near: place.file)
        var node = try bare(id, reference, document, at: place)
        let connections = reference["connections"]?.object ?? [:]
        guard connections.count <= limits.outcomes else {
            throw JourneyImportError(.tooLarge, place.file, "\(place.pointer) has more than \(limits.outcomes) outcomes")
        }
        for (outcome, target) in connections {
            node.connections[try checked(outcome, "an outcome")] = target.string ?? ""
        }
        let parts = document?.value["nodes"]?.array ?? []
        for (index, part) in parts.enumerated() where node.type == "PageNode" {
            let childPlace = (document?.place ?? place).appending("nodes").appending(String(index))
            let childID = part["_id"]?.string ?? ""
            let childDocument = tree.nodes[childID] ?? documents.node(childID, near: place.file)
            var child = try bare(childID, part, childDocument, at: childPlace)
            if child.settings == nil { child.settings = part["_properties"]?.object.map(Self.settings) }
            node.children.append(child)
        }
        return node
    }

    private mutating func bare(
        _ id: String, _ reference: JSONValue, _ document: ExportDocuments.Located?, at place: ExportPlace
    ) throws(JourneyImportError) -> ExportedNode {
        nodeCount += 1
        guard nodeCount <= limits.nodes else {
            throw JourneyImportError(.tooLarge, place.file, "the journey `\(tree.name)` has more than \(limits.nodes) nodes")
        }
        let type = reference["nodeType"]?.string ?? document?.value["_type"]?["_id"]?.string ?? ""
        let version = document?.value["_type"]?["version"] ?? reference["nodeVersion"] ?? reference["version"]
        return ExportedNode(
            id: try checked(id, "the id of a node"), type: try checked(type, "the type of a node"), version: version?.string,
            displayName: try checked(reference["displayName"]?.string ?? "", "the name of a node"),
            settings: (document?.value.object).map(Self.settings), place: document?.place ?? place)
    }

    /// Returns the settings in the document of a node, without what AM adds for its own use.
    private static func settings(_ members: [String: JSONValue]) -> [String: JSONValue] {
        members.filter { !$0.key.hasPrefix("_") }
    }

    private func checked(_ text: String, _ what: String) throws(JourneyImportError) -> String {
        guard text.count <= limits.nameLength else {
            throw JourneyImportError(
                .tooLarge, place.file, "\(what) in `\(tree.name.shortened)` has more than \(limits.nameLength) characters")
        }
        return text
    }
}
