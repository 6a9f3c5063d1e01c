import SignetCore

/// The journeys, scripts and names of email templates and themes in an export.
///
/// It understands the files of frodo (one journey or many in a file, also of a whole realm), of Amster (one tree or node in a
/// file, with `metadata` and `data`), and the JSON of AM's REST (`realm-config/authentication/authenticationtrees`), in any
/// mixture.
struct JourneyExport: Sendable {
    private(set) var journeys: [ExportedJourney] = []
    /// The scripts by id.
    private(set) var scripts: [String: ExportedScript] = [:]
    /// The names of the email templates with their places.
    private(set) var emailTemplates: [String: ExportPlace] = [:]
    /// The names of the themes with their places.
    private(set) var themes: [String: ExportPlace] = [:]
    private(set) var findings: [ImportFinding] = []

    /// Reads a file, or all files in a directory and in the directories below it.
    /// - Parameters:
    ///   - path: The path of the file or directory.
    ///   - limits: The limits.
    /// - Throws: ``JourneyImportError`` when a file cannot be read, exceeds a limit, or when no file has a journey.
    init(at path: String, limits: ImportLimits = ImportLimits()) throws(JourneyImportError) {
        var documents = ExportDocuments()
        try ExportFiles.each(at: path, limits) { (file, json) throws(JourneyImportError) in
            documents.read(json, at: ExportPlace(file: file))
            guard documents.trees.count <= limits.journeys else {
                throw JourneyImportError(.tooLarge, file, "with this file there are more than \(limits.journeys) journeys")
            }
        }
        guard !documents.trees.isEmpty else {
            throw JourneyImportError(
                .noJourney, path,
                "there is no journey of AM: name a file of frodo or Amster, an answer of AM's REST, or a directory with such files"
            )
        }
        try self.init(documents, root: ExportFiles.root(of: path), limits)
    }

    /// Reads documents that are in memory already.
    /// - Parameters:
    ///   - documents: The documents.
    ///   - root: The directory in which scripts can be files of their own; nil for none.
    ///   - limits: The limits.
    /// - Throws: ``JourneyImportError`` when one of them exceeds a limit.
    init(
        _ documents: ExportDocuments, root: String? = nil, _ limits: ImportLimits = ImportLimits()
    ) throws(JourneyImportError) {
        for tree in documents.trees { try add(tree, documents, limits) }
        let used = Set(journeys.flatMap { $0.nodes.values.flatMap(\.scripts) })
        for (id, values) in documents.scripts where used.contains(id) {
            let found = values.map { ExportedScript($0.value, at: $0.place, root: root, limits) }
            scripts[id] = found.first { $0.hasSource } ?? found.first
        }
        emailTemplates = documents.emailTemplates
        themes = documents.themes
        journeys.sort { $0.name < $1.name }
    }

    private mutating func add(
        _ tree: ExportDocuments.Tree, _ documents: ExportDocuments, _ limits: ImportLimits
    ) throws(JourneyImportError) {
        var reader = ExportedJourneyReader(tree, documents, limits)
        let journey = try reader.journey()
        guard let other = journeys.first(where: { $0.name == journey.name }) else {
            journeys.append(journey)
            findings += reader.findings
            return
        }
        guard !journey.isSame(as: other) else { return }
        findings.append(
            ImportFinding(
                .warning, at: journey.place, journey: journey.name,
                "left out: \(other.place.file) has another journey of this name. Import one realm at a time"))
    }
}

extension ExportedJourney {
    /// Returns true when two exports have the same journey, regardless of their places.
    fileprivate func isSame(as other: ExportedJourney) -> Bool {
        entry == other.entry && isEnabled == other.isEnabled && isInner == other.isInner && nodes.count == other.nodes.count
            && nodes.allSatisfy { id, node in other.nodes[id].map(node.isSame) ?? false }
    }
}

extension ExportedNode {
    fileprivate func isSame(as other: ExportedNode) -> Bool {
        id == other.id && type == other.type && displayName == other.displayName && settings == other.settings
            && connections == other.connections && children.count == other.children.count
            && zip(children, other.children).allSatisfy { $0.isSame(as: $1) }
    }
}

extension ExportedNode {
    /// The ids of the scripts of the node and of the nodes on it.
    fileprivate var scripts: [String] { [settings?["script"]?.string].compactMap(\.self) + children.flatMap(\.scripts) }
}

extension ExportedScript {
    /// Reads a script: its source as base64, as an array of lines, as text, as a JSON string in text, or as the name of a file,
    /// as the versions of frodo and `fr-config-manager` write it.
    fileprivate init(_ value: JSONValue, at place: ExportPlace, root: String?, _ limits: ImportLimits) {
        self.init(
            name: value["name"]?.string ?? "", language: value["language"]?.string ?? "JAVASCRIPT",
            source: Self.source(value["script"], place, root, limits), place: place)
    }

    fileprivate var hasSource: Bool { (try? source.get()) != nil }

    private static func source(
        _ value: JSONValue?, _ place: ExportPlace, _ root: String?, _ limits: ImportLimits
    ) -> ScriptSource {
        if let file = value?["file"]?.string {
            return ExportFiles.script("../" + file, besides: place.file, root: root, limits)
        }
        if let text = value?.string, text.hasPrefix("file://") {
            return ExportFiles.script(String(text.dropFirst("file://".count)), besides: place.file, root: root, limits)
        }
        guard let value, let source = source(value) else { return .failure(.absent) }
        return source.utf8.count <= limits.scriptSize ? .success(source) : .failure(.tooLarge(limits.scriptSize))
    }

    private static func source(_ value: JSONValue) -> String? {
        if let lines = value.array { return lines.map { $0.string ?? "" }.joined(separator: "\n") }
        guard let text = value.string else { return nil }
        if text.hasPrefix("\""), let inner = try? JSON.value(of: text.utf8).string { return inner }
        if let bytes = try? Base64.decode(text), let source = String(validating: bytes, as: UTF8.self) { return source }
        return text
    }
}
