import SignetCore

/// A journey as AM exports it, independent of the form of the export.
struct ExportedJourney: Sendable {
    var name: String
    /// The id of the first node.
    var entry: String
    var description: String?
    /// False for a journey that AM does not run.
    var isEnabled = true
    /// True when only other journeys can run it.
    var isInner = false
    /// The nodes by id, without the ends of the journey.
    var nodes: [String: ExportedNode] = [:]
    var place: ExportPlace

    /// The ids of AM's nodes that end a journey; each is in every journey.
    static let ends = [
        "70e691a5-1e33-4ac3-a356-e7b6d60d92e0": "success", "e301438c-0bd0-429c-ab0c-66126501069a": "failure",
    ]
}

/// A node as AM exports it.
struct ExportedNode: Sendable {
    var id: String
    /// The name of its type in AM, for example `PageNode`.
    var type: String
    /// The version of the type, for example `1.0`; nil when the export has none.
    var version: String?
    /// The name in AM's editor, which can be empty and need not be unique.
    var displayName: String
    /// The settings, without those that begin with an underscore; nil when the export has none for the node.
    var settings: [String: JSONValue]?
    /// The ids of the next nodes, by outcome.
    var connections: [String: String] = [:]
    /// The nodes on a page.
    var children: [ExportedNode] = []
    var place: ExportPlace
}

/// A script as AM exports it.
struct ExportedScript: Sendable {
    var name: String
    /// `JAVASCRIPT` or `GROOVY`.
    var language: String
    var source: ScriptSource
    var place: ExportPlace
}
