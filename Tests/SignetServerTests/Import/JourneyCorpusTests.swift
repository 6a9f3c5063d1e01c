import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// Imports exports that are not in the repository, and runs their journeys.
///
/// `SIGNET_JOURNEY_CORPUS` names a directory with them; docs/reference/journey-import.md says how to fill it with the test files of
/// frodo. Each directory with JSON files is one export. The results are in the file `signet-report.txt` of the directory.
@Suite("A corpus of exports")
struct JourneyCorpusTests {
    private static let variable = "SIGNET_JOURNEY_CORPUS"

    static var root: String? { ProcessInfo.processInfo.environment[variable] }

    @Test(
        "Each file of the corpus is read, and the distinct journeys that run to their end are counted", .enabled(if: root != nil))
    func runsCorpus() async throws {
        let root = try #require(Self.root)
        var corpus = JourneyCorpus()
        for directory in JourneyCorpus.directories(of: root) { corpus.read(directory) }
        #expect(corpus.refused == [])
        try await corpus.run()
        let report = corpus.report
        try Data(report.utf8).write(to: URL(filePath: root).appending(path: "signet-report.txt"))
        // The number of distinct journeys in the files of frodo 4.7.2.
        let isFrodo = corpus.journeys.count == 51
        let ended = corpus.journeys.count { $0.isRegular }
        #expect(!isFrodo || ended >= 42, "\(report)")
    }
}

/// The journeys of a directory with exports.
struct JourneyCorpus {
    /// A journey by its name and by the types of its nodes, with those on pages.
    struct Distinct {
        let name: String
        let types: Set<String>
        /// The exports that have the journey.
        var exports: [JourneyExport] = []
        /// The best end that it has reached in one of its exports.
        var end = JourneyRun.End.error(0, "not started")
        /// The best end when the client chooses the outcomes of the nodes that cannot run; nil when it has ended without that.
        var chosenEnd: JourneyRun.End?

        var isRegular: Bool { end.isRegular }
    }

    private(set) var refused: [String] = []
    private(set) var journeys: [Distinct] = []
    private var exportCount = 0
    private var files: Set<String> = []

    /// The journey that starts a session, and the name before that of a journey which only others can run.
    private static let session = "Corpus session"
    private static let outer = "Corpus "

    // MARK: Reading

    /// Returns the directories that are one export each: those with JSON files, or that of the realm when the journeys of a
    /// realm are in a directory of their own, beside that of its scripts.
    static func directories(of root: String) -> [String] {
        let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        let directories = files.filter { $0.hasSuffix(".json") }.map { file in
            let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
            if let realm = directory.range(of: "/journey/") ?? directory.range(of: "/journeys/") {
                return String(directory[..<realm.lowerBound])
            }
            return directory.hasSuffix("/journey") || directory.hasSuffix("/script")
                ? String(directory[..<(directory.lastIndex(of: "/") ?? directory.endIndex)]) : directory
        }
        return Set(directories).sorted().map { $0.isEmpty ? root : "\(root)/\($0)" }
    }

    /// Reads an export, and counts the journeys in the files that end in `.journey.json`, as frodo names them.
    mutating func read(_ directory: String) {
        let export: JourneyExport
        do throws(JourneyImportError) {
            export = try JourneyExport(at: directory)
        } catch {
            if error.code != .noJourney { refused.append("\(error)") }
            return
        }
        exportCount += 1
        for journey in export.journeys where journey.place.file.hasSuffix(".journey.json") && !journey.nodes.isEmpty {
            files.insert(journey.place.file)
            let types = Set(journey.nodes.values.flatMap { [$0.type] + $0.children.map(\.type) })
            let index = journeys.firstIndex { $0.name == journey.name && $0.types == types }
            if index == nil { journeys.append(Distinct(name: journey.name, types: types)) }
            journeys[index ?? journeys.count - 1].exports.append(export)
        }
    }

    // MARK: Running

    /// Runs each journey, and those that reach a node that cannot run once more with outcomes that the client chooses.
    mutating func run() async throws {
        for index in journeys.indices {
            journeys[index].end = try await Self.bestEnd(of: journeys[index], stubs: .fail)
            if journeys[index].isRegular { continue }
            journeys[index].chosenEnd = try await Self.bestEnd(of: journeys[index], stubs: .ask)
        }
    }

    /// Runs a journey in one of its exports after the other, until it logs a user in.
    private static func bestEnd(of journey: Distinct, stubs: JourneyImport.Stubs) async throws -> JourneyRun.End {
        var best = JourneyRun.End.error(0, "not started")
        for export in journey.exports where best.token == nil {
            let end = try await end(of: journey.name, in: JourneyImport(export, stubs: stubs))
            if end.rank > best.rank { best = end }
        }
        return best
    }

    /// Runs a journey without a session, and after a failure with one.
    private static func end(of name: String, in export: JourneyImport) async throws -> JourneyRun.End {
        let configuration = try configuration(export)
        let isInner = export.journeys.first { $0.name == name }?.isInner == true
        let started = isInner ? outer + name : name
        let first = try await end(of: started, configuration, withSession: false)
        guard first == .failed else { return first }
        let second = try await end(of: started, configuration, withSession: true)
        return second.rank > first.rank ? second : first
    }

    private static func end(
        of name: String, _ configuration: ServerConfiguration, withSession: Bool
    ) async throws -> JourneyRun.End {
        let run = JourneyRun(attributes: attributes)
        let end = Mutex(JourneyRun.End.error(0, "not started"))
        try await run.withServer(configuration) { server in
            let token = withSession ? try await run.end(of: session, at: server).token : nil
            let reached = try await run.end(of: name, at: server, token: token)
            end.withLock { $0 = reached }
        }
        return end.withLock { $0 }
    }

    /// Returns the configuration with the journeys of an export, with one that starts a session, and with one around each that
    /// only others can run.
    private static func configuration(_ export: JourneyImport) throws -> ServerConfiguration {
        let outers = export.journeys.filter(\.isInner).map { journey in
            let (name, tree) = (JSON.text(of: .string(outer + journey.name)), JSON.text(of: .string(journey.name)))
            return """
                  \(name):
                    nodes:
                      run: {type: InnerTreeEvaluatorNode, tree: \(tree), outcomes: {true: success, false: failure}}
                """
        }
        let yaml = """
            journeys:
              \(session):
                nodes:
                  name: {type: UsernameCollectorNode, outcomes: {outcome: password}}
                  password: {type: PasswordCollectorNode, outcomes: {outcome: check}}
                  check: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}

            """
        return try ServerConfiguration(
            yaml: yaml + outers.joined(separator: "\n"), environment: [:], usesTLS: false, importing: export)
    }

    /// The attributes of the user that the script of a journey reads: the results of an identity check.
    private static let attributes: [String: JSONValue] = {
        let names = [
            "Document Structure", "Document Data Comparison", "Human Face Presence", "Field Validation", "ID Document Blacklist",
            "Barcode Analysis",
        ]
        let checks = names.map { JSONValue.object(["name": .string($0), "judgement": "Authentic"]) }
        let matches = ["given_name", "family_name"].map { JSONValue.object(["identifier": .string($0), "match": "High"]) }
        func result(_ type: String, _ data: [String: JSONValue]) -> JSONValue {
            .object(["type": .string(type), "data": .object(data)])
        }
        let results: [JSONValue] = [
            result("DOCUMENT_AUTHENTICATION", ["mitekVerifications": .array(checks)]),
            result("FACIAL_COMPARISON", ["similarity": .integer(91)]), result("LIVENESS", ["probability": .number(0.9)]),
            result("BIOGRAPHIC_MATCH", ["biographic_match_results": .array(matches)]),
        ]
        let known: JSONValue = .object([
            "custom_verifiedFirstName": "Mira", "custom_verifiedLastName": "Harbor", "custom_verifyStatus": "Success",
        ])
        return [
            "fr-attr-istr1": "1", "fr-attr-str1": "c2VsZmll", "fr-attr-str2": "cG9ydHJhaXQ=",
            "fr-attr-str3": .string(JSON.text(of: .object(["_embedded": .object(["metaData": .array(results)])]))),
            "fr-idm-custom-attrs": .string(JSON.text(of: known)),
        ]
    }()

    // MARK: Report

    /// The numbers, and a line for each distinct journey.
    var report: String {
        let loggedIn = journeys.count { $0.end.token != nil }
        let failed = journeys.count { $0.end == .failed }
        let chosen = journeys.count { $0.chosenEnd?.isRegular == true }
        let summary =
            "\(files.count) journey files of \(exportCount) exports read, \(refused.count) exports refused; "
            + "\(loggedIn + failed) of \(journeys.count) distinct journeys run to their end: \(loggedIn) with a login, "
            + "\(failed) with a failed login; "
            + "\(chosen) more with outcomes that the client chooses"
        let lines = journeys.map { journey in
            let end = journey.end.token == nil ? "\(journey.end)" : "logged in"
            let chosen = journey.chosenEnd.map { ", with chosen outcomes: \($0.token == nil ? "\($0)" : "logged in")" } ?? ""
            return "\(journey.name) (\(journey.types.count) types of nodes, \(journey.exports.count) exports): \(end)\(chosen)"
        }
        return ([summary] + lines.sorted()).joined(separator: "\n") + "\n"
    }
}

extension JourneyRun.End {
    /// The order of ends: a login is the best.
    fileprivate var rank: Int {
        switch self {
        case .error(0, _): 0
        case .error: 1
        case .stub: 2
        case .failed: 3
        case .loggedIn: 4
        }
    }
}
