import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The exports in `Fixtures/exports`, which were written for these tests in the forms that AM's tools have.
enum ExportFixtures {
    /// Returns the path of an export: `aic` has the six journeys that a new PingOne AIC realm has, as frodo exports them,
    /// `amster` has a file for each entity, and `rest` has answers of AM's REST.
    static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/exports/\(name)").path(percentEncoded: false)
    }

    /// The names of AM's nodes that end a journey.
    static let success = "70e691a5-1e33-4ac3-a356-e7b6d60d92e0"
    static let failure = "e301438c-0bd0-429c-ab0c-66126501069a"

    /// Writes files into a new directory and passes its path.
    static func with<R>(_ files: [String: String], _ body: (String) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            for (name, text) in files {
                let url = URL(filePath: directory.file(name))
                try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            return try await body(directory.path)
        }
    }

    /// Returns a journey in the form of frodo.
    /// - Parameters:
    ///   - name: The name of the journey.
    ///   - nodes: The nodes by id: the type, the name, the settings, and the targets by outcome. The first one is the entry.
    ///   - scripts: The sources of scripts by id.
    ///   - members: Further members of the tree.
    /// - Returns: The document.
    static func journey(
        _ name: String,
        _ nodes: KeyValuePairs<String, (type: String, name: String, settings: [String: JSONValue], targets: [String: String])>,
        scripts: [String: String] = [:], members: [String: JSONValue] = [:]
    ) -> JSONValue {
        let references = nodes.map { id, node in
            (
                id,
                JSONValue.object([
                    "nodeType": .string(node.type), "displayName": .string(node.name),
                    "connections": .object(node.targets.mapValues { .string($0) }),
                ])
            )
        }
        let documents = nodes.map { id, node in
            let type = JSONValue.object(["_id": .string(node.type), "collection": .bool(true)])
            return (id, JSONValue.object(node.settings.merging(["_id": .string(id), "_type": type]) { $1 }))
        }
        let tree: [String: JSONValue] = [
            "_id": .string(name), "entryNodeId": .string(nodes.first?.key ?? ""), "enabled": .bool(true),
            "nodes": .object(Dictionary(uniqueKeysWithValues: references)),
        ]
        let sources = scripts.map { id, source in
            let text = JSONValue.string(Base64.encode(Array(source.utf8), as: .standard))
            return (
                id,
                JSONValue.object(["_id": .string(id), "name": .string("Script \(id)"), "language": "JAVASCRIPT", "script": text])
            )
        }
        return .object([
            "trees": .object([
                name: .object([
                    "tree": .object(tree.merging(members) { $1 }),
                    "nodes": .object(Dictionary(uniqueKeysWithValues: documents)),
                    "innerNodes": .object([:]), "scripts": .object(Dictionary(uniqueKeysWithValues: sources)),
                ])
            ])
        ])
    }

    /// Reads a journey from memory.
    static func imported(_ documents: JSONValue..., stubs: JourneyImport.Stubs = .fail) throws -> JourneyImport {
        var read = ExportDocuments()
        for (index, document) in documents.enumerated() { read.read(document, at: ExportPlace(file: "\(index).json")) }
        return JourneyImport(try JourneyExport(read), stubs: stubs)
    }
}
