import Foundation
import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

@Suite("docs/reference/configuration.md")
struct ConfigurationDocumentationTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/reference/configuration.md")
    private static let begin =
        "<!-- The nodes, as the code has them: SIGNET_WRITE_DOCS=1 make test TEST_ARGS='--filter ConfigurationDocumentation' -->\n"
    private static let end = "<!-- End of the nodes. -->\n"

    /// A node type as the page describes it: its properties with what they are otherwise, and its outcomes.
    private func section(_ type: NodeType) -> String {
        var reader = SectionReader(nil, subject: nil)
        let kind: any Node =
            switch type.read(&reader, NodeContext()) {
            case .node(let kind), .incomplete(let kind): kind
            case .collectors(let collectors): CollectorNode(type.name, collectors)
            }
        let properties = reader.settings.map { "| `\($0.name)` | \($0.kind) | \($0.standard ?? "") |\n" }.joined()
        let table = properties.isEmpty ? "" : "| property | what it is | otherwise |\n| --- | --- | --- |\n\(properties)\n"
        let outcomes = kind.outcomes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let named = [
            "PageNode": "those of its last node", "ChoiceCollectorNode": "each of the `choices`",
            "ScriptedDecisionNode": "those of the `table`, and the `default`",
        ]
        let spare = kind.ignoredOutcomes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let ported = spare.isEmpty ? "" : " A journey from AM can keep \(spare)."
        let isCollector = NodeType.collectors.contains { $0.name == type.name }
        let page = isCollector ? " Can be on a page." : kind.interaction == .embeddable ? " Can be the last on a page." : ""
        let last =
            kind is SuccessNode || kind is FailureNode
            ? "Outcomes: none." : "Outcomes: \(named[type.name] ?? outcomes).\(ported)\(page)"
        return "### \(type.title): `\(type.name)`\n\n\(type.about)\n\n\(table)\(last)\n\n"
    }

    @Test("It has every node, with its properties, their standards and its outcomes as the code has them")
    func nodes() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.firstRange(of: Self.begin)).upperBound
        let stop = try #require(text.firstRange(of: Self.end)).lowerBound
        let expected = "\n" + NodeType.all.map(section).joined()
        if ProcessInfo.processInfo.environment["SIGNET_WRITE_DOCS"] != nil {
            try (text[..<start] + expected + text[stop...]).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(text[start..<stop] == expected)
    }

    @Test("Every example in it can be read")
    func examples() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let examples = text.split(separator: "```yaml\n").dropFirst().map {
            String($0.prefix { _ in true }).components(separatedBy: "```")[0]
        }
        #expect(examples.count >= 3)
        for example in examples {
            do {
                _ = try ServerConfiguration(yaml: example)
            } catch {
                Issue.record("\(error)\n\(example)")
            }
        }
    }

    @Test("Its first example does what the page says: the step-up that it tells of")
    func flow() async throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let example = text.components(separatedBy: "```yaml\n")[1].components(separatedBy: "```")[0]
        try await TestServer.run(try ServerConfiguration(yaml: example)) { server in
            // A guest gets in by the password alone, staff are asked which second factor they want.
            #expect(try await server.logIn("Login", name: "guest", password: "changeit").isLoggedIn)
            var step = try await server.logIn("Login", name: "mira", password: "correct horse").step
            #expect(step.callbacks[0].output("choices") == .array(["code", "push"]))
            step.fill("ChoiceCallback", .integer(0))
            let register = try await server.next(step).step
            let settings = try #require(EnrollmentURI.parse(try register.registrationURI).oath)
            var code = try await server.next(register).step
            code.fill("NameCallback", .string(settings.code(at: server.clock.now).digits))
            let done = try await server.next(code)
            #expect(done.isLoggedIn)
            let headers = ["iPlanetDirectoryPro": try #require(done.json["tokenId"]?.string), "Content-Type": "application/json"]
            let session = try await server.send(
                .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}")
            #expect(session.json["properties"]?["level"] == "2")
        }
    }
}
