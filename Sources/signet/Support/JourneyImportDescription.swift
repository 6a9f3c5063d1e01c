import SignetCore
import SignetServer

/// The report of an import of journeys, as text for the user or as JSON.
struct JourneyImportDescription {
    private let imported: JourneyImport

    init(_ imported: JourneyImport) { self.imported = imported }

    /// The lines at the start of a server: what can make a login different from AM's.
    /// - Parameter path: The path of the export, for the command that prints the rest.
    /// - Returns: The summary, the stubs and warnings, and the number of notes.
    func startLines(_ path: String) -> [TerminalText] {
        let shown = imported.findings.filter { $0.severity > .note }
        let hidden = imported.findings.count - shown.count
        let rest: TerminalText = "\(hidden.of("note")): signet journeys convert \(ShellWord.quoted(path))"
        return [summary] + shown.map { TerminalText($0.description) } + (hidden > 0 ? [rest] : [])
    }

    /// All lines of the report.
    var lines: [TerminalText] {
        imported.summaries.map(\.line) + imported.findings.map { TerminalText($0.description) } + [summary]
    }

    private var summary: TerminalText {
        let stubs = imported.summaries.count { !$0.stubs.isEmpty }
        let end: TerminalText = stubs == 0 ? "all nodes can run" : "\(stubs.of("journey")) with nodes that cannot run"
        return "\(imported.summaries.count.of("journey")) imported: \(end)"
    }

    /// The report as JSON.
    var json: JSONValue {
        .object([
            "journeys": .array(imported.summaries.map(\.json)), "findings": .array(imported.findings.map(\.json)),
        ])
    }
}

extension JourneyImport.Summary {
    fileprivate var line: TerminalText {
        let nodes: TerminalText = "\(name): \(nodeCount.of("node"))"
        let inner: TerminalText = isInner ? ", only inside of other journeys" : ""
        let end: TerminalText = stubs.isEmpty ? "" : ", cannot run: \(stubs.joined(separator: ", "))"
        return nodes + inner + end
    }

    fileprivate var json: JSONValue {
        .object([
            "name": .string(name), "file": .string(file), "nodes": .integer(Int64(nodeCount)), "innerTreeOnly": .bool(isInner),
            "stubs": .array(stubs.map { .string($0) }),
        ])
    }
}

extension ImportFinding {
    fileprivate var json: JSONValue {
        JSONText.object([
            "severity": .string(severity.rawValue), "file": .string(file), "pointer": .string(pointer),
            "journey": .string(journey), "node": .string(node), "text": .string(text),
        ])
    }
}
