import Foundation
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The page about imported journeys (docs/reference/journey-import.md)")
struct JourneyImportDocumentationTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/reference/journey-import.md")
    private static let begin =
        "<!-- Generated: SIGNET_WRITE_DOCS=1 make test TEST_ARGS='--filter JourneyImportDocumentation' -->\n"
    private static let end = "<!-- End of the node types. -->\n"
    /// The types that AM does not have.
    private static let own: Set = [StubNode.type.name, PassThroughNode.type.name]

    @Test("The page about imported journeys lists every node type that runs")
    func listsNodeTypes() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.firstRange(of: Self.begin)).upperBound
        let stop = try #require(text.firstRange(of: Self.end)).lowerBound
        let rows = NodeType.all.filter { !Self.own.contains($0.name) }.map { "| \($0.title) | `\($0.name)` |\n" }
        let expected = "\n| node | type |\n| --- | --- |\n" + rows.joined() + "\n"
        if ProcessInfo.processInfo.environment["SIGNET_WRITE_DOCS"] != nil {
            try (text[..<start] + expected + text[stop...]).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(text[start..<stop] == expected)
    }

    @Test("The types that the page calls stubs have no node here")
    func listsStubs() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let rest = text[try #require(text.firstRange(of: Self.end)).upperBound...]
        let words = rest.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init)
        let named = words.filter { $0.hasSuffix("Node") || $0.hasPrefix("PingOne") && $0 != "PingOne" }
        #expect(named.count > 8)
        #expect(Set(named).intersection(NodeType.all.map(\.name)) == [])
    }
}
