import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("Exports that are refused")
struct HostileExportTests {
    private static let journey = JSON.text(
        of: ExportFixtures.journey("J", ["1": ("DataStoreDecisionNode", "S", [:], ["true": ExportFixtures.success])]))

    /// The files, the limits, and the code of the error.
    static let hostile: [([String: String], ImportLimits, JourneyImportError.Code)] = [
        (["a.json": "{"], ImportLimits(), .notJSON),
        (["a.json": "{\"a\": 1, \"a\": 2}"], ImportLimits(), .notJSON),
        (["a.json": String(repeating: "[", count: 100_000)], ImportLimits(), .notJSON),
        (
            ["a.json": String(repeating: "[", count: 100) + String(repeating: "]", count: 100)], ImportLimits(), .tooLarge
        ),
        (["a.json": "{\"users\": []}"], ImportLimits(), .noJourney),
        (["a.txt": journey], ImportLimits(), .noJourney),
        (["a.json": journey], ImportLimits(fileSize: 100), .tooLarge),
        (["a.json": journey, "b.json": journey], ImportLimits(totalSize: journey.utf8.count + 1), .tooLarge),
        (["a.json": journey, "b.json": "{}", "c.json": "{}"], ImportLimits(entries: 2), .tooLarge),
        (["1/2/3/a.json": journey], ImportLimits(directoryDepth: 2), .tooLarge),
        (["a.json": journey], ImportLimits(journeys: 0), .tooLarge),
        (["a.json": journey], ImportLimits(nodes: 0), .tooLarge),
        (["a.json": journey], ImportLimits(outcomes: 0), .tooLarge),
        (["a.json": journey], ImportLimits(nameLength: 3), .tooLarge),
    ]

    @Test("An export that is damaged, too large or without a journey is refused with the name of the file", arguments: hostile)
    func refusesJourneyExport(files: [String: String], limits: ImportLimits, code: JourneyImportError.Code) async throws {
        try await ExportFixtures.with(files) { path in
            let error = #expect(throws: JourneyImportError.self) { try JourneyExport(at: path, limits: limits) }
            #expect(error?.code == code && error?.file.hasPrefix(path) == true)
        }
    }

    @Test("A missing file is reported as missing, and a directory in the place of a file is read")
    func reportsMissingFile() async throws {
        try await ExportFixtures.with(["a.json": Self.journey]) { path in
            let missing = #expect(throws: JourneyImportError.self) { try JourneyExport(at: path + "/b.json") }
            #expect(missing?.code == .notFound)
            let (directory, file) = (try JourneyExport(at: path), try JourneyExport(at: path + "/a.json"))
            #expect(directory.journeys.count == 1 && file.journeys.count == 1)
        }
    }

    @Test("Symbolic links, hidden files and named pipes in a directory are not read")
    func skipsSpecialFiles() async throws {
        try await ExportFixtures.with(["a.json": Self.journey, ".b.json": "{"]) { path in
            try FileManager.default.createSymbolicLink(atPath: path + "/c.json", withDestinationPath: "/etc/passwd")
            try FileManager.default.createSymbolicLink(atPath: path + "/loop", withDestinationPath: path)
            let made = mkfifo(path + "/d.json", 0o600)
            #expect(made == 0)
            let export = try JourneyExport(at: path)
            #expect(export.journeys.count == 1)
        }
    }

    @Test(
        "Values of unexpected types are ignored", arguments: ["nodes", "connections", "tree", "scripts", "_type", "displayName"])
    func ignoresUnexpectedTypes(member: String) async throws {
        for replacement in ["5", "[]", "\"x\"", "null", "{\"x\": 5}"] {
            let text = Self.journey.replacing("\"\(member)\":", with: "\"\(member)\": \(replacement), \"was \(member)\":")
            var documents = ExportDocuments()
            documents.read(try JSON.value(of: text.utf8), at: ExportPlace(file: "a.json"))
            let imported = JourneyImport(try JourneyExport(documents))
            if !imported.summaries.isEmpty { _ = try ServerConfiguration(yaml: imported.yaml) }
        }
    }
}
