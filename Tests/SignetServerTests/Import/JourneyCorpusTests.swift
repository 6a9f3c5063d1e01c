import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Imports exports that are not in the repository.
///
/// `SIGNET_JOURNEY_CORPUS` names a directory with them, for example a copy of the test files of frodo. Each directory with JSON
/// files is one export. The results are in the file `signet-report.txt` of the directory.
@Suite("A corpus of exports")
struct JourneyCorpusTests {
    private static let variable = "SIGNET_JOURNEY_CORPUS"

    static var root: String? { ProcessInfo.processInfo.environment[variable] }

    /// The results for distinct journeys.
    private struct Results: Sendable {
        var isRegular: [String: Bool] = [:]
        var lines: [String] = []
    }

    @Test(
        "Each file of the corpus is read, and the distinct journeys that run to their end are counted", .enabled(if: root != nil))
    func runsCorpus() async throws {
        let root = try #require(Self.root)
        let results = Mutex(Results())
        var read = 0
        var refused: [String] = []
        for directory in Self.directories(of: root) {
            let imported: JourneyImport
            do throws(JourneyImportError) {
                imported = try JourneyImport(at: directory)
            } catch {
                guard error.code != .noJourney else { continue }
                refused.append("\(error)")
                continue
            }
            read += 1
            try await Self.run(imported, results)
        }
        #expect(refused == [])
        let found = results.withLock { $0 }
        let good = found.isRegular.values.count { $0 }
        let summary =
            "\(read) exports read, \(refused.count) refused; \(good) of \(found.isRegular.count) distinct journeys run to their end"
        let text = ([summary] + found.lines.sorted()).joined(separator: "\n")
        try Data(text.utf8).write(to: URL(filePath: root).appending(path: "signet-report.txt"))
    }

    private static func run(_ imported: JourneyImport, _ results: Mutex<Results>) async throws {
        for journey in imported.journeys where !journey.isInner {
            let nodes = journey.nodes.map { "\($0.type) \($0.name) \($0.outcomes)" }.joined(separator: "; ")
            let key = "\(journey.name): \(nodes)"
            let isNew = results.withLock { results in
                defer { results.isRegular[key] = results.isRegular[key] ?? false }
                return results.isRegular[key] == nil
            }
            guard isNew else { continue }
            let run = JourneyRun()
            let name = journey.name
            let end = Mutex(JourneyRun.End.error(0, "not started"))
            try await run.withServer(imported) { server in
                let reached = try await run.end(of: name, at: server)
                end.withLock { $0 = reached }
            }
            let reached = end.withLock { $0 }
            results.withLock { results in
                results.isRegular[key] = reached.isRegular
                results.lines.append("\(name): \(reached.token == nil ? "\(reached)" : "logged in")")
            }
        }
    }

    /// Returns the directories that are one export each: those with JSON files, or that of the realm when the journeys of a
    /// realm are in a directory of their own, beside that of its scripts.
    private static func directories(of root: String) -> [String] {
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        let directories = files.filter { $0.hasSuffix(".json") }.map { file in
            let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
            if directory.hasSuffix("/journey") { return String(directory.dropLast("/journey".count)) }
            return directory.firstRange(of: "/journeys/").map { String(directory[..<$0.lowerBound]) } ?? directory
        }
        return Set(directories).sorted().map { $0.isEmpty ? root : "\(root)/\($0)" }
    }
}
